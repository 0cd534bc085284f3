"""The loop's thread of the blocking side, where its beginning fails or its end comes between."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from functools import partial
from types import SimpleNamespace
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


class Announced:
    """A lock that says when somebody comes to it while it is held."""

    def __init__(self, come: threading.Event) -> None:
        self._come, self._lock = come, threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._come.set()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_what_is_closed_while_it_begins_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an overlay that one thread enters and another closes."""
    thread = LoopThread()
    begins, goes_on = threading.Event(), threading.Event()

    def slow() -> asyncio.AbstractEventLoop:
        begins.set()
        goes_on.wait(10)
        return asyncio.new_event_loop()

    monkeypatch.setattr(loop_thread, "fastest_loop", lambda: slow)
    monkeypatch.setattr(thread, "_starting", Announced(goes_on))
    asked: list[Any] = []
    asking = threading.Thread(
        target=lambda: asked.append(outcome_elsewhere(lambda: thread.wait(done)))
    )
    asking.start()
    begins.wait(10)
    try:
        assert outcome_elsewhere(thread.stop) is None
    finally:
        goes_on.set()
        asking.join(10)
    assert asked[0] == "done" or isinstance(asked[0], meteor.Closed), asked
    assert thread._thread is not None
    thread._thread.join(10)
    assert not thread._thread.is_alive()


def test_what_is_closed_just_before_it_begins_never_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks looked before it was stopped."""
    thread, usual = LoopThread(), LoopThread.check

    def check() -> None:
        usual(thread)
        thread.stop()

    monkeypatch.setattr(thread, "check", check)
    assert isinstance(outcome_elsewhere(lambda: thread.wait(done)), meteor.Closed)
    assert thread._thread is None


def test_two_threads_that_stop_it_at_once_say_good_bye_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    thread = LoopThread()
    assert thread.wait(done) == "done"
    together, said = threading.Barrier(2, timeout=10), list[str]()
    process = os.getpid()

    def process_of_both() -> int:
        """Neither goes on before the other has come as far."""
        together.wait()
        return process

    async def farewell() -> None:
        said.append("good-bye")

    outcomes: list[Any] = []
    with monkeypatch.context() as patched:
        patched.setattr(loop_thread, "os", SimpleNamespace(getpid=process_of_both))
        stop = partial(thread.stop, farewell)
        other = threading.Thread(target=lambda: outcomes.append(outcome_elsewhere(stop)))
        other.start()
        outcomes.append(outcome_elsewhere(stop))
        other.join(10)
    assert outcomes == [None, None]
    assert said == ["good-bye"]
