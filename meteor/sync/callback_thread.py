"""A thread for what the application wants to be called with.

Law of this file: callbacks run one after the other, away from the event loop, so that they may
block and use the client themselves.  What they raise is logged and harms nobody.
"""

from __future__ import annotations

import inspect
import logging
import queue
import threading
from collections.abc import Callable
from typing import Any, Final

from meteor.client.callbacks import Callback, Callbacks, log_error

CALLS_MAX: Final = 1000
"""Calls that may wait for a callback that blocks; more are logged instead."""

log = logging.getLogger("meteor")


def check_plain(name: str, function: object) -> None:
    """Raises `TypeError` for a coroutine function: nobody awaits here."""
    if inspect.iscoroutinefunction(function):
        raise TypeError(
            f"{name}: the blocking side calls plain functions; a coroutine function needs "
            "meteor.connect and an event loop of yours"
        )


class CallbackThread:
    """The state callbacks of one client, each to be set at any time."""

    def __init__(self, callbacks: Callbacks) -> None:
        for name in ("on_disconnected", "on_reconnected", "on_error"):
            check_plain(name, getattr(callbacks, name))
        self.callbacks = callbacks
        self._calls: queue.Queue[Callable[[], object] | None] = queue.Queue(CALLS_MAX)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def options(self) -> dict[str, Callback]:
        """What the asynchronous client is given in their stead."""
        return {
            "on_disconnected": lambda error: self.run("on_disconnected", error),
            "on_reconnected": lambda address: self.run("on_reconnected", address),
            "on_error": lambda error: self.run("on_error", error),
        }

    def run(self, name: str, argument: Any) -> None:
        """Call the callback of this name, in a while; an error without one is logged."""
        callback = getattr(self.callbacks, name)
        if callback is None:
            if name == "on_error":
                log_error(argument)
            return
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, name="meteor-callbacks", daemon=True
                )
                self._thread.start()
        try:
            self._calls.put_nowait(lambda: callback(argument))
        except queue.Full:
            log.warning("%s is behind; not told of: %s", name, argument)

    def stop(self) -> None:
        """End the thread behind the calls that wait."""
        if self._thread is not None:
            try:
                self._calls.put_nowait(None)
            except queue.Full:
                log.warning("a callback blocks; its thread is left behind")

    def _serve(self) -> None:
        while True:
            call = self._calls.get()
            if call is None:
                return
            try:
                call()
            except BaseException:  # its own error, SystemExit, too: what follows is told
                log.exception("a callback failed")
