"""The verbs that are told later: interests, watches, and taking either up again.

Law of this file: each returns a stream that is posted when it is awaited or entered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence

from meteor.client import posting
from meteor.client.draft import ProfileLike
from meteor.client.interest import Interest, NotificationHandler
from meteor.client.mailbox import Overflow
from meteor.client.poster import QUEUE_LENGTH, Poster
from meteor.client.watch import Watch
from meteor.lifetimes import checked_timeout_s


class InterestVerbs(Poster):
    """Being notified, for as long as an interest lives."""

    def notify_data(
        self,
        profile: ProfileLike,
        *,
        handler: NotificationHandler | None = None,
        ttl: float | None = None,
        queue: int = QUEUE_LENGTH,
        overflow: Overflow = "error",
        keep_alive: bool = True,
        once: bool = False,
        with_data: bool = True,
        id: str | None = None,
        context: Mapping[str, str] | None = None,
        visible_to: Sequence[str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
        everywhere: bool = False,
    ) -> Interest:
        """Be notified of matching data: what lives first, then what comes.

        `handler` (a function or a coroutine function) is called for each notification instead of
        iterating.  `queue` notifications may wait to be taken; one more is a `SlowConsumer`, or
        with `overflow="drop_oldest"` the oldest goes and `interest.dropped` counts.  Without
        `keep_alive` the interest runs out after its `ttl`.  `once` tells that there is at least
        one match, then the interest is over; without `with_data` notifications come without
        payload: `retrieve` what you want to have."""
        draft = posting.draft_post(
            self._session,
            profile,
            "notify_data",
            ttl=ttl,
            id=id,
            context=context,
            visible_to=visible_to,
            everywhere=everywhere,
            once=once,
            with_data=with_data,
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
        once: bool = False,
        with_data: bool = True,
        id: str | None = None,
        context: Mapping[str, str] | None = None,
        visible_to: Sequence[str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
    ) -> Watch:
        """Be told who is interested in what you would publish; options as of `notify_data`."""
        draft = posting.draft_post(
            self._session,
            profile,
            "notify_interest",
            ttl=ttl,
            id=id,
            context=context,
            visible_to=visible_to,
            once=once,
            with_data=with_data,
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
