"""What is said to somebody whose input was wrong: which value, which bound, and what to do."""

from __future__ import annotations

import pickle
from pathlib import Path
from unittest.mock import Mock

import pytest

import meteor
from arms.hardened_xml import parse_document
from chord import Contact, DialRefused, LinkClosed
from meteor.admission import place
from meteor.cli import exit_codes, main
from meteor.cli.watch import _outcome
from meteor.client.callbacks import Callbacks
from meteor.rest.parameters import Parameter
from meteor.rest.problems import problem_of
from meteor.wire.greeting import said_of

SPACE = meteor.KeywordSpace("house", [meteor.Word("type"), meteor.Number("level", 0, 100)])


@pytest.mark.parametrize(
    ("parameter", "text", "said"),
    [
        (Parameter("limit", "integer", "", low=1, high=9), "0", "limit=0 .*give at least 1$"),
        (Parameter("limit", "integer", "", low=1, high=9), "10", "limit=10 .*give at most 9$"),
        (
            Parameter("ttl", "number", "", low=0.0, exclusive_low=True),
            "-5",
            "ttl=-5 .*give more than 0$",
        ),
    ],
)
def test_a_bound_that_was_missed_is_said_as_what_it_is(
    parameter: Parameter, text: str, said: str
) -> None:
    with pytest.raises(meteor.LimitExceeded, match=said) as caught:
        parameter.read(text)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    problem = problem_of(caught.value)
    assert problem is not None
    assert problem.type == "urn:meteor:error:LimitExceeded"


@pytest.mark.parametrize(
    ("came", "count", "code", "said"),
    [
        (0, None, exit_codes.NO_MATCH, "meteor: nothing came within 2 s\n"),
        (1, 3, exit_codes.UNREACHABLE, "meteor: only 1 of 3 came within 2 s\n"),
        (3, 3, exit_codes.DONE, ""),
        (1, None, exit_codes.DONE, ""),
    ],
)
def test_a_watch_says_why_it_fails(
    came: int, count: int | None, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _outcome(came, count, 2.0) == code
    assert capsys.readouterr().err == said


def test_a_selector_without_quotes_is_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["get", "type=temp*", "temperature=20..30"]) == exit_codes.BAD_INPUT
    assert "put it in quotes" in capsys.readouterr().err


def test_a_space_file_that_is_none_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "space.toml"
    path.write_text("house")
    assert main(["peer", "--listen", "127.0.0.1:0", "--space", str(path)]) == exit_codes.BAD_INPUT
    assert str(path) in capsys.readouterr().err


def test_a_space_is_no_text() -> None:
    with pytest.raises(TypeError, match=r"give a meteor.KeywordSpace, not str"):
        meteor.LocalOverlay(space="house")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"give a meteor.KeywordSpace, not str"):
        meteor.Peer(space="house")  # type: ignore[arg-type]


def test_a_value_that_is_none_is_named() -> None:
    with pytest.raises(meteor.ProfileError, match=r"prefix\(5\): only words have beginnings"):
        meteor.prefix(5)  # type: ignore[arg-type]
    with pytest.raises(meteor.ProfileError, match="level: nan is not a finite number"):
        meteor.profile({"level": float("nan")})


def test_who_was_tried_is_named_once() -> None:
    there = Contact.at("10.0.0.5:7400")
    assert said_of(there, LinkClosed("10.0.0.5:7400 ended the dial")) == (
        "10.0.0.5:7400: ended the dial"
    )
    assert said_of(there, DialRefused("Greet to 10.0.0.5:7400: nobody listens")) == (
        "10.0.0.5:7400: nobody listens"
    )


def test_a_document_that_is_no_xml_has_no_file() -> None:
    with pytest.raises(meteor.ProfileError) as caught:
        parse_document(b"<message>\n<a></message>")
    assert "<string>" not in str(caught.value)
    assert "line 2" in str(caught.value)


def test_a_misspelt_dimension_is_told_of_where_everybody_would_be_asked() -> None:
    profile = meteor.Profile.parse("levle=3", SPACE)
    with pytest.raises(meteor.Refused, match="did you mean 'level' instead of 'levle'") as caught:
        place(profile, "retrieve", SPACE, everywhere=False)
    assert caught.value.rule == "everywhere"


def test_a_handler_that_fails_shows_where(caplog: pytest.LogCaptureFixture) -> None:
    Callbacks().error(Mock(), ZeroDivisionError("division by zero"))
    (record,) = caplog.records
    assert record.getMessage() == "a handler failed: ZeroDivisionError: division by zero"
    assert record.exc_info is not None


async def test_a_client_is_linked_to_a_peer_that_there_is() -> None:
    async with meteor.LocalOverlay(2, space=SPACE) as overlay:
        with pytest.raises(ValueError, match="peer: 2 is not one of 2 living peers"):
            await overlay.connect(2)
        assert (await overlay.connect(-1)).peer_address == overlay.peers[1].address
