"""The application's own actions at one peer, and one bounded run of one of them.

Law of this file: the application's code never harms the peer.  What it raises, gives back by
mistake or never gives back becomes a sentence for the poster; how long it may take and how large
its result may be is decided here (SPEC section 1).
"""

from __future__ import annotations

import inspect
import logging
import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from arms import ACTIONS, any_action
from chord import RequestTimeout, Runtime
from meteor.admission import PAYLOAD_BYTES_MAX
from meteor.described import described
from meteor.errors import Interval, MeteorError, UnknownAction
from meteor.values import Match
from squid import KeywordSpace

ACTIONS_MAX: Final = 1024
"""How many one peer may have: a program that registers names out of its data is told so."""
TROUBLE_LENGTH_MAX: Final = 400
"""Characters of what a run raised that its poster is shown."""

_log = logging.getLogger("meteor.actions")


@described
@dataclass(frozen=True, slots=True)
class ActionContext:
    """Where and how long an application's action runs."""

    action: str
    """The name under which it was posted."""
    peer: str
    """The address of the peer that runs it."""
    intervals: tuple[Interval, ...]
    """The intervals of curve indexes, both ends included, whose matches it is given."""
    space: KeywordSpace
    """The keyword space of the ring."""
    timeout: float
    """How many seconds it has; then it is cancelled, and its intervals are missing."""


ActionHandler = Callable[
    [ActionContext, Match, Sequence[Match]], Awaitable[bytes | None] | bytes | None
]
"""`handler(context, message, matches)`: a function or a coroutine function.  `message` is what was
posted, `matches` what this peer reports; None says that there is nothing to send."""


class RunFailed(MeteorError):
    """A run that came to nothing; the text is for the poster."""


class ApplicationActions:
    """The actions of one peer, by name."""

    def __init__(self) -> None:
        self._handlers: dict[str, ActionHandler] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """What is registered, in the order in which it was."""
        return tuple(self._handlers)

    def add(self, name: str, handler: ActionHandler) -> None:
        """Register an action.  Raises `ValueError` for a name that is taken, Meteor's own, or none
        that can be posted, and for one too many."""
        if name in ACTIONS or name in self._handlers:
            raise ValueError(f"action: {name!r} is there already; choose another name")
        try:
            any_action(name)
        except UnknownAction:
            raise ValueError(
                f"action: {name!r} cannot be posted: give at most 64 letters, digits, '_', '.' and "
                f"'-', and nothing that could be a slip for {', '.join(ACTIONS)}"
            ) from None
        if len(self._handlers) >= ACTIONS_MAX:
            raise ValueError(f"action: {name!r} is one more than the {ACTIONS_MAX} of one peer")
        self._handlers[name] = handler

    def find(self, name: str) -> ActionHandler | None:
        """The handler of this name."""
        return self._handlers.get(name)


async def run_bounded(
    runtime: Runtime,
    handler: ActionHandler,
    context: ActionContext,
    message: Match,
    matches: Sequence[Match],
) -> bytes | None:
    """Run a handler for at most `context.timeout` seconds; raises `RunFailed`."""
    outcome: list[object] = []
    token = object()

    async def run() -> None:
        try:
            result = handler(context, message, matches)
            outcome.append(_plain(await result if inspect.isawaitable(result) else result))
        except Exception as error:  # the application's own: the poster is told
            _log.error("the action %r failed\n%s", context.action, _traceback())
            outcome.append(RunFailed(f"it raised {_said(error)}"))
        finally:  # also where it awaited what somebody cancelled, which ends it as a time-out does
            runtime.deliver(token, None)

    ended = runtime.expect(token, context.timeout)
    task = runtime.spawn(run())
    try:
        await ended
    except RequestTimeout:
        task.cancel()
        raise RunFailed(f"it did not end within {context.timeout:.3g} s") from None
    return _checked(outcome[0] if outcome else RunFailed("it was cancelled"))


def _plain(result: object) -> object:
    """Of bytes of a kind of its own, as numpy's, the bytes: no other ones can travel."""
    return bytes(memoryview(result)) if isinstance(result, bytes) else result


def _traceback() -> str:
    """Where the exception in hand comes from, for the log.  Not `Logger.exception`: half a
    surrogate pair in its text would end whatever writes the log as UTF-8."""
    return traceback.format_exc().encode("utf-8", "backslashreplace").decode("utf-8")


def _said(error: Exception) -> str:
    """What an error says, as far as that is text which can travel: its class is anybody's."""
    try:
        said = f"{type(error).__name__}: {error}"
    except Exception:
        said = f"{type(error).__name__}, which cannot say itself"
    cut = said[:TROUBLE_LENGTH_MAX]
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in cut)


def _checked(result: object) -> bytes | None:
    """What a handler gave, if it can be sent; raises `RunFailed`."""
    if isinstance(result, RunFailed):
        raise result
    if result is None or isinstance(result, bytes):
        if result is not None and len(result) > PAYLOAD_BYTES_MAX:
            raise RunFailed(f"it gave {len(result)} bytes, above the {PAYLOAD_BYTES_MAX} of a post")
        return result
    raise RunFailed(f"it gave {type(result).__name__}; an action gives bytes, or None")
