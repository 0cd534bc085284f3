"""The command line without an overlay: help, bad input, exit codes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import metadata

import pytest

import meteor
from meteor.cli import COMMANDS, exit_codes, main
from meteor.cli.options import check_address
from sim.cli import main as sim_main


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_command_has_a_single_quoted_example(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "--help"]) == exit_codes.DONE
    shown = capsys.readouterr().out
    assert f"Example: meteor {verb} " in " ".join(shown.split())
    assert "'" in shown.split("Example:")[1]
    assert "--json" in shown


def test_help_lists_the_verbs_with_their_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == exit_codes.DONE
    shown = capsys.readouterr().out
    for verb, meaning in COMMANDS.items():
        assert verb in shown
        assert meaning.split()[0] in shown


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from meteor.cli import main; main(['--help']); "
        "sys.exit(bool({'numpy', 'aiohttp', 'lxml', 'asyncio'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["unknown"],
        ["get"],
        ["get", "a=1", "--peer", "nowhere"],
        ["get", "a=1", "--peer", "host:99999"],
        ["get", "a=1", "--peer", "host:0"],
        ["get", "a=1", "--timeout", "0"],
        ["post", "a=1", "--ttl", "soon"],
        ["post", "a=1", "--ttl", "nan"],
        ["post", "a=1", "--action", "store"],
        ["delete"],
        ["delete", "a=1", "--id", "x"],
        ["peer"],
        ["peer", "--listen", "0.0.0.0:7400", "--join", "10.0.0.5:7400"],
        ["peer", "--listen", "7400"],
        ["peer", "--space", "no-such-file.toml"],
        ["watch", "a=1", "--count", "0"],
        ["demo", "--peers", "0"],
        ["demo", "--readings", "no-such-file.csv"],
    ],
    ids=" ".join,
)
def test_bad_input_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == exit_codes.BAD_INPUT
    assert capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "said"), [("gte", "did you mean 'get'?"), ("frobnicate", "there are peer, post")]
)
def test_a_misspelt_command_is_told_of(
    word: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word, "type=a"]) == exit_codes.BAD_INPUT
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (meteor.SelectorError("a=", 2, "no value", "give one"), exit_codes.BAD_INPUT),
        (meteor.LimitExceeded("ttl", -1, 0), exit_codes.BAD_INPUT),
        (meteor.Incomplete("some"), exit_codes.INCOMPLETE),
        (meteor.Refused("no"), exit_codes.REFUSED),
        (meteor.SpaceMismatch("bits"), exit_codes.REFUSED),
        (meteor.DataDirLocked("held"), exit_codes.REFUSED),
        (meteor.AddressInUse("taken"), exit_codes.REFUSED),
        (meteor.Timeout("late"), exit_codes.UNREACHABLE),
        (meteor.NotConnected("nobody"), exit_codes.UNREACHABLE),
        (meteor.JoinFailed("nobody"), exit_codes.UNREACHABLE),
        (meteor.Busy("full"), exit_codes.UNREACHABLE),
        (KeyError("a bug"), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_error_has_its_exit_code(error: Exception, code: int | None) -> None:
    assert exit_codes.code_of(error) == code


PUBLIC_ERRORS = sorted(
    {
        one
        for name in meteor.__all__
        if isinstance(one := getattr(meteor, name), type) and issubclass(one, meteor.MeteorError)
    },
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", PUBLIC_ERRORS)
def test_no_error_of_a_new_kind_is_forgotten(kind: type[Exception]) -> None:
    """What is a bad value in Python is bad input here, and so on for each of the built-in kinds."""
    expected = [
        code
        for base, code in (
            (ValueError, exit_codes.BAD_INPUT),
            (PermissionError, exit_codes.REFUSED),
            (ConnectionError, exit_codes.UNREACHABLE),
            (TimeoutError, exit_codes.UNREACHABLE),
        )
        if issubclass(kind, base)
    ]
    if expected:
        assert exit_codes.code_of(kind.__new__(kind)) == expected[0]


@pytest.mark.parametrize("program", [main, sim_main])
def test_the_version_is_that_of_the_package(
    program: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program(["--version"]) == exit_codes.DONE
    assert metadata.version("meteor-rendezvous") in capsys.readouterr().out


@pytest.mark.parametrize("text", ["127.0.0.1:0", "peer.example:7400", "[::1]:65535"])
def test_addresses_are_host_and_port(text: str) -> None:
    assert check_address(text) == text
