"""docs/three-hosts.md runs as it stands: its commands, on three loopback addresses.

Each host is a directory, `scp` copies between directories, and the addresses and the port are
replaced throughout; nothing else is.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "three-hosts.md"
WAIT_S = 60.0
HOSTS = {"10.0.0.5": "127.0.0.1", "10.0.0.6": "127.0.0.2", "10.0.0.7": "127.0.0.3"}
FENCE = re.compile(
    r"^<!-- (?P<mark>[^>]*) -->\n```sh\n(?P<commands>.*?)^```$"
    r"(?:\n\nprints\n\n```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
SCP = 'scp() { for file; do :; done; cp "${@:1:$#-1}" "../${file%:}/"; }\n'


@dataclass(frozen=True)
class Block:
    host: str
    stays: bool
    killed: bool
    commands: str
    output: str | None


def blocks(page: str) -> Iterator[Block]:
    for found in FENCE.finditer(page):
        mark = found["mark"]
        if not mark.startswith("not run"):
            host, _, how = mark.removeprefix("on: ").partition(", ")
            assert how in ("", "stays", "killed"), mark
            yield Block(host, how == "stays", how == "killed", found["commands"], found["output"])


def replaced(page: str, port: int) -> str:
    for address, loopback in HOSTS.items():
        page = page.replace(address, loopback)
    return page.replace(":7400", f":{port}")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_every_command_of_the_page_is_run_or_marked() -> None:
    page = PAGE.read_text()
    assert page.count("```sh") == len(FENCE.findall(page))
    assert page.count("```text") == sum(block.output is not None for block in blocks(page))


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.sockets
def test_three_hosts_with_tls_from_copy_and_paste(tmp_path: Path) -> None:
    if not all(map(shutil.which, ("bash", "curl"))):
        pytest.skip("needs bash and curl")
    peers: dict[str, subprocess.Popen[str]] = {}
    try:
        for block in blocks(replaced(PAGE.read_text(), free_port())):
            directory = tmp_path / block.host
            directory.mkdir(exist_ok=True)
            for host in HOSTS.values():
                (tmp_path / host).mkdir(exist_ok=True)
            if block.killed:
                peers[block.host].kill()
                peers[block.host].wait(WAIT_S)
            elif block.stays:
                peers[block.host] = started(block, directory)
            else:
                check(block, directory)
    finally:
        for peer in peers.values():
            peer.kill()
            peer.communicate()


def shell(commands: str) -> list[str]:
    """The page's `meteor` is the one of this tree."""
    meteor = f'meteor() {{ "{sys.executable}" -m meteor "$@"; }}\n'
    return ["bash", "-eu", "-o", "pipefail", "-c", meteor + SCP + commands]


def started(block: Block, directory: Path) -> subprocess.Popen[str]:
    assert block.commands == "meteor peer\n"
    peer = subprocess.Popen(
        [sys.executable, "-m", "meteor", "peer"], cwd=directory, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert peer.stdout is not None
    if "serves at" not in peer.stdout.readline():
        peer.kill()
        raise AssertionError(f"{block.host}: {peer.communicate()[1]}")
    return peer


def check(block: Block, directory: Path) -> None:
    done = subprocess.run(
        shell(block.commands), cwd=directory, capture_output=True, text=True, timeout=WAIT_S,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{block.commands}{done.stdout}{done.stderr}"
    if block.output is not None:
        assert done.stdout == block.output
