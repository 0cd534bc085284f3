"""Conversations on an event loop: what they wait for, and what becomes of their failures.

Law of this file: the twin of `sim.task`.  Several may await one outcome, and cancelling one of
them leaves the others; an asyncio future alone would be cancelled with its first awaiter.
"""

from __future__ import annotations

import asyncio
import types
import weakref
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from chord import MeteorError

ResultT = TypeVar("ResultT")

ORPHAN_GRACE_S: Final = 30.0
"""As in `sim.kernel`: how long a `MeteorError` of a conversation may wait to be awaited."""

_UNSETTLED: Final = object()


class LoopWaiter:
    """Something to wait for: settled once, awaited by any number of tasks of one loop."""

    __slots__ = ("__weakref__", "_error", "_futures", "_loop", "_value", "awaited")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._futures: list[asyncio.Future[None]] = []
        self._value: Any = _UNSETTLED
        self._error: BaseException | None = None
        self.awaited = False
        """Whether anybody ever awaited it."""

    def done(self) -> bool:
        """Whether it has an outcome."""
        return self._value is not _UNSETTLED

    @property
    def waiting(self) -> bool:
        """Whether somebody awaits it now."""
        return bool(self._futures)

    @property
    def abandoned(self) -> bool:
        """Whether somebody awaited it once and nobody does now, before it had an outcome."""
        return self.awaited and not self._futures and not self.done()

    def resolve(self, value: object) -> None:
        """Give the value to all who wait; too late is harmless."""
        if self._value is _UNSETTLED:
            self._value = value
            futures, self._futures = self._futures, []
            for future in futures:
                if not future.done():
                    future.set_result(None)

    def fail(self, error: BaseException) -> None:
        """Raise `error` in all who wait; too late is harmless."""
        if self._value is _UNSETTLED:
            self._error = error
            self.resolve(None)

    def __await__(self) -> Generator[Any, None, Any]:
        self.awaited = True
        if self._value is _UNSETTLED:
            future = self._loop.create_future()
            self._futures.append(future)
            try:
                yield from future
            except BaseException:
                if self._value is _UNSETTLED:
                    self._futures.remove(future)
                raise
        if self._error is not None:
            raise self._error
        return self._value


def task_of(
    loop: asyncio.AbstractEventLoop, conversation: Coroutine[Any, Any, ResultT]
) -> asyncio.Task[ResultT]:
    """A task that takes its first step in a later turn (contract rule 2).  The loop is not asked
    for it: it may have a factory of the application's, as `asyncio.eager_task_factory`, whose tasks
    step within the caller's turn."""
    return asyncio.Task(conversation, loop=loop)


class Conversation(LoopWaiter, Generic[ResultT]):
    """A conversation that runs: an asyncio task with an owner, and an outcome for many.

    `failed` hears of a failure that nobody awaits (contract rule 5).  Of one that was stepped
    already, `waits_for` is what it waits for since; its end is known in the step that ends it, a
    turn of the loop earlier than a task tells."""

    __slots__ = ("_failed", "_grace", "_left", "_owned", "concluded", "task")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        conversation: Coroutine[Any, Any, ResultT],
        owned: dict[Conversation[Any], None],
        failed: Callable[[BaseException], None],
        waits_for: Any = _UNSETTLED,
    ) -> None:
        self._loop = loop
        self._futures = []
        self._value = _UNSETTLED
        self._error = None
        self.awaited = False
        self._owned = owned
        self._failed = failed
        self._grace: _Grace | None = None
        self.concluded: Callable[[Any, BaseException | None], None] | None = None
        """Called with the value or the error when it has ended."""
        owned[self] = None
        self._left: Coroutine[Any, Any, ResultT] | None = None
        """What is to go on, and did not yet."""
        if waits_for is _UNSETTLED:
            self.task = task_of(loop, conversation)
            self.task.add_done_callback(self._ended)
        else:
            self._left = conversation
            self.task = task_of(loop, self._go_on(conversation, waits_for))

    def __await__(self) -> Generator[Any, None, ResultT]:
        if self._grace is not None:
            self._grace.over = True
        outcome: ResultT = yield from super().__await__()
        return outcome

    def cancel(self) -> None:
        """End it at its present wait; harmless when it is done."""
        left, self._left = self._left, None
        if left is not None:
            self.task.add_done_callback(partial(self._did_not_go_on, left))
        self.task.cancel()

    def _did_not_go_on(
        self, left: Coroutine[Any, Any, ResultT], task: asyncio.Task[ResultT]
    ) -> None:
        left.close()
        self._ended(task)

    async def _go_on(self, conversation: Coroutine[Any, Any, ResultT], waits_for: Any) -> Any:
        self._left = None
        try:
            value = await going_on(conversation, waits_for)
        except GeneratorExit:  # nobody runs it any more
            raise
        except asyncio.CancelledError:
            self._conclude(None, asyncio.CancelledError())
            raise
        except BaseException as error:
            # Without this frame, which would keep a handle that nobody else has any more.
            self._conclude(None, error.with_traceback(_behind_this(error)))
            if not isinstance(error, Exception):
                raise
        else:
            self._conclude(value, None)

    def _ended(self, task: asyncio.Task[ResultT]) -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        self._conclude(task.result() if error is None else None, error)

    def _conclude(self, value: Any, error: BaseException | None) -> None:
        self._owned.pop(self, None)
        orphan = not self.waiting and self.concluded is None
        if error is None:
            self.resolve(value)
        else:
            self.fail(error)
        if self.concluded is not None:
            self.concluded(value, error)
        elif isinstance(error, Exception) and orphan:
            self._orphaned(error)

    def _orphaned(self, error: BaseException) -> None:
        """Report a failure that nobody awaits: a bug at once; a `MeteorError` when the handle is
        dropped or the grace has passed, as somebody may be about to await it."""
        if not isinstance(error, MeteorError):
            self._failed(error)
        elif not self.awaited:
            self._grace = _Grace(self, error, self._failed)
            self._loop.call_later(ORPHAN_GRACE_S, self._grace.end)


class Begun(LoopWaiter, Generic[ResultT]):
    """A conversation that ended with its first step: nothing of it is left to cancel."""

    __slots__ = ()

    def cancel(self) -> None:
        """Harmless: it is done."""

    if TYPE_CHECKING:  # one generator less for each that is awaited

        def __await__(self) -> Generator[Any, None, ResultT]:
            """What came of it."""


@types.coroutine
def going_on(
    conversation: Coroutine[Any, Any, ResultT], waits_for: Any
) -> Generator[Any, Any, ResultT]:
    """What is left of a conversation that was stepped once, and waits; to be awaited: since Python
    3.12 no loop takes the bare generator."""
    while True:
        thrown: BaseException | None = None
        try:
            yield waits_for
        except GeneratorExit:
            conversation.close()
            raise
        except BaseException as error:
            thrown = error
        try:
            waits_for = conversation.send(None) if thrown is None else conversation.throw(thrown)
        except StopIteration as ended:
            outcome: ResultT = ended.value
            return outcome


def _behind_this(error: BaseException) -> types.TracebackType | None:
    """The traceback of an error but for the frame that caught it."""
    return error.__traceback__.tb_next if error.__traceback__ is not None else None


async def failing(error: BaseException) -> Any:
    """A conversation that ends so."""
    raise error


class _Grace:
    """The time in which a failed conversation may still be awaited: it ends with the handle."""

    def __init__(
        self,
        conversation: Conversation[Any],
        error: BaseException,
        failed: Callable[[BaseException], None],
    ) -> None:
        self._handle = weakref.ref(conversation, lambda _: self.end())
        self._error = error
        self._failed = failed
        self.over = False

    def end(self) -> None:
        """Nobody awaited the failure."""
        if not self.over:
            self.over = True
            self._failed(self._error)
