"""What a handler or callback of the blocking side raises, whatever it is, keeps back nothing that
follows: it ends no thread."""

from __future__ import annotations

import threading
from typing import Any

import meteor
from meteor.client.callbacks import Callbacks
from meteor.sync.callback_thread import CallbackThread
from tests.meteor.asking import HOT


def test_a_handler_that_wants_to_end_its_thread_gets_what_follows(
    client: meteor.sync.Client,
) -> None:
    came, told = threading.Semaphore(0), threading.Semaphore(0)
    errors: list[Any] = []

    def leave(_: meteor.Notification) -> None:
        came.release()
        raise SystemExit("enough")

    def note(error: Any) -> None:
        errors.append(error)
        told.release()

    client.callbacks.on_error = note
    with client.notify_data("type=t", handler=leave):
        for number in range(3):
            client.store(HOT, str(number))
        assert all(came.acquire(timeout=5) for _ in range(3))
        assert all(told.acquire(timeout=5) for _ in range(3))
    assert all("enough" in str(error) for error in errors)


def test_a_callback_that_wants_to_end_its_thread_is_called_again() -> None:
    called = threading.Semaphore(0)

    def leave(_: object) -> None:
        called.release()
        raise SystemExit("enough")

    callbacks = CallbackThread(Callbacks(on_reconnected=leave))
    for number in range(3):
        callbacks.run("on_reconnected", f"p{number}:1")
    try:
        assert all(called.acquire(timeout=5) for _ in range(3))
    finally:
        callbacks.stop()
