"""What the blocking clients and peers share: a loop's thread, and what comes out of it.

Law of this file: the lives of the blocking side, written by hand; its verbs are generated from
`meteor.sync.methods`.  A client or peer that is forgotten, or open at the interpreter's exit, is
closed without a word.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, Literal, TypeVar, overload

from meteor.client.answer import Answer as AsyncAnswer
from meteor.client.answer import ItemT
from meteor.client.callbacks import Callbacks, check_handler
from meteor.client.interest import Interest as AsyncInterest
from meteor.client.post_many import (
    CONCURRENCY,
    Message,
    MessageLike,
    check_messages,
    checked_concurrency,
    message_of,
)
from meteor.client.verbs import Verbs as AsyncVerbs
from meteor.client.watch import Watch as AsyncWatch
from meteor.errors import MeteorError
from meteor.receipt import Receipt
from meteor.sync.answer import Answer
from meteor.sync.callback_thread import CallbackThread, check_plain
from meteor.sync.interest import Interest, NotificationHandler, Watch
from meteor.sync.loop_thread import LoopThread, ParametersT, result_of
from meteor.values import Result
from meteor.wrong_values import checked_truth

PostedT = TypeVar("PostedT")


class Blocking(ABC):
    """Somebody who posts by blocking."""

    def __init__(self, thread: LoopThread, callbacks: CallbackThread) -> None:
        self._thread, self._callback_thread = thread, callbacks

    @property
    @abstractmethod
    def _verbs(self) -> AsyncVerbs:
        """Who carries the verbs out in the loop."""

    def __repr__(self) -> str:
        return f"<meteor.sync.{repr(self._verbs)[1:]}"

    @property
    def owner(self) -> str:
        """Whose is what is posted here: the key of the identity, or of whom it acts for; empty for
        nobody's."""
        return self._verbs.owner

    @property
    def callbacks(self) -> Callbacks:
        """`on_disconnected`, `on_reconnected` and `on_error`, to be set at any time: plain
        functions, called in a thread of their own."""
        return self._callback_thread.callbacks

    @overload
    def post_many(
        self,
        messages: Iterable[MessageLike],
        *,
        concurrency: int = CONCURRENCY,
        return_errors: Literal[False] = False,
    ) -> Iterator[Receipt]: ...
    @overload
    def post_many(
        self,
        messages: Iterable[MessageLike],
        *,
        concurrency: int = CONCURRENCY,
        return_errors: Literal[True],
    ) -> Iterator[Receipt | MeteorError]: ...
    def post_many(
        self,
        messages: Iterable[MessageLike],
        *,
        concurrency: int = CONCURRENCY,
        return_errors: bool = False,
    ) -> Iterator[Any]:
        """Post many messages, `concurrency` at once: `for receipt in client.post_many(...)`, in
        the order of the messages.

        A message is a `Message`, or profile and data to store; they are read in this thread as
        there is room for them.  One that fails raises its error, with a note that names it, and
        ends it all; with `return_errors` a `MeteorError` comes in the receipt's place instead."""
        check_messages(messages)
        checked_truth("return_errors", return_errors)
        return self._post_each(messages, checked_concurrency(concurrency), return_errors)

    def _post_each(
        self, messages: Iterable[MessageLike], concurrency: int, return_errors: bool
    ) -> Iterator[Receipt | MeteorError]:
        under_way: deque[tuple[int, MessageLike, Future[Receipt]]] = deque()
        try:
            for number, message in enumerate(messages):
                under_way.append((number, message, self._thread.submit(self._post_one(message))))
                while len(under_way) >= concurrency or (under_way and under_way[0][2].done()):
                    yield _outcome(*under_way.popleft(), return_errors)
            while under_way:
                yield _outcome(*under_way.popleft(), return_errors)
        finally:  # the loop was left, or one of them failed
            for _, _, future in under_way:
                future.cancel()

    async def _post_one(self, one: MessageLike) -> Receipt:
        message: Message = message_of(one)
        posted: Any = self._verbs.post(message.profile, message.action, **message.options)
        receipt: Receipt = await posted
        return receipt

    # -- what comes out of the loop

    def _asked(
        self,
        ask: Callable[ParametersT, AsyncAnswer[ItemT]],
        *args: ParametersT.args,
        **options: ParametersT.kwargs,
    ) -> Answer[ItemT]:
        """The answer, made in the loop; one that an interrupted caller never gets is left."""
        made: list[AsyncAnswer[ItemT]] = []
        try:
            self._thread.call(lambda: made.append(ask(*args, **options)))
        except BaseException:
            self._thread.post(lambda: _leave(made))
            raise
        return Answer(self, self._thread, made[0])

    @staticmethod
    def _check_handler(handler: object) -> None:
        """Raises `TypeError` for what is no plain function, before anything is posted."""
        check_handler(handler)
        check_plain("handler", handler)

    @overload
    def _stream(self, inner: AsyncWatch, handler: NotificationHandler | None = None) -> Watch: ...
    @overload
    def _stream(
        self, inner: AsyncInterest, handler: NotificationHandler | None = None
    ) -> Interest: ...
    def _stream(self, inner: AsyncInterest, handler: NotificationHandler | None = None) -> Interest:
        kind = Watch if isinstance(inner, AsyncWatch) else Interest
        stream: Interest = kind(self, self._thread, inner)  # type: ignore[arg-type]  # as tested
        return stream.handled_by(handler, self._report)

    def _posted(self, inner: Any) -> Receipt | Answer | Answer[Result] | Interest:
        """What `post` gives: a receipt as it is, what is taken from as its blocking twin."""
        if isinstance(inner, AsyncAnswer):
            return Answer(self, self._thread, inner)
        if isinstance(inner, AsyncInterest):
            return self._stream(inner)
        assert isinstance(inner, Receipt)
        return inner

    @staticmethod
    async def _opened(post: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """What `post` gives, awaited, but for an answer: that is asked on first use."""
        posted: Awaitable[Any] | AsyncAnswer[Any] = post(*args, **options)
        return posted if isinstance(posted, AsyncAnswer) else await posted

    def _report(self, error: BaseException) -> None:
        """Tell the application of what a handler raised."""
        self._callback_thread.run("on_error", error)


def _leave(made: Iterable[AsyncAnswer[Any]]) -> None:
    """Nobody will take from these."""
    for one in made:
        one.leave()


def _outcome(
    number: int, message: MessageLike, future: Future[Receipt], return_errors: bool
) -> Receipt | MeteorError:
    try:
        return result_of(future)
    except Exception as error:
        error.add_note(f"post_many: message {number}, {message!r:.200}")
        if return_errors and isinstance(error, MeteorError):
            return error
        raise
