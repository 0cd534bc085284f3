"""A resolver that does not answer holds the threads that ask it, for as long as it pleases."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from typing import Any

import pytest

from chord import Contact
from meteor.links.asyncio_aside import aside
from meteor.wire.messages import Greet
from tests.meteor.websocket_peers import Make, until

pytestmark = pytest.mark.sockets

PROGRAM = """
import asyncio, socket, threading
import meteor

socket.getaddrinfo = lambda *_, **__: threading.Event().wait()

async def main() -> None:
    try:
        await meteor.connect("peer.example:7400", timeout=0.1)
    except meteor.NotConnected:
        print("nobody is there")

asyncio.run(main())
"""
NAMES = 40
"""More than the threads of an event loop."""


async def test_they_hold_up_nothing_else(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Handlers of `meteor.sync`, policies and event logs waited for the same threads."""
    answers, asked = threading.Event(), list[object]()

    def resolve(host: object, *_: Any, **__: Any) -> Any:
        asked.append(host)
        answers.wait(60)
        raise socket.gaierror(socket.EAI_AGAIN, "nobody answers")

    peer = await make(1)
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    try:
        for number in range(NAMES):
            peer.send(Contact(2 + number, f"peer-{number}.example:7400"), Greet())
        await until(lambda: len(asked) > 1)
        assert await asyncio.wait_for(aside(lambda: 5), 20) == 5
        await peer.aclose()
    finally:
        answers.set()


def test_a_program_that_is_over_does_not_wait_for_them() -> None:
    """It gave up after a tenth of a second, and hung at its end until the resolver did, too."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "nobody is there\n"), done.stderr
