"""A disk that takes nothing more, under a peer in a process of its own: a limit of the file's size
stands in for it, which a write meets as it meets a full disk."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import meteor
from meteor.cli import exit_codes, main
from tests.meteor.test_cli_peer import ROOT, SPACE, WAIT_S, start, stop

FILE_BYTES_MAX = 200_000
PAYLOAD = "x" * 20_000
LIMITED = """
import resource, signal, sys
from meteor.cli import main

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as an error of the write, not a signal
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(main(sys.argv[2:]))
"""


def _start_full(data: list[str], bytes_max: int = FILE_BYTES_MAX) -> subprocess.Popen[str]:
    """A peer whose files do not grow beyond this."""
    given = ["--listen", "127.0.0.1:0", "--json", *data]
    return subprocess.Popen(
        [sys.executable, "-c", LIMITED, str(bytes_max), "peer", *given], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.processes
@pytest.mark.sockets
def test_a_full_disk_is_said_in_one_line_and_loses_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "space.toml").write_text(SPACE)
    data = ["--data-dir", str(tmp_path / "data"), "--space", str(tmp_path / "space.toml")]
    peer = _start_full(data)
    assert peer.stdout is not None
    address = json.loads(peer.stdout.readline())["address"]
    acknowledged = 0
    posted = ["post", "type=a", "--data", PAYLOAD, "--timeout", "5", "--peer", address]
    while main(posted) == exit_codes.DONE:
        acknowledged += 1
        assert acknowledged < 2 * FILE_BYTES_MAX / len(PAYLOAD)
    _, errors = peer.communicate(timeout=WAIT_S)
    assert peer.returncode == exit_codes.REFUSED, errors
    (line,) = errors.splitlines()
    for said in (address, "meteor.sqlite cannot be written", "nothing that was acknowledged is"):
        assert said in line
    assert "make room" in line

    room, where = start(*data)
    capsys.readouterr()
    assert main(["get", "type=a", "--peer", where["address"]]) == exit_codes.DONE
    # What the full disk refused was told to nobody, and may be there or not.
    assert len(capsys.readouterr().out.splitlines()) in (acknowledged, acknowledged + 1)
    assert stop(room) == (0, "")


@pytest.mark.processes
def test_a_disk_that_is_full_from_the_start_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "space.toml").write_text(SPACE)
    data = ["--data-dir", str(tmp_path / "data"), "--space", str(tmp_path / "space.toml")]
    peer = _start_full(data, bytes_max=4096)
    _, errors = peer.communicate(timeout=WAIT_S)
    assert peer.returncode == exit_codes.REFUSED, errors
    (line,) = errors.splitlines()
    assert line.startswith("meteor: JournalFailed: ")
    assert "meteor.sqlite" in line
    assert "make room" in line


async def test_a_program_that_has_a_peer_is_told_why_it_stopped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with meteor.Peer(space=meteor.KeywordSpace.from_toml(SPACE), data_dir=tmp_path) as peer:
        assert peer.failure is None
        failure = meteor.JournalFailed("the file cannot be written: disk full")
        peer._failed(failure)
        await peer.wait_closed()
        assert (peer.failure, peer.serving) == (failure, False)
    (record,) = caplog.records
    assert record.getMessage() == f"peer {peer.whereabouts['address']} stops: {failure}"
    assert record.exc_info is None
