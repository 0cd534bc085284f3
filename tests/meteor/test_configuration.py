"""Settings by file, environment and flag: which wins, and what is said of those that are wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from meteor.cli import COMMANDS, commands, exit_codes, main
from meteor.cli.configuration import SETTINGS, Setting, variable_of


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine's own configuration."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    for name in [name for name in os.environ if name.startswith("METEOR_")]:
        monkeypatch.delenv(name)


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, tuple[Any, str]]:
    """Setting -> value and source, as `meteor config --json` says."""
    assert main([*arguments, "--json"]) == exit_codes.DONE
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {row["setting"]: (row["value"], row["from"]) for row in rows}


def every_setting() -> Iterator[Setting]:
    context = click.Context(commands)
    for name in COMMANDS:
        command = commands.get_command(context, name)
        assert command is not None
        nested = list(command.commands.values()) if isinstance(command, click.Group) else []
        for one in [command, *nested]:
            yield from (option for option in one.params if isinstance(option, Setting))


def test_every_key_of_the_file_is_an_option_of_a_command() -> None:
    known = {(section, key) for section, keys in SETTINGS.items() for key in keys}
    assert {(option.section, option.key) for option in every_setting()} == known


def test_file_environment_and_flag_in_rising_precedence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = ("config", "peer")
    assert shown(capsys, *config)["listen"] == ("127.0.0.1:7400", "default")
    (tmp_path / "meteor.toml").write_text('[peer]\nlisten = "127.0.0.1:1"\n')
    assert shown(capsys, *config)["listen"] == ("127.0.0.1:1", "meteor.toml")
    monkeypatch.setenv("METEOR_LISTEN", "127.0.0.1:2")
    assert shown(capsys, *config)["listen"] == ("127.0.0.1:2", "METEOR_LISTEN")
    flag = shown(capsys, *config, "--listen", "127.0.0.1:3")
    assert flag["listen"] == ("127.0.0.1:3", "flag")


def test_a_command_runs_with_what_the_file_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "meteor.toml").write_text('[client]\npeer = ["127.0.0.1:1"]\ntimeout = 1.5\n')
    assert main(["get", "type=a"]) == exit_codes.UNREACHABLE
    assert "127.0.0.1:1:" in capsys.readouterr().err


def test_paths_of_a_file_are_relative_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "etc"
    directory.mkdir()
    (directory / "m.toml").write_text('[tls]\nca = "ca.pem"\n[peer]\ndata_dir = "/abs"\n')
    values = shown(capsys, "--config", str(directory / "m.toml"), "config", "peer")
    assert values["tls.ca"][0] == str(directory / "ca.pem")
    assert values["data_dir"][0] == "/abs"


def test_the_users_own_file_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "home" / "meteor" / "meteor.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[peer]\ncopies = 2\n")
    assert shown(capsys, "config", "peer")["copies"] == (2, str(path))


@pytest.mark.parametrize("join", ["a:1,b:2", "a:1 b:2", " a:1 , b:2 "])
def test_lists_come_with_commas_or_blanks(
    join: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("METEOR_JOIN", join)
    assert shown(capsys, "config", "peer")["join"] == (["a:1", "b:2"], "METEOR_JOIN")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[pere]\n", "did you mean 'peer'"),
        ('[peer]\nlisen = "a:1"\n', "did you mean 'listen'"),
        ("peer = 1\n", "write [peer]"),
        ("[peer\n", "cannot be read"),
        ("[peer]\nlisten = ['a:1']\n", "one value"),
        ("[client]\npeer = 5\n", "a list"),
        ("[peer]\ncopies = 9\n", "9 is not in the range"),
        ("[peer]\nlisten = 5\n", "HOST:PORT"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    tmp_path: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "meteor.toml").write_text(text)
    assert main(["config"]) == exit_codes.BAD_INPUT
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("source", ["file", "environment", "flag"])
def test_a_wrong_value_is_said_to_stand_where_it_does(
    tmp_path: Path,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if source == "file":
        (tmp_path / "meteor.toml").write_text("[peer]\ncopies = 9\n")
    elif source == "environment":
        monkeypatch.setenv("METEOR_COPIES", "9")
    flags = ["--copies", "9"] if source == "flag" else []
    assert main(["config", "peer", *flags]) == exit_codes.BAD_INPUT
    place = {"file": "[peer] copies in", "environment": "METEOR_COPIES", "flag": "'--copies'"}
    errors = " ".join(capsys.readouterr().err.split())
    assert f"Invalid value for {place[source]}" in errors
    assert [other for other in place.values() if other in errors] == [place[source]]


def test_unknown_flags_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "peer", "--lisen", "a:1"]) == exit_codes.BAD_INPUT
    assert "--listen" in capsys.readouterr().err


def test_people_get_a_table_without_colours_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config"]) == exit_codes.DONE
    out = capsys.readouterr().out
    assert "[peer]" in out
    assert "[client]" in out
    assert "\x1b" not in out


def test_variables_are_named_alike() -> None:
    assert variable_of("peer", "data_dir") == "METEOR_DATA_DIR"
    assert variable_of("tls", "ca") == "METEOR_TLS_CA"
