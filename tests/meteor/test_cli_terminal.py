"""What only somebody at a terminal sees: colours, and how far long work has come."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.meteor.test_cli_peer import ROOT, SPACE, WAIT_S, start, stop

pytestmark = [pytest.mark.processes, pytest.mark.sockets]

ESCAPE = "\x1b["


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("space") / "space.toml"
    path.write_text(SPACE)
    peer, said = start("--space", str(path))
    yield said["address"]
    assert stop(peer) == (0, "")


def at_a_terminal(*arguments: str, **environment: str) -> str:
    """What a command shows where both its outputs are a terminal's."""
    master, slave = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "meteor", *arguments], cwd=ROOT, stdin=slave, stdout=slave,
        stderr=slave, env={**kept, "TERM": "xterm", **environment},
    )  # fmt: skip
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    assert process.wait(WAIT_S) == 0, shown
    return shown.decode()


def in_a_pipe(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "meteor", *arguments], cwd=ROOT, capture_output=True, text=True,
        timeout=WAIT_S, check=True,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "command", [pytest.param("doctor", marks=pytest.mark.long), "config"]
)
def test_colours_are_for_terminals_and_for_who_wants_them(address: str, command: str) -> None:
    arguments = [command, *(["--peer", address] if command == "doctor" else [])]
    assert ESCAPE in at_a_terminal(*arguments)
    assert ESCAPE not in at_a_terminal(*arguments, NO_COLOR="1")
    assert ESCAPE not in at_a_terminal(*arguments, "--json")
    assert ESCAPE not in in_a_pipe(*arguments)


def test_long_work_shows_how_far_it_has_come(address: str, tmp_path: Path) -> None:
    """In a pipe there is only what a program wants to read."""
    rows = tmp_path / "rows.csv"
    rows.write_text("temperature\n" + "20\n" * 300)
    arguments = ["post", "type=t", "--csv", str(rows), "--map", "temperature=temperature",
                 "--peer", address]  # fmt: skip
    assert "100%" in at_a_terminal(*arguments)
    assert "%" not in in_a_pipe(*arguments)


def test_a_reader_that_has_seen_enough_is_no_failure(address: str) -> None:
    """`meteor get ... | head -1` found something: it exited with 1, "no match"."""
    in_a_pipe("post", "temperature=1", "--peer", address)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "meteor", "get", "temperature=*", "--everywhere", "--peer", address],
        cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_error_goes_by_its_public_name(address: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "meteor", "post", "temperature=1", "--ttl=1e9", "--peer", address],
        cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("meteor: LimitExceeded: ttl: 1000000000.0 is not between")
