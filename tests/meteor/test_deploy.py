"""The container file and the unit under docs/deploy, carried out as far as one machine can.

There is no container engine here: the steps that make the image run in directories of the test
instead, and its command is started and stopped as an engine, or systemd, would.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from configparser import ConfigParser, RawConfigParser
from pathlib import Path
from typing import Any

import pytest

from meteor.cli import exit_codes, main
from tests.meteor.test_cli_peer import SPACE, WAIT_S

pytestmark = [pytest.mark.processes, pytest.mark.sockets]

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "docs" / "deploy"
OURS = ("arms", "chord", "meteor", "sim", "squid", "setup.cfg", "pyproject.toml", "README.md",
        "LICENSE")  # fmt: skip


def instructions() -> list[tuple[str, str]]:
    """Those of the container file, in order."""
    text = re.sub(r"^\s*#.*\n", "", (DEPLOY / "Containerfile").read_text(), flags=re.MULTILINE)
    lines = [line.partition(" ") for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    return [(word, rest.strip()) for word, _, rest in lines]


def unit() -> RawConfigParser:
    parser = RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEPLOY / "meteor-peer.service")
    return parser


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    """`/etc/meteor`, with a configuration as the container file's comment describes it."""
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "building.toml").write_text(SPACE)
    (folder / "meteor.toml").write_text(
        '[peer]\nlisten = "127.0.0.1:0"\nspace = "building.toml"\n'
        f'data_dir = "{tmp_path / "data"}"\n'
    )
    return folder


def at(etc: Path, command: list[str]) -> list[str]:
    """The command with the test's directory in the place of `/etc/meteor`."""
    assert "/etc/meteor/meteor.toml" in command
    return [word.replace("/etc/meteor", str(etc)) for word in command]


def serve(command: list[str], environment: dict[str, str]) -> tuple[subprocess.Popen[str], str]:
    """A peer's process by this command, and the address at which it says that it serves."""
    peer = subprocess.Popen(
        command, env={**os.environ, **environment}, cwd="/", text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert peer.stdout is not None
    said = re.search(r"serves at (\S+)", peer.stdout.readline())
    if said is None:
        pytest.fail(peer.communicate(timeout=WAIT_S)[1])
    return peer, said[1]


def test_the_image_is_of_a_python_that_meteor_supports() -> None:
    images = [rest.split()[0] for word, rest in instructions() if word == "FROM"]
    assert len(set(images)) == 1, "what is built for one Python runs on that"
    version = re.fullmatch(r"docker\.io/library/python:(3\.\d+)-slim", images[0])
    assert version is not None
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    assert f"Python :: {version[1]}\n" in setup["metadata"]["classifiers"]


def test_every_instruction_is_one_that_is_checked_here() -> None:
    """A new one wants its check below."""
    found = [(word, rest.split()[0]) for word, rest in instructions()]
    assert found == [
        ("FROM", "docker.io/library/python:3.13-slim"), ("COPY", "."), ("RUN", "pip"),
        ("FROM", "docker.io/library/python:3.13-slim"), ("COPY", "--from=build"),
        ("RUN", "useradd"), ("USER", "meteor"), ("VOLUME", "/var/lib/meteor"),
        ("EXPOSE", "7400"), ("STOPSIGNAL", "SIGTERM"), ("ENTRYPOINT", '["meteor",'),
        ("CMD", '["peer",'),
    ]  # fmt: skip
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv*"} <= set(ignored), "COPY . takes all the rest"


@pytest.mark.long
def test_the_image_is_built_and_its_command_serves_until_it_is_stopped(
    tmp_path: Path, etc: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """COPY and RUN pip in directories of this test; what Meteor depends on is this Python's."""
    source, prefix = tmp_path / "source", tmp_path / "meteor"
    source.mkdir()
    subprocess.run(["cp", "-r", *(str(ROOT / one) for one in OURS), str(source)], check=True)
    (install,) = (rest for word, rest in instructions() if word == "RUN" and "pip" in rest)
    words = [{"/source": str(source), "/meteor": str(prefix)}.get(w, w) for w in install.split()]
    assert words[:2] == ["pip", "install"]
    apart = ["--quiet", "--no-deps", "--ignore-installed", "--no-compile",
             "--disable-pip-version-check"]  # fmt: skip
    subprocess.run([sys.executable, "-m", *words, *apart], check=True, cwd="/")
    (copied,) = (rest for word, rest in instructions() if word == "COPY" and "--from" in rest)
    assert copied.split()[1:] == ["/meteor", "/usr/local"]
    (site,) = prefix.glob("lib/python*/site-packages")
    said = {word: rest for word, rest in instructions() if word in ("ENTRYPOINT", "CMD")}
    command = at(etc, [*json.loads(said["ENTRYPOINT"]), *json.loads(said["CMD"])])
    command[0] = str(prefix / "bin" / command[0])
    peer, address = serve(command, {"PYTHONPATH": str(site)})
    try:
        with urllib.request.urlopen(f"http://{address}/readyz", timeout=WAIT_S) as ready:
            assert ready.status == 200
        assert main(["post", "type=lamp", "--data", "lit", "--peer", address]) == exit_codes.DONE
        capsys.readouterr()
        assert main(["get", "type=lamp", "--peer", address]) == exit_codes.DONE
        assert capsys.readouterr().out == "type=lamp\tlit\n"
    finally:
        peer.send_signal(signal.Signals[dict(instructions())["STOPSIGNAL"]])
        peer.communicate(timeout=WAIT_S)
    assert peer.returncode == 0
    assert (tmp_path / "data" / "meteor.sqlite").exists(), "the volume is where it is kept"


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    """A service manager's end of NOTIFY_SOCKET."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(WAIT_S)
        yield listening


def test_the_unit_starts_reloads_and_stops_a_peer(
    tmp_path: Path, etc: Path, manager: socket.socket
) -> None:
    service: Any = unit()["Service"]
    assert (service["Type"], service["NotifyAccess"]) == ("notify", "main")
    found = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "PYTHONPATH": str(ROOT)}
    peer, _ = serve(at(etc, shlex.split(service["ExecStart"])), {**found, **told})
    try:
        assert manager.recv(100) == b"READY=1"
        assert service["ExecReload"] == "/bin/kill -HUP $MAINPID"
        peer.send_signal(signal.SIGHUP)
    finally:
        peer.send_signal(signal.SIGTERM)
        peer.communicate(timeout=WAIT_S)
    assert manager.recv(100) == b"STOPPING=1"
    assert peer.returncode == 0
    assert int(service["TimeoutStopSec"]) > 5, "handing over takes up to that"
