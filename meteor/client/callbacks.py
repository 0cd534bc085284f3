"""What an application wants to be told of: the link, and errors that no caller waits for.

Law of this file: a callback is a function or a coroutine function; what it raises is logged and
harms nobody.  Errors without an `on_error` go to the log of this package, never into the void.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from chord import Runtime
from meteor.described import described
from meteor.errors import MeteorError
from meteor.wrong_values import said

log = logging.getLogger("meteor")

Callback = Callable[..., Any]


@described
@dataclass(slots=True)
class Callbacks:
    """The application's callbacks; each may be set at any time.

    Raises `TypeError` for what is no function."""

    on_disconnected: Callback | None = None
    """Called with the error that says why the link went; another peer is sought already."""
    on_reconnected: Callback | None = None
    """Called with the address of the peer that serves now."""
    on_error: Callback | None = None
    """Called with a `MeteorError` of something in the background, or with what a handler raised."""

    def __post_init__(self) -> None:
        check_handler(self.on_disconnected, "on_disconnected")
        check_handler(self.on_reconnected, "on_reconnected")
        check_handler(self.on_error, "on_error")

    def disconnected(self, runtime: Runtime, error: MeteorError) -> None:
        """Tell of a lost link."""
        run_callback(runtime, self.on_disconnected, error)

    def reconnected(self, runtime: Runtime, address: str) -> None:
        """Tell of a new one."""
        run_callback(runtime, self.on_reconnected, address)

    def error(self, runtime: Runtime, error: Exception) -> None:
        """Tell of an error, or log it."""
        if self.on_error is not None:
            run_callback(runtime, self.on_error, error)
        else:
            log_error(error)


def log_error(error: BaseException) -> None:
    """Say what no `on_error` takes."""
    if isinstance(error, MeteorError):
        log.warning("%s", error)
    else:  # the application's own bug: where it is, stands in the traceback
        log.error("a handler failed: %s: %s", type(error).__name__, error, exc_info=error)


def check_handler(handler: object, name: str = "handler") -> None:
    """Raises `TypeError` for what cannot be called: all that it is told would be lost in it."""
    if handler is not None and not callable(handler):
        raise TypeError(f"{name}: {said(handler)} is no function; give one, or leave it out")


def call(function: Callback, *arguments: object) -> Any:
    """What a function of the application's gives; what it raises is an `Exception`, or meant for
    whoever runs the process.  One that takes the result of what somebody cancelled raises neither:
    that would break the link over which came what it is called with, again and again."""
    try:
        return function(*arguments)
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise MeteorError(f"it took the result of what was cancelled: {error!r}") from error


def run_callback(runtime: Runtime, callback: Callback | None, *arguments: object) -> None:
    """Call a callback now; a coroutine that it returns runs in the background."""
    if callback is None:
        return
    try:
        result = call(callback, *arguments)
    except Exception:  # the application's own error: the client goes on
        log.exception("the callback %r failed", callback)
        return
    if inspect.isawaitable(result):
        runtime.spawn(_finish(callback, result))


async def _finish(callback: Callback, result: Awaitable[object]) -> None:
    """The rest of an asynchronous callback."""
    try:
        await result
    except Exception:  # as above
        log.exception("the callback %r failed", callback)
