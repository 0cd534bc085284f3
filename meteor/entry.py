"""The door for clients: what a peer does with a post of somebody who is linked to it.

Law of this file: conversations.  What is allowed and where it lives is decided in
`meteor.admission`; the router brings it there.  Nothing a client sends is believed: documents are
decoded, typed and placed again here, and everything malformed comes back as its typed refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from chord import Contact, Deferred, Handler, Runtime
from meteor import codec
from meteor.admission import KEPT_KINDS, check_document, check_timeout_s, check_ttl_ms, place
from meteor.document import PROFILES_KEPT, decode_document, unpack_profile
from meteor.errors import MeteorError, Refused, to_fault
from meteor.messages import (
    Amend,
    Document,
    Found,
    Notice,
    Post,
    PostReply,
    ResultPage,
)
from meteor.moves import region_of
from meteor.operations import FoundPage, Notices, Operation, Route, Summary
from meteor.record_id import check_stem, make_id, split_id, stem_of
from meteor.task import AMENDS, FIND
from squid import Box, KeywordSpace, Outcome, Router

MOVES_MAX = 8
"""How often a renew, a cancel or a query follows a record that was replaced: each step is one more
`replace` that the caller has not heard of."""


PAGE_WAITS_S = 0.001
"""How long a page may wait for the reply: less than anybody notices, longer than the report that
follows it needs."""


@dataclass(slots=True)
class _Collector:
    """The matches of one retrieve on their way to its client, each told once."""

    seen: dict[tuple[str, str], int] = field(default_factory=dict)
    pages: int = 0
    """How many were sent before the reply."""
    held: tuple[Found, ...] = ()
    """The page that waits for the reply, or for the next page."""

    def take(self) -> tuple[Found, ...]:
        """The page that waits, which does so no longer."""
        found, self.held = self.held, ()
        return found

    def unseen(self, summaries: Sequence[Summary]) -> set[str]:
        """The new ids of what was replaced while the query was under way, and met nowhere."""
        moved = {full_id for summary in summaries for full_id in summary.moved}
        stems = {stem for _, stem in self.seen} if moved else set()
        return {full_id for full_id in moved if stem_of(full_id) not in stems}

    def keep(self, _: Contact, frame: bytes) -> None:
        """Let the reply have what a frame brings."""
        self.held += self.news(_found_in(frame))

    def news(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        """What has not been told in this or a newer version."""
        fresh = []
        for one in found:
            key = (one.owner, stem_of(one.id))
            known = self.seen.get(key)
            if known is None or known < one.version:
                self.seen[key] = one.version
                fresh.append(one)
        return tuple(fresh)


class Entry:
    """The conversations of one peer with its clients."""

    def __init__(self, runtime: Runtime, router: Router, space: KeywordSpace) -> None:
        self._runtime, self._router, self._space = runtime, router, space
        self._curve = space.curve
        self._place = lru_cache(maxsize=PROFILES_KEPT)(self._place_anew)
        self._clients: dict[int, Contact] = {}

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {Post: self._on_post, Amend: self._on_amend, Notices: self._on_notices}

    @property
    def clients(self) -> tuple[Contact, ...]:
        """The clients that are linked here now."""
        return tuple(self._clients.values())

    def link_closed(self, contact: Contact) -> None:
        """A client's link is gone: notices for it wait at their rendezvous peers."""
        self._clients.pop(contact.id, None)

    # -- posting

    def _on_post(self, sender: Contact, message: object, _: float) -> Deferred:
        assert isinstance(message, Post)
        self._clients[sender.id] = sender
        return Deferred(self._answer(self._post(sender, message)))

    async def _answer(self, conversation: Coroutine[Any, Any, PostReply]) -> PostReply:
        try:
            return await conversation
        except MeteorError as error:
            raise to_fault(error) from error

    async def _post(self, sender: Contact, post: Post) -> PostReply:
        document = self._read(post.document)
        check_stem(post.stem)
        check_timeout_s(post.timeout_s)
        box = self._place(document.profile, document.action, post.everywhere)
        kept = document.action in KEPT_KINDS and post.ttl_s > 0
        asks = document.action == "retrieve"  # once: it lives nowhere, its id leads nowhere
        operation = Operation(
            verb=document.action,
            id=make_id(post.stem, box, self._curve) if kept or not asks else post.stem,
            version=post.version,
            owner="",
            ttl_ms=check_ttl_ms(post.ttl_s),
            document=post.document,
            route=Route(self._runtime.contact, sender.id) if kept else None,
            mode=post.mode,
            dry_run=post.dry_run,
        )
        if document.action.startswith("delete") and post.mode == "overlap" and not post.dry_run:
            return await self._delete_overlapping(sender, post, box, operation)
        return await self._run(sender, post.token, box, operation, post.timeout_s)

    @staticmethod
    def _read(blob: bytes) -> Document:
        document = decode_document(blob)
        check_document(document)
        return document

    def _place_anew(self, packed: bytes, action: str, everywhere: bool) -> Box:
        profile = unpack_profile(packed).typed(self._space)
        return place(profile, action, self._space, everywhere=everywhere)

    async def _run(
        self, sender: Contact, token: int, box: Box, operation: Operation, timeout_s: float
    ) -> PostReply:
        collector = _Collector()

        def on_frame(_: Contact, frame: bytes) -> None:
            fresh = collector.news(_found_in(frame))
            if not fresh:
                return
            if collector.held:
                self._send_page(sender, token, collector)
            else:
                self._runtime.spawn(self._send_later(sender, token, collector))
            collector.held = fresh

        body = codec.encode(operation)
        outcome, summaries = await self._ask(
            box, body, timeout_s, collector, on_frame,
            asks=operation.verb == "retrieve" and operation.ttl_ms == 0,
        )  # fmt: skip
        _raise_refusals(operation, summaries)
        finds = operation.verb == "retrieve" or operation.dry_run
        return PostReply(
            id=operation.id,
            complete=outcome.complete,
            missing=outcome.missing,
            matches=len(collector.seen) if finds else sum(s.matches for s in summaries),
            peers=outcome.peers,
            pages=collector.pages,
            hops=outcome.hops,
            ttl_s=operation.ttl_ms / 1000,
            found=collector.take(),
        )

    async def _ask(
        self,
        box: Box,
        body: bytes,
        timeout_s: float,
        collector: _Collector,
        on_frame: Callable[[Contact, bytes], None],
        *,
        asks: bool,
    ) -> tuple[Outcome, list[Summary]]:
        """Ask the whole region, and once more where something went while it was being asked."""
        deadline = self._runtime.now() + timeout_s
        whole = await self._router.disseminate(
            box, body, timeout_s=timeout_s, on_frame=on_frame, asks=asks
        )
        summaries = _summaries(whole)
        asked: set[str] = set()
        for _ in range(MOVES_MAX):
            moved = collector.unseen(summaries) - asked
            again = region_of(sorted(moved), box, self._curve)
            if again is None:
                break
            asked |= moved
            left_s = max(deadline - self._runtime.now(), 0.0)
            outcome = await self._router.disseminate(
                again, body, timeout_s=left_s, on_frame=on_frame, asks=asks
            )
            whole = replace(
                whole,
                complete=whole.complete and outcome.complete,
                missing=whole.missing + outcome.missing,
            )
            summaries += _summaries(outcome)
        return whole, summaries

    async def _send_later(self, client: Contact, token: int, collector: _Collector) -> None:
        """A page waits a moment for the reply, so that both travel as one."""
        await self._runtime.sleep(PAGE_WAITS_S)
        self._send_page(client, token, collector)

    def _send_page(self, client: Contact, token: int, collector: _Collector) -> None:
        found = collector.take()
        if found:
            self._tell(client, ResultPage(token, collector.pages, found))
            collector.pages += 1

    async def _delete_overlapping(
        self, sender: Contact, post: Post, box: Box, operation: Operation
    ) -> PostReply:
        """Find what overlaps, then cancel each by its id: it may live beyond the selector's box."""
        ids: dict[str, int] = {}

        def on_frame(_: Contact, frame: bytes) -> None:
            ids.update((one.id, one.version) for one in _found_in(frame))

        deadline = self._runtime.now() + post.timeout_s
        body = codec.encode(replace(operation, dry_run=True))
        outcome = await self._router.disseminate(
            box, body, timeout_s=post.timeout_s, on_frame=on_frame
        )
        complete, missing, removed = outcome.complete, outcome.missing, 0
        for full_id in sorted(ids):
            left_s = deadline - self._runtime.now()
            amend = Amend(post.token, "cancel", full_id, ids[full_id], 0.0, left_s)
            reply = await self._amend_once(sender, amend)
            complete = complete and reply.complete
            missing += reply.missing
            removed += reply.matches
        return PostReply(operation.id, complete, missing, removed, outcome.peers)

    # -- amending

    def _on_amend(self, sender: Contact, message: object, _: float) -> Deferred:
        assert isinstance(message, Amend)
        self._clients[sender.id] = sender
        return Deferred(self._answer(self._amend(sender, message)))

    async def _amend(self, sender: Contact, amend: Amend) -> PostReply:
        if amend.verb == "replace":
            return await self._replace(sender, amend)
        if amend.verb not in AMENDS:
            raise MeteorError(f"{amend.verb!r} is none of renew, cancel, replace, find")
        check_timeout_s(amend.timeout_s)
        return await self._amend_once(sender, amend)

    async def _amend_once(self, sender: Contact, amend: Amend) -> PostReply:
        """Renew, cancel or find by id, following a record that was replaced to its new id."""
        full_id, collector = amend.id, _Collector()
        for _ in range(MOVES_MAX):
            _, box = split_id(full_id, self._curve)
            operation = Operation(
                verb=amend.verb,
                id=full_id,
                version=amend.version,
                owner="",
                ttl_ms=check_ttl_ms(amend.ttl_s),
                route=Route(self._runtime.contact, sender.id),
            )
            body = codec.encode(operation)
            outcome = await self._router.disseminate(
                box, body, timeout_s=amend.timeout_s, on_frame=collector.keep,
                asks=amend.verb == FIND,
            )  # fmt: skip
            summaries = _summaries(outcome)
            _raise_refusals(operation, summaries)
            moved = {summary.moved_to for summary in summaries} - {""}
            if not moved:
                break
            full_id = max(moved)
        return PostReply(
            id=full_id,
            complete=outcome.complete,
            missing=outcome.missing,
            matches=sum(summary.matches for summary in summaries),
            peers=outcome.peers,
            hops=outcome.hops,
            ttl_s=amend.ttl_s,
            found=collector.take(),
        )

    async def _replace(self, sender: Contact, amend: Amend) -> PostReply:
        """The new region first, then the old one: found by one of them at any moment.

        Raises `Refused` when the old one turns out to be deleted, or newer: the new one goes."""
        check_timeout_s(amend.timeout_s)
        stem, old_box = split_id(amend.id, self._curve)
        document = self._read(amend.document)
        box = self._place(document.profile, document.action, False)
        operation = Operation(
            verb=document.action,
            id=make_id(stem, box, self._curve),
            version=amend.version,
            owner="",
            ttl_ms=check_ttl_ms(amend.ttl_s),
            document=amend.document,
            route=Route(self._runtime.contact, sender.id),
        )
        deadline = self._runtime.now() + amend.timeout_s
        reply = await self._run(sender, amend.token, box, operation, amend.timeout_s)
        if operation.id == amend.id:
            return reply
        leave = replace(operation, verb="cancel", id=amend.id, moved_to=operation.id, document=b"")
        left_s = max(deadline - self._runtime.now(), 0.0)
        outcome = await self._router.disseminate(old_box, codec.encode(leave), timeout_s=left_s)
        summaries = _summaries(outcome)
        refused = {summary.refused for summary in summaries}
        left_s = max(deadline - self._runtime.now(), 0.0)
        if "older" in refused:  # without a tombstone: the newer one may come here yet
            back = replace(leave, id=operation.id, moved_to=amend.id, version=amend.version + 1)
            await self._router.disseminate(box, codec.encode(back), timeout_s=left_s)
        elif "deleted" in refused:
            await self._amend_once(
                sender, Amend(amend.token, "cancel", operation.id, amend.version, 0.0, left_s)
            )
        _raise_refusals(operation, summaries)
        return replace(
            reply,
            complete=reply.complete and outcome.complete,
            missing=reply.missing + outcome.missing,
        )

    # -- notices

    def _on_notices(self, _: Contact, message: object, __: float) -> None:
        assert isinstance(message, Notices)
        client = self._clients.get(message.client)
        if client is not None:
            for notice in message.notices:
                self._tell(client, notice)

    def _tell(self, client: Contact, message: ResultPage | Notice) -> None:
        self._runtime.send(client, message)


def _summaries(outcome: Outcome) -> list[Summary]:
    decoded = (_decoded(body) for _, body in outcome.summaries if body)
    return [summary for summary in decoded if isinstance(summary, Summary)]


def _found_in(frame: bytes) -> tuple[Found, ...]:
    """The matches in a result frame; none in what is no page of ours."""
    page = _decoded(frame)
    return page.found if isinstance(page, FoundPage) else ()


def _decoded(body: bytes) -> object:
    try:
        return codec.decode(body)
    except MeteorError:
        return None


def _raise_refusals(operation: Operation, summaries: list[Summary]) -> None:
    for summary in summaries:
        if summary.refused == "deleted":
            raise Refused(
                f"{operation.verb} of {operation.id}: it was deleted, and a delete wins over every "
                "version; post under another id",
                "deleted",
            )
        if summary.refused == "older":
            raise Refused(
                f"{operation.verb} of {operation.id}: a newer version is kept than "
                f"{operation.version}, by another client or a clock ahead of yours; post again",
                "older",
            )
        if summary.refused == "no interest":
            raise Refused(
                f"{operation.verb} of {operation.id}: that is data; give the id of an interest, a "
                "watch or a standing retrieve",
                "no interest",
            )
