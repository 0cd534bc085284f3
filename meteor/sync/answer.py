"""The answer to a retrieve, taken by blocking.

Law of this file: `meteor.client.answer` decides; here somebody waits for it.
"""

from __future__ import annotations

from types import TracebackType
from typing import Generic, Self

from meteor.client.answer import Answer as AsyncAnswer
from meteor.client.answer import ItemT
from meteor.errors import Interval
from meteor.receipt import Receipt
from meteor.sync.loop_thread import LoopThread
from meteor.sync.streams import Stream


class Answer(Generic[ItemT]):
    """The matches of one retrieve, or the results of an application's action.

    `for match in answer`, `answer.all()`, `answer.first()`.  It is asked on first use, once;
    leaving the loop early ends it."""

    def __init__(self, owner: object, thread: LoopThread, inner: AsyncAnswer[ItemT]) -> None:
        self._owner, self._thread = owner, thread
        self._inner: AsyncAnswer[ItemT] = inner

    def __repr__(self) -> str:
        return f"<meteor.sync.{repr(self._inner)[1:]}"

    @property
    def receipt(self) -> Receipt | None:
        """What the overlay said of the whole; None while it still answers."""
        return self._inner.receipt

    @property
    def complete(self) -> bool:
        """Whether every interval has answered; false while some may still."""
        return self._inner.complete

    @property
    def missing(self) -> tuple[Interval, ...]:
        """The intervals of curve indexes that did not answer."""
        return self._inner.missing

    @property
    def dropped(self) -> int:
        """Later matches of a standing answer that nobody will take, as the queue was full."""
        return self._inner.dropped

    @property
    def is_standing(self) -> bool:
        """Whether it follows later matches."""
        return self._inner.is_standing

    def all(self) -> list[ItemT]:
        """Every match that lives now, of each stem the newest version; or every result.

        Raises `Incomplete` with what was found (unless `allow_partial`), `Timeout`,
        `NotConnected`, or what the overlay refuses with."""
        return self._thread.wait(self._inner.all)

    def first(self) -> ItemT | None:
        """The first match that comes, then the answer is closed; None if there is none.

        Raises `Incomplete` when there is none but some interval did not answer."""
        return self._thread.wait(self._inner.first)

    def close(self) -> None:
        """Ask no more, and delete a standing retrieve in the overlay.  Harmless when repeated."""
        self._thread.wait(self._inner.close)

    def detach(self) -> str:
        """End the iteration here and leave a standing retrieve in the overlay until its ttl runs
        out; returns the id by which `attach` takes it up again.

        Raises `Closed` where nothing stands: for a retrieve without a ttl, and once it is over."""
        return self._thread.wait(self._inner.detach)

    def __iter__(self) -> Matches[ItemT]:
        self._thread.call(self._inner.begin)
        return Matches(self, self._thread, self._inner)

    def __enter__(self) -> Self:
        self._thread.call(self._inner.begin)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Matches(Stream[ItemT]):
    """One pass over an answer.  When a loop over a one-time answer is left, nothing holds its
    iterator any more, and the answer stops asking."""

    def __init__(self, owner: object, thread: LoopThread, inner: AsyncAnswer[ItemT]) -> None:
        super().__init__(owner, thread, inner.mailbox, inner.take_now)
        self._inner: AsyncAnswer[ItemT] = inner

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ItemT:
        """The next match; raises `Incomplete` at an end that is not complete."""
        return self._take()

    def __del__(self) -> None:
        if not self._inner.is_standing:
            self._thread.post(self._inner.leave)
