"""An operator forgets a lost arc: only what is lost, at all its copies, counted and logged."""

from __future__ import annotations

import io
import logging
from pathlib import Path
from typing import Any

import pytest

import meteor
from chord import Contact
from meteor import Client, Incomplete, MeteorError, Refused
from meteor.cli import exit_codes, main
from sim.overlay import Overlay
from squid import merge
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    crash,
    primary_of,
    seeds,
)

ALL = "type=*"


def lost_of(overlay: Overlay) -> tuple[tuple[int, int], ...]:
    return merge(*(peer.core.views.lost() for peer in overlay.living))


def lose_an_arc(overlay: Overlay) -> Client:
    """A primary and both its copies vanish at once; returns a client of the rest."""
    client = overlay.client()
    stored = overlay.run(client.store("type=a temperature=1 humidity=1", b"x")).id
    for n in range(20):
        overlay.run(client.store(f"type={chr(97 + n)} temperature={n} humidity={n}", b"x"))
    assert_whole_within(overlay)
    overlay.run_for(2.0)  # else a peer that is just becoming a copy may survive with everything
    crash(primary_of(overlay, stored), *copies_of(overlay, stored))
    overlay.run_for(10)
    assert lost_of(overlay), [peer.core.views.own for peer in overlay.living]
    return overlay.client(peer=0)


@pytest.mark.parametrize("seed", seeds(2, 12))
def test_a_forgotten_arc_counts_as_complete_at_all_its_copies(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    overlay = build(seed, 8)
    client = lose_an_arc(overlay)
    lost = lost_of(overlay)
    with pytest.raises(Incomplete) as incomplete:
        overlay.run(client.retrieve(ALL, everywhere=True, timeout=4).all())
    assert merge(incomplete.value.missing) == lost
    picture = overlay.run(client.ring())
    assert merge(*(peer.lost for peer in picture.peers)) == lost
    assert {peer.copies for peer in picture.peers} == {3}
    with caplog.at_level(logging.WARNING, "meteor.forgetting"):
        assert merge(overlay.run(client.forget(*lost))) == lost
    assert all(f"{first}-" in caplog.text for first, _ in lost)
    assert lost_of(overlay) == ()
    assert overlay.run(client.retrieve(ALL, everywhere=True).all()) is not None
    picture = overlay.run(client.ring())
    assert sum(peer.forgotten for peer in picture.peers) >= len(lost)
    assert not any(peer.lost for peer in picture.peers)
    assert_whole_within(overlay)
    assert not any(
        copy.view.lost for peer in overlay.living for copy in peer.core.views.copies.values()
    )


def test_what_has_its_past_is_refused() -> None:
    overlay = build(1, 8)
    client = lose_an_arc(overlay)
    lost = lost_of(overlay)
    outside = lost[0][1] + 1
    for interval in ((outside, outside), (lost[0][0], outside)):
        with pytest.raises(Refused) as refused:
            overlay.run(client.forget(interval))
        assert refused.value.rule == "not lost"
    with pytest.raises(MeteorError, match="outside"):
        overlay.run(client.forget((0, 1 << 200)))


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> Any:
    """The command line over an overlay in which `lost` is lost."""

    class FakeClient:
        lost: tuple[tuple[int, int], ...] = ((5, 9), (10, 20), (40, 50))

        async def __aenter__(self) -> FakeClient:
            return self

        async def __aexit__(self, *_: object) -> None:
            return None

        async def ring(self, *, timeout: float) -> meteor.RingPicture:
            del timeout
            contact = Contact(7, "127.0.0.1:7400")
            peer = meteor.Neighbour(contact, 0, 3, answers=True, lost=self.lost, copies=3)
            return meteor.RingPicture((peer,), closed=True)

        async def forget(self, *lost: tuple[int, int], timeout: float) -> Any:
            del timeout
            return lost

    monkeypatch.setattr(meteor, "connect", lambda *_, **__: FakeClient())

    def call(*arguments: str, text: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        code = main(["ring", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def test_the_ring_shows_what_is_lost_and_how_many_copies_there_are(run: Any) -> None:
    code, out, _ = run()
    assert code == exit_codes.INCOMPLETE
    assert "lost: 5-20\nlost: 40-50\n" in out
    assert '"copies": 3, "lost": [[5, 9], [10, 20], [40, 50]]' in run("--json")[1]


def test_the_operator_is_asked_and_told(run: Any) -> None:
    code, out, err = run("forget", "5-20", text="y\n")
    assert (code, out) == (exit_codes.DONE, "forgotten: 5-20\n")
    assert "given up" in err
    assert "5-20" in err
    assert run("forget", "5-20", text="n\n")[0] == exit_codes.INTERRUPTED
    assert run("forget", "--all", "--yes")[1] == "forgotten: 5-20\nforgotten: 40-50\n"
    assert run("forget", "40-45", "--yes", "--json")[1] == '{"forgotten": [40, 45]}\n'


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["forget", "0-7", "--yes"], exit_codes.REFUSED),
        (["forget", "21-22", "--yes"], exit_codes.REFUSED),
        (["forget", "9-5"], exit_codes.BAD_INPUT),
        (["forget", "five"], exit_codes.BAD_INPUT),
        (["forget"], exit_codes.BAD_INPUT),
        (["forget", "5-9", "--all"], exit_codes.BAD_INPUT),
    ],
)
def test_what_cannot_be_forgotten_has_its_exit_code(
    run: Any, arguments: list[str], code: int
) -> None:
    ended, out, err = run(*arguments)
    assert ended == code
    assert not out
    assert err
