"""The door for clients: what a peer does with a post of somebody who is linked to it.

Law of this file: conversations.  What is allowed and where it lives is decided in
`meteor.admission`; the router brings it there.  Nothing a client sends is believed: documents are
decoded, typed and placed again here, and everything malformed comes back as its typed refusal.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from functools import lru_cache
from typing import Any

from chord import Contact, Deferred, Handler, Runtime
from meteor.admission import (
    ACTIONS,
    KEPT_KINDS,
    check_timeout_s,
    check_ttl_ms,
    place,
    read_document,
)
from meteor.amending import Amending
from meteor.asking import Asking
from meteor.document import PROFILES_KEPT, unpack_profile
from meteor.errors import MeteorError, to_fault
from meteor.messages import Amend, Post, PostReply
from meteor.operations import Notices, Operation, Route
from meteor.performing import Performing
from meteor.record_id import check_stem, make_id
from meteor.security.gatekeeper import Admitted, Gatekeeper
from meteor.tally import Tally
from squid import Box, KeywordSpace, Router


class Entry:
    """The conversations of one peer with its clients."""

    def __init__(
        self,
        runtime: Runtime,
        router: Router,
        space: KeywordSpace,
        performing: Performing,
        gatekeeper: Gatekeeper,
    ) -> None:
        self._runtime, self._space, self._curve = runtime, space, space.curve
        self._gatekeeper = gatekeeper
        self._place = lru_cache(maxsize=PROFILES_KEPT)(self._place_anew)
        self._asking = Asking(runtime, router, space.curve)
        self._amending = Amending(
            runtime, router, space.curve, self._asking, self._place, gatekeeper
        )
        self._performing = performing
        self._clients: dict[int, Contact] = {}
        self.tally = Tally()

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
        return Deferred(self._answer(self._post(sender, message), message))

    async def _answer(
        self, conversation: Coroutine[Any, Any, PostReply], request: Post | Amend
    ) -> PostReply:
        try:
            reply = await conversation
        except MeteorError as error:
            self.tally.failed(request, error)
            raise to_fault(error) from error
        self.tally.answered(request, reply)
        return reply

    async def _post(self, sender: Contact, post: Post) -> PostReply:
        document = read_document(post.document)
        check_stem(post.stem)
        check_timeout_s(post.timeout_s)
        box = self._place(document.profile, document.action, post.everywhere)
        admitted = self._gatekeeper.admit_post(post, document, self._runtime.now())
        owner = admitted.actor.owner
        if document.action not in ACTIONS:
            return await self._performing.run(sender, post, document.action, box, owner)
        kept = document.action in KEPT_KINDS and post.ttl_s > 0
        asks = document.action == "retrieve"  # once: it lives nowhere, its id leads nowhere
        operation = Operation(
            verb=document.action,
            id=make_id(post.stem, box, self._curve) if kept or not asks else post.stem,
            version=post.version,
            owner=owner,
            ttl_ms=check_ttl_ms(post.ttl_s),
            document=post.document,
            route=Route(self._runtime.contact, sender.id) if kept else None,
            mode=post.mode,
            dry_run=post.dry_run,
            visible_to=document.visible_to,
            limit=admitted.limit,
            issued_ms=admitted.issued_ms,
        )
        if document.action.startswith("delete") and not post.dry_run:
            return await self._delete(sender, post, box, operation, admitted)
        with self._gatekeeper.charged(admitted, post.stem, post.ttl_s, self._runtime.now()):
            return await self._asking.run(sender, post.token, box, operation, post.timeout_s)

    async def _delete(
        self, sender: Contact, post: Post, box: Box, operation: Operation, admitted: Admitted
    ) -> PostReply:
        if post.mode == "overlap":
            reply = await self._amending.delete_overlapping(sender, post, box, operation, admitted)
        else:
            reply = await self._asking.run(sender, post.token, box, operation, post.timeout_s)
        self._gatekeeper.deleted(admitted, post.mode)
        return reply

    def _place_anew(self, packed: bytes, action: str, everywhere: bool) -> Box:
        profile = unpack_profile(packed).typed(self._space)
        return place(profile, action, self._space, everywhere=everywhere)

    # -- amending

    def _on_amend(self, sender: Contact, message: object, _: float) -> Deferred:
        assert isinstance(message, Amend)
        self._clients[sender.id] = sender
        return Deferred(self._answer(self._amending.amend(sender, message), message))

    # -- notices

    def _on_notices(self, _: Contact, message: object, __: float) -> None:
        assert isinstance(message, Notices)
        client = self._clients.get(message.client)
        if client is not None:
            for notice in message.notices:
                self._runtime.send(client, notice)
