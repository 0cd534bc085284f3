"""A bounded queue between the turn in which something arrives and the conversation that takes it.

Law of this file: built on `Runtime.expect` and `deliver` alone, so that it waits the same way on
sockets and in virtual time.  Taking what is there never waits and never asks the runtime: an
iterator over a mailbox is a thin view of its deque.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, Generic, Literal, TypeVar

from chord import RequestTimeout, Runtime
from meteor.errors import Closed, MeteorError

ItemT = TypeVar("ItemT")

Overflow = Literal["error", "drop_oldest"]
"""What becomes of a full queue: its stream fails with `SlowConsumer`, or forgets its oldest."""


class Signal:
    """Wakes everybody who waits for "something has changed"; they look again themselves."""

    __slots__ = ("_round", "_runtime", "awaited")

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._round = 0
        self.awaited = False
        """Whether somebody may be waiting."""

    def notify(self) -> None:
        """Wake the present waiters, in a later turn; free of charge when there are none."""
        if self.awaited:
            self.awaited = False
            token, self._round = (self, self._round), self._round + 1
            self._runtime.deliver(token, None)

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Until the next `notify`; False when the time has run out first.

        Raises `Closed` if nothing will ever come because the runtime was closed."""
        self.awaited = True
        try:
            await self._runtime.expect((self, self._round), timeout_s)
        except RequestTimeout:
            if timeout_s is None:
                raise Closed("this client or peer was closed") from None
            return False
        return True


class Mailbox(Generic[ItemT]):
    """First in, first out; ends once, with or without an error, after what is queued was taken."""

    __slots__ = ("_ending", "_runtime", "_signal", "_wakers", "ended", "items")

    def __init__(self, runtime: Runtime) -> None:
        self.items: Final[deque[ItemT]] = deque()
        """What waits to be taken; a caller in a hurry may pop from its left end."""
        self.ended = False
        self._ending: MeteorError | None = None
        self._runtime = runtime
        self._signal = Signal(runtime)
        self._wakers: deque[Callable[[], object]] = deque()

    def put(self, item: ItemT) -> None:
        """Queue one."""
        self.items.append(item)
        if self._signal.awaited:
            self._signal.notify()
        if self._wakers:
            self._wake()

    def extend(self, items: Iterable[ItemT]) -> None:
        """Queue several."""
        self.items.extend(items)
        self._signal.notify()
        self._wake()

    def end(self, error: MeteorError | None = None) -> None:
        """Nothing more will come: takers get `error`, or the end of iteration."""
        if not self.ended:
            self.ended, self._ending = True, error
            self._signal.notify()
            self._wake()

    def break_off(self, error: MeteorError) -> None:
        """Nothing more will come, and what is queued goes: takers get `error`, also where a plain
        end had come already behind what was queued."""
        self.items.clear()
        self.ended, self._ending = True, error
        self._signal.notify()
        self._wake()

    def wake_when_ready(self, waker: Callable[[], object]) -> bool:
        """Call `waker` once, in the turn in which something is queued or the end has come; whether
        that is so already.  For takers in other threads: to be called from theirs."""
        self._wakers.append(waker)
        return bool(self.items) or self.ended

    def check_end(self) -> None:
        """Raises the ending error, if it ended with one."""
        if self._ending is not None:
            raise self._ending.with_traceback(None)

    def let_sleep(self, waker: Callable[[], object]) -> None:
        """The taker waits no longer; from any thread, and harmless when it was woken."""
        with suppress(ValueError):
            self._wakers.remove(waker)

    def _wake(self) -> None:
        with suppress(IndexError):  # a taker that went meanwhile took himself out
            while self._wakers:
                self._wakers.popleft()()

    async def take(self, timeout_s: float | None = None) -> ItemT:
        """The next item; raises the ending error, `StopAsyncIteration` at a plain end, and
        `chord.RequestTimeout` when nothing came in `timeout_s` seconds."""
        if not await self.ready(timeout_s):
            raise StopAsyncIteration
        return self.items.popleft()

    def take_now(self) -> ItemT | None:
        """The next item if there is one; from any thread."""
        try:
            return self.items.popleft()
        except IndexError:
            return None

    async def ready(self, timeout_s: float | None = None) -> bool:
        """Return when something is queued, False when nothing will be any more; raises as `take`.
        With takers in other threads it may be gone again."""
        deadline = None if timeout_s is None else self._runtime.now() + timeout_s
        while not self.items:
            if self.ended:
                self.check_end()
                return False
            left = None if deadline is None else deadline - self._runtime.now()
            if left is not None and left <= 0:
                raise RequestTimeout(f"nothing came within {timeout_s} s")
            await self._signal.wait(left)
        return True
