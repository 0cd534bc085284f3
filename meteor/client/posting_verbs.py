"""The verbs that post by content: the one primitive, and what stores and asks.

Law of this file: `post` is the one primitive, symmetric in who asks and who offers; every other
verb is a line that says its action.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Literal, Unpack, overload

from meteor.client import posting
from meteor.client.answer import Answer
from meteor.client.draft import ProfileLike
from meteor.client.interest import Interest
from meteor.client.mailbox import Overflow
from meteor.client.poster import QUEUE_LENGTH, Poster, PostOptions
from meteor.client.watch import Watch
from meteor.lifetimes import checked_timeout_s
from meteor.receipt import Receipt
from meteor.values import Result


class PostingVerbs(Poster):
    """Posting, storing and retrieving by content."""

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
    ) -> Awaitable[Receipt] | Answer | Answer[Result] | Interest: ...
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
        visible_to: Sequence[str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
        everywhere: bool = False,
    ) -> Awaitable[Receipt] | Answer | Answer[Result] | Interest:
        """Post a message by content: the symmetric primitive.

        `data` is bytes or text, `json` an object in its stead, `content_type` what they are (at
        most 1024 characters).  `ttl` is how long it lives (data
        3600 s, interests and watches 300 s and renewed, a retrieve 0; at most 30 days), `id` a
        name of your own (1 to 64 letters, digits, `_`, `-`; posted again in the same place it
        replaces, `replace` moves it), `context` your situation, `visible_to` the keys and groups
        that may know of it besides you, `everywhere` allows all peers.

        Gives what the action calls for: a receipt to await, an `Answer`, `Interest` or `Watch`; an
        `Answer` also of an application's action, see `perform`.  Raises `UnknownAction`."""
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
            visible_to=visible_to,
            everywhere=everywhere,
        )
        return posting.begin(self._session, draft, checked_timeout_s(timeout), allow_partial)

    def perform(
        self,
        action: str,
        profile: ProfileLike,
        data: bytes | str = b"",
        *,
        json: object = ...,
        content_type: str | None = None,
        context: Mapping[str, str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
        everywhere: bool = False,
    ) -> Answer[Result]:
        """Run an application's action (see `Peer.action`) once at each peer that answers for the
        selector, over the matches there; results come as they are made.

        It is never run twice: when the link breaks meanwhile, `NotConnected` says so.  A peer that
        has no such action, fails or takes too long counts as missing; where none has it, raises
        `UnknownAction`."""
        posting.check_application_action(action)
        draft = posting.draft_post(
            self._session,
            profile,
            action,
            data=data,
            json=json,
            content_type=content_type,
            context=context,
            everywhere=everywhere,
        )
        return posting.make_results(
            self._session,
            draft,
            timeout_s=checked_timeout_s(timeout),
            allow_partial=allow_partial,
        )

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
        visible_to: Sequence[str] | None = None,
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
            visible_to=visible_to,
            timeout=timeout,
            allow_partial=allow_partial,
        )

    def retrieve(
        self,
        profile: ProfileLike,
        *,
        ttl: float | None = None,
        queue: int = QUEUE_LENGTH,
        overflow: Overflow = "error",
        id: str | None = None,
        context: Mapping[str, str] | None = None,
        visible_to: Sequence[str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
        everywhere: bool = False,
    ) -> Answer:
        """Get the data that matches; with a `ttl` also what comes while that runs, of which
        `queue` may wait to be taken: see `notify_data`."""
        draft = posting.draft_post(
            self._session,
            profile,
            "retrieve",
            ttl=ttl,
            id=id,
            context=context,
            visible_to=visible_to,
            everywhere=everywhere,
        )
        return posting.make_answer(
            self._session,
            draft,
            queue=queue,
            overflow=overflow,
            timeout_s=checked_timeout_s(timeout),
            allow_partial=allow_partial,
        )
