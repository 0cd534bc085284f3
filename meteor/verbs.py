"""The verbs that everybody has who can post: clients, and peers themselves.

Law of this file: `post` is the one primitive, symmetric in who asks and who offers; every other
verb is a line that says its action.  A post is validated when the verb is called, before anything
is sent, and carried out when its result is awaited, entered or iterated over (SPEC section 4).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping
from typing import Final, Literal, TypedDict, Unpack, overload

from meteor import posting
from meteor.answer import Answer
from meteor.draft import ProfileLike
from meteor.errors import Interval
from meteor.interest import Interest, NotificationHandler, Overflow
from meteor.lifetimes import checked_timeout_s
from meteor.messages import RingPicture
from meteor.session import Session
from meteor.values import Receipt
from meteor.watch import Watch

QUEUE_LENGTH: Final = 1000
"""Notifications that may wait to be taken before the stream fails."""

Mode = Literal["within", "overlap"]


class PostOptions(TypedDict, total=False):
    """What may go with every post; see `Verbs.post`."""

    data: bytes | str
    json: object
    content_type: str | None
    ttl: float | None
    id: str | None
    context: Mapping[str, str] | None
    timeout: float
    allow_partial: bool
    everywhere: bool


class Verbs(ABC):
    """What a poster can do.  A profile is text, a `Profile` or a mapping of plain values; times
    are seconds.

    Every verb raises `SelectorError`, `ProfileError`, `TypeMismatch` and `LimitExceeded` when it
    is called, for what is wrong with the post; and when it is carried out `Incomplete` (unless
    `allow_partial`), `Timeout`, `NotConnected`, `Refused`, `Busy` and `Closed`."""

    @property
    @abstractmethod
    def _session(self) -> Session:
        """What carries the verbs out; raises `Closed` where nothing does."""

    @overload
    def post(
        self,
        profile: ProfileLike,
        action: Literal["store", "delete_data", "delete_interest"] = "store",
        **options: Unpack[PostOptions],
    ) -> Awaitable[Receipt]: ...
    @overload
    def post(
        self,
        profile: ProfileLike,
        action: Literal["retrieve"],
        **options: Unpack[PostOptions],
    ) -> Answer: ...
    @overload
    def post(
        self,
        profile: ProfileLike,
        action: Literal["notify_data"],
        **options: Unpack[PostOptions],
    ) -> Interest: ...
    @overload
    def post(
        self,
        profile: ProfileLike,
        action: Literal["notify_interest"],
        **options: Unpack[PostOptions],
    ) -> Watch: ...
    @overload
    def post(
        self,
        profile: ProfileLike,
        action: str,
        **options: Unpack[PostOptions],
    ) -> Awaitable[Receipt] | Answer | Interest: ...
    def post(
        self,
        profile: ProfileLike,
        action: str = "store",
        *,
        data: bytes | str = b"",
        json: object = ...,
        content_type: str | None = None,
        ttl: float | None = None,
        id: str | None = None,
        context: Mapping[str, str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
        everywhere: bool = False,
    ) -> Awaitable[Receipt] | Answer | Interest:
        """Post a message by content: the symmetric primitive.

        `data` is bytes or text, `json` an object in its stead.  `ttl` is how long it lives (data
        3600 s, interests and watches 300 s and renewed, a retrieve 0; at most 30 days), `id` a
        name of your own (1 to 64 letters, digits, `_`, `-`; posted again in the same place it
        replaces, `replace` moves it), `context` your situation, `everywhere` allows all peers.

        Gives what the action calls for: a receipt to await, an `Answer`, `Interest` or `Watch`.
        Raises `UnknownAction`, and what every verb raises."""
        draft = posting.draft_post(
            self._session,
            profile,
            action,
            data=data,
            json=json,
            content_type=content_type,
            ttl=ttl,
            id=id,
            context=context,
            everywhere=everywhere,
        )
        timeout_s = checked_timeout_s(timeout)
        if action == "retrieve":
            return Answer(
                self._session,
                draft,
                queue=QUEUE_LENGTH,
                timeout_s=timeout_s,
                allow_partial=allow_partial,
            )
        if action in {"notify_data", "notify_interest"}:
            return posting.make_interest(
                self._session, draft, timeout_s=timeout_s, allow_partial=allow_partial
            )
        return posting.carry_out(self._session, draft, timeout_s, allow_partial)

    def store(
        self,
        profile: ProfileLike,
        data: bytes | str = b"",
        *,
        json: object = ...,
        content_type: str | None = None,
        ttl: float | None = None,
        id: str | None = None,
        context: Mapping[str, str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
    ) -> Awaitable[Receipt]:
        """Keep data under a profile, for who asks now or later; interests in it are notified."""
        return self.post(
            profile,
            "store",
            data=data,
            json=json,
            content_type=content_type,
            ttl=ttl,
            id=id,
            context=context,
            timeout=timeout,
            allow_partial=allow_partial,
        )

    def retrieve(
        self,
        profile: ProfileLike,
        *,
        ttl: float | None = None,
        id: str | None = None,
        context: Mapping[str, str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
        everywhere: bool = False,
    ) -> Answer:
        """Get the data that matches; with a `ttl` also what comes while that runs."""
        return self.post(
            profile,
            "retrieve",
            ttl=ttl,
            id=id,
            context=context,
            timeout=timeout,
            allow_partial=allow_partial,
            everywhere=everywhere,
        )

    def notify_data(
        self,
        profile: ProfileLike,
        *,
        handler: NotificationHandler | None = None,
        ttl: float | None = None,
        queue: int = QUEUE_LENGTH,
        overflow: Overflow = "error",
        keep_alive: bool = True,
        id: str | None = None,
        context: Mapping[str, str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
        everywhere: bool = False,
    ) -> Interest:
        """Be notified of matching data: what lives first, then what comes.

        `handler` (a function or a coroutine function) is called for each notification instead of
        iterating.  `queue` notifications may wait to be taken; one more is a `SlowConsumer`.
        Without `keep_alive` the interest runs out after its `ttl`."""
        draft = posting.draft_post(
            self._session,
            profile,
            "notify_data",
            ttl=ttl,
            id=id,
            context=context,
            everywhere=everywhere,
        )
        return posting.make_interest(
            self._session,
            draft,
            handler=handler,
            queue=queue,
            overflow=overflow,
            keep_alive=keep_alive,
            timeout_s=checked_timeout_s(timeout),
            allow_partial=allow_partial,
        )

    def notify_interest(
        self,
        profile: ProfileLike,
        *,
        handler: NotificationHandler | None = None,
        ttl: float | None = None,
        queue: int = QUEUE_LENGTH,
        overflow: Overflow = "error",
        keep_alive: bool = True,
        id: str | None = None,
        context: Mapping[str, str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
    ) -> Watch:
        """Be told who is interested in what you would publish; options as of `notify_data`."""
        draft = posting.draft_post(
            self._session, profile, "notify_interest", ttl=ttl, id=id, context=context
        )
        watch = posting.make_interest(
            self._session,
            draft,
            handler=handler,
            queue=queue,
            overflow=overflow,
            keep_alive=keep_alive,
            timeout_s=checked_timeout_s(timeout),
            allow_partial=allow_partial,
        )
        assert isinstance(watch, Watch)
        return watch

    def attach(
        self,
        id: str,
        *,
        handler: NotificationHandler | None = None,
        ttl: float | None = None,
        queue: int = QUEUE_LENGTH,
        overflow: Overflow = "error",
        keep_alive: bool = True,
        timeout: float = 10,
        allow_partial: bool = False,
    ) -> Awaitable[Interest]:
        """Take up what stands in the overlay by its full id, as after a restart: an interest or a
        standing retrieve comes as an `Interest`, a `notify_interest` as a `Watch`.

        What still lives comes first, also what was told before this process began, then what
        comes: at least once over a restart, exactly once here.  Its notices come to this client
        alone from now on.  It is renewed as any interest, for `ttl` seconds, the default, or what
        is left of its life, if that is more; a standing retrieve runs out as it was posted.

        Raises `Refused`: `.rule` is `unknown` where nothing lives, `deleted`, or `no interest` for
        the id of data; `ProfileError` for what is no id; and what every verb raises.  It stands as
        it was then."""
        return posting.attach(
            self._session,
            id,
            handler=handler,
            ttl=ttl,
            queue=queue,
            overflow=overflow,
            keep_alive=keep_alive,
            timeout=timeout,
            allow_partial=allow_partial,
        )

    def delete_data(
        self,
        profile: ProfileLike,
        *,
        mode: Mode = "within",
        dry_run: bool = False,
        timeout: float = 10,
        allow_partial: bool = False,
        everywhere: bool = False,
    ) -> Awaitable[Receipt]:
        """Delete your own data within the selector, or with `mode="overlap"` all that meets it;
        `receipt.matches` counts them, `dry_run` only counts."""
        draft = posting.draft_post(
            self._session, profile, "delete_data", everywhere=everywhere, mode=mode, dry_run=dry_run
        )
        return posting.carry_out(self._session, draft, checked_timeout_s(timeout), allow_partial)

    def delete_interest(
        self,
        profile: ProfileLike,
        *,
        mode: Mode = "within",
        dry_run: bool = False,
        timeout: float = 10,
        allow_partial: bool = False,
        everywhere: bool = False,
    ) -> Awaitable[Receipt]:
        """Delete your own interests and watches; options as of `delete_data`."""
        draft = posting.draft_post(
            self._session,
            profile,
            "delete_interest",
            everywhere=everywhere,
            mode=mode,
            dry_run=dry_run,
        )
        return posting.carry_out(self._session, draft, checked_timeout_s(timeout), allow_partial)

    def renew(
        self,
        id: str,
        *,
        ttl: float | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
    ) -> Awaitable[Receipt]:
        """Let what you posted live for `ttl` seconds from now (3600 if not given; an interest: as
        before); `receipt.matches` is 0 if it lives no more."""
        return posting.renew(self._session, id, ttl, timeout, allow_partial)

    def cancel(
        self, id: str, *, timeout: float = 10, allow_partial: bool = False
    ) -> Awaitable[Receipt]:
        """Delete one thing that you posted, by the id of its receipt; `receipt.matches` is 0 if it
        lives no more."""
        return posting.cancel(self._session, id, timeout, allow_partial)

    def replace(
        self,
        id: str,
        profile: ProfileLike,
        data: bytes | str = b"",
        *,
        json: object = ...,
        content_type: str | None = None,
        ttl: float | None = None,
        context: Mapping[str, str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
    ) -> Awaitable[Receipt]:
        """Move what you posted to another profile, with other data: found by the new content and
        no more by the old one, never by neither.  The receipt has the new id.  An interest keeps
        its stream."""
        return posting.replace(
            self._session,
            id,
            profile,
            data=data,
            json=json,
            content_type=content_type,
            ttl=ttl,
            context=context,
            timeout=timeout,
            allow_partial=allow_partial,
        )

    async def ring(self, *, timeout: float = 10) -> RingPicture:
        """The peers in ring order as the serving peer sees them, and what each holds.

        Raises `Timeout` and `NotConnected`."""
        return await self._session.ring(checked_timeout_s(timeout))

    async def forget(self, *lost: Interval, timeout: float = 10) -> tuple[Interval, ...]:
        """Declare the past of lost intervals of curve indexes gone: answers are complete there from
        then on.  For operators; returns what was forgotten.

        Raises `Refused` (rule `not lost`) for what has its past, `Timeout` and `NotConnected`."""
        return (await self._session.forget(lost, checked_timeout_s(timeout))).intervals
