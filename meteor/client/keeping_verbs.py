"""The verbs about what one has posted: delete it, renew it, move it.

Law of this file: they change nobody else's records.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence

from meteor.client import posting
from meteor.client.draft import ProfileLike
from meteor.client.poster import Mode, Poster
from meteor.lifetimes import checked_timeout_s
from meteor.receipt import Receipt


class KeepingVerbs(Poster):
    """Looking after what one has posted."""

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
        before); `receipt.matches` is 0 if it lives no more.  Where it lay at several peers and has
        run out at one of them, that is missing, as it may be found by a part of it alone: store it
        again."""
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
        visible_to: Sequence[str] | None = None,
        timeout: float = 10,
        allow_partial: bool = False,
    ) -> Awaitable[Receipt]:
        """Move what you posted to another profile, with other data: found by the new content and
        no more by the old one, never by neither.  The receipt has the new id.  An interest keeps
        its stream, and who may see it; of data say `visible_to` again."""
        return posting.replace(
            self._session,
            id,
            profile,
            data=data,
            json=json,
            content_type=content_type,
            ttl=ttl,
            context=context,
            visible_to=visible_to,
            timeout=timeout,
            allow_partial=allow_partial,
        )
