"""The loop's thread of the blocking side, where its beginning fails or its end comes between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import pytest

import meteor
from meteor.sync import loop_thread
from meteor.sync.loop_thread import LoopThread
from tests.meteor.building import SPACE


async def done() -> str:
    return "done"


def outcome_elsewhere(work: Callable[[], Any]) -> Any:
    """What comes of it in another thread, so that a hang fails the test and no more."""
    outcomes: list[Any] = []

    def run() -> None:
        try:
            outcomes.append(work())
        except BaseException as error:
            outcomes.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(10)
    assert outcomes, "it hangs"
    return outcomes[0]


def test_who_asks_is_told_why_no_loop_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waited for ever for a loop that had died of too many open files."""

    def fails() -> asyncio.AbstractEventLoop:
        raise OSError(24, "Too many open files")

    thread = LoopThread()
    with monkeypatch.context() as patched:
        patched.setattr(loop_thread, "fastest_loop", lambda: fails)
        assert isinstance(outcome_elsewhere(lambda: thread.wait(done)), OSError)
        assert not thread.is_alive
    assert thread.wait(done) == "done", "it may be tried again"
    thread.stop()


def test_what_was_closed_before_it_began_never_begins() -> None:
    """Nobody would end it: its end was there already."""
    before = set(threading.enumerate())
    peer = meteor.sync.Peer(space=SPACE)
    peer.close()
    with pytest.raises(meteor.Closed, match="make a new one"):
        peer.start()
    peer.close()
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("moment", ["closing", "closed"])
def test_whoever_comes_while_the_loop_ends_is_told(
    monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """He looked before it was stopped, and steps in when no task is cancelled any more, or none
    taken."""
    thread = LoopThread()
    thread.wait(done)
    loop, runs = thread._loop, thread._thread
    assert loop is not None
    assert runs is not None
    late: list[Any] = []
    usual = loop.shutdown_asyncgens

    def come_late() -> None:
        with monkeypatch.context() as patched:  # what `_running` said a moment ago
            patched.setattr(thread, "_running", lambda: loop)
            try:
                late.append(thread.submit(asyncio.sleep(3600)))
            except meteor.Closed as error:
                late.append(error)

    async def end() -> None:
        come_late()
        await usual()

    if moment == "closing":
        monkeypatch.setattr(loop, "shutdown_asyncgens", end)
    thread.stop()
    runs.join(10)
    if moment == "closed":
        come_late()
    came = late[0]
    told = came if isinstance(came, Exception) else outcome_elsewhere(came.result)
    assert isinstance(told, meteor.Closed | CancelledError), told
