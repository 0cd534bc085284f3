"""The door for clients: what a peer does with a post of somebody who is linked to it.

Law of this file: conversations.  What is allowed and where it lives is decided in
`meteor.admission`; the router brings it there.  Nothing a client sends is believed: documents are
decoded, typed and placed again here, and everything malformed comes back as its typed refusal.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from chord import (
    Busy,
    Contact,
    Deferred,
    Fault,
    Handler,
    LinkClosed,
    RemoteFault,
    RequestTimeout,
    Runtime,
)
from meteor.admission import (
    ACTIONS,
    KEPT_KINDS,
    check_manner,
    check_timeout_s,
    check_ttl_ms,
    check_version,
    place_packed,
    read_document,
)
from meteor.errors import MeteorError, to_fault
from meteor.keeping.expiry_clock import HELD_S, left_ms
from meteor.rendezvous.amending import Amending
from meteor.rendezvous.asking import Asking
from meteor.rendezvous.fair_queue import FairQueue
from meteor.rendezvous.performing import Performing
from meteor.rendezvous.reading import reading
from meteor.rendezvous.tally import Tally, action_of, counted_as
from meteor.rendezvous.vouching import Vouching
from meteor.security.gatekeeper import Admitted, Gatekeeper
from meteor.wire.messages import (
    LAIN,
    WAY_ROUND,
    Amend,
    Document,
    IsWanted,
    Post,
    PostReply,
    Vouch,
    Vouched,
    Wants,
)
from meteor.wire.operations import Notices, Operation, Route
from meteor.wire.record_id import check_stem, make_id
from squid import Box, KeywordSpace, LimitExceeded, Router, Wanted

DOOR: Final = "door"
TURNS_A_ROUND: Final = 4
"""A request takes some five turns of its peer: so one or two of another client's are in hand in
every turn that one has to wait for.  With 2 a flood made another client's wait 4.1 times as long,
with 4 2.6 times, with 6 2.2; what the flooding client got was the same."""


LOOKED_AT_ONCE: Final = 64
"""Records that a delete may have taken, looked at in one turn for the quota that they count for:
some 20 microseconds each."""
WANTED_S: Final = 1.0
WANTED_PAUSE_S: Final = 0.1
"""How long a client is waited for that is asked whether it still wants what it posted, and the
pause until it is asked again."""


class Entry:
    """The conversations of one peer with its clients."""

    def __init__(
        self,
        runtime: Runtime,
        router: Router,
        space: KeywordSpace,
        performing: Performing,
        gatekeeper: Gatekeeper,
        vouching: Vouching,
    ) -> None:
        self._runtime, self._space, self._curve = runtime, space, space.curve
        self._gatekeeper, self.vouching = gatekeeper, vouching
        self._asking = Asking(runtime, router, space.curve, gatekeeper)
        self._amending = Amending(
            runtime, router, space.curve, self._asking, self._place, gatekeeper
        )
        self.bury, self.finish = self._amending.bury, self._amending.finish
        self.order = self._amending.order
        self._performing = performing
        self._clients: dict[int, Contact] = {}
        self._door = FairQueue()
        self._goes_round = False
        self.tally = Tally()

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {
            Post: self._on_post,
            Amend: self._on_amend,
            Vouch: self._on_vouch,
            Notices: self._on_notices,
        }

    @property
    def clients(self) -> tuple[Contact, ...]:
        """The clients that are linked here now."""
        return tuple(self._clients.values())

    def link_closed(self, contact: Contact) -> None:
        """A client's link is gone: notices for it wait at their rendezvous peers."""
        self._clients.pop(contact.id, None)

    def _wanted(self, client: Contact, post: Post) -> Wanted | None:
        """Whether a client still waits here for what it posted: one that this peer is silent to has
        it done by another one.  A late attempt of ours would delete what it posts then, or keep
        again what ran out meanwhile, or was taken back.  Who embeds this peer asks no other one."""
        if client.id == self._runtime.contact.id:
            return None
        deadline = self._runtime.now() + post.timeout_s

        async def is_wanted() -> bool:
            while self._runtime.now() < deadline:
                if not post.straight and client.id not in self._clients:
                    break
                try:
                    answer = await self._runtime.call(client, IsWanted(post.token), WANTED_S)
                except (RequestTimeout, Busy):
                    await self._runtime.sleep(WANTED_PAUSE_S)
                except LinkClosed:
                    return False
                except RemoteFault:
                    return True  # of an earlier version
                else:
                    return not isinstance(answer, Wants) or answer.so
            return False

        return is_wanted

    # -- posting

    def _on_post(self, sender: Contact, message: object, _: float) -> Deferred:
        assert isinstance(message, Post)
        if not message.straight:
            self._clients[sender.id] = sender
        elif not self._gatekeeper.is_open:
            raise Fault(WAY_ROUND, "this peer has a policy: what its client's own peer says counts")
        if self._late_s(sender) >= HELD_S and _deletes(message):
            raise _to_be_asked_again()
        late_s = self._runtime.request_late_s()
        with suppress(LimitExceeded):  # which is refused in its turn
            _left_ms(message, late_s)
        return self._in_turn(sender, message, lambda: self._post(sender, message, late_s))

    def _on_vouch(self, sender: Contact, message: object, _: float) -> Deferred:
        assert isinstance(message, Vouch)
        return Deferred(self._vouch(sender, message.points))

    async def _vouch(self, sender: Contact, points: Sequence[int]) -> Vouched:
        """In turn, as everything that makes others work."""
        try:
            async with self.turn(sender.id, len(points), WANTED_S):
                return await self.vouching.vouch(points)
        except Busy as error:
            raise to_fault(error) from error

    def _late_s(self, sender: Contact) -> float:
        """For how long a request may have lain, on its way or as this peer was held: what a client
        stores, deletes, or changes by id, another peer may have done for it since.  Who embeds this
        peer asks no other one."""
        is_own = sender.id == self._runtime.contact.id
        return 0.0 if is_own else max(self._runtime.lateness(), self._runtime.request_late_s())

    def _in_turn(
        self,
        sender: Contact,
        request: Post | Amend,
        conversation: Callable[[], Coroutine[Any, Any, PostReply]],
    ) -> Deferred:
        """Answer when it is this client's turn; who is embedded in this peer needs none here."""
        if sender.id == self._runtime.contact.id:
            return Deferred(self._answer(conversation(), request))
        try:
            ticket, turn = self._arrive(sender.id, len(request.document))
        except Busy as error:
            self.tally.failed(request, error)
            raise to_fault(error) from error
        return Deferred(self._wait_and_answer(sender, request, conversation, ticket, turn))

    def _arrive(self, client: int, size: int) -> tuple[int, Awaitable[object] | None]:
        """A ticket, and its turn where that is not now; raises `Busy`."""
        ticket, begins = self._door.arrive(client, size, self._runtime.now())
        # expected from now on: its turn may come before the conversation takes its first step
        turn = None if begins else self._runtime.expect((DOOR, ticket), None)
        self._go_round()
        return ticket, turn

    @asynccontextmanager
    async def turn(self, caller: int, size: int, timeout_s: float) -> AsyncIterator[None]:
        """The turn of somebody who asks over this peer's own link, as HTTP does: callers wait as
        clients do, each for its own.  Raises `Busy`."""
        ticket, turn = self._arrive(caller, size)
        try:
            await self._wait(turn, timeout_s)
            yield
        finally:
            self._leave(caller, ticket)

    async def _wait(self, turn: Awaitable[object] | None, timeout_s: float) -> None:
        # It may have lain here for as long as this process was held.
        arrived_s = self._runtime.now() - self._runtime.lateness()
        if turn is not None:
            await turn
        if self._runtime.now() - arrived_s > timeout_s:
            raise Busy("the time was up before it was this client's turn")

    def _leave(self, client: int, ticket: int) -> None:
        self._let_in(self._door.leave(client, ticket, self._runtime.now()))
        self._go_round()

    def _go_round(self) -> None:
        if not self._goes_round and self._door.awaits_a_round:
            self._goes_round = True
            self._runtime.spawn(self._rounds())

    async def _rounds(self) -> None:
        """Let every client begin its next request, round after round."""
        while self._door.awaits_a_round:
            for _ in range(TURNS_A_ROUND):
                await self._runtime.sleep(0.0)
            self._let_in(self._door.next_round())
        self._goes_round = False

    def _let_in(self, tickets: list[int]) -> None:
        for ticket in tickets:
            self._runtime.deliver((DOOR, ticket), None)

    async def _wait_and_answer(
        self,
        sender: Contact,
        request: Post | Amend,
        conversation: Callable[[], Coroutine[Any, Any, PostReply]],
        ticket: int,
        turn: Awaitable[object] | None,
    ) -> PostReply:
        try:
            try:
                await self._wait(turn, request.timeout_s)
            except Busy as error:
                raise to_fault(error) from error
            return await self._answer(conversation(), request)
        finally:
            self._leave(sender.id, ticket)

    async def _answer(
        self, conversation: Coroutine[Any, Any, PostReply], request: Post | Amend
    ) -> PostReply:
        try:
            return await conversation
        except Fault:
            self.tally.unread()
            raise
        except MeteorError as error:
            self.tally.failed(request, error)
            raise to_fault(error) from error

    async def _post(self, sender: Contact, post: Post, late_s: float = 0.0) -> PostReply:
        """Of what is kept so much of its time is over that it spent on its way."""
        with reading(sender):
            document = read_document(post.document)
        reply = await self._carry_out(sender, post, document, late_s)
        self.tally.answered(counted_as(document.action), reply)
        return reply

    async def _carry_out(
        self, sender: Contact, post: Post, document: Document, late_s: float
    ) -> PostReply:
        with reading(sender):
            check_stem(post.stem)
            check_timeout_s(post.timeout_s)
            check_version(post.version)
            check_manner(post, document.action)
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
            ttl_ms=_left_ms(post, late_s),
            document=post.document,
            route=self._route(sender, post) if kept else None,
            mode=post.mode,
            dry_run=post.dry_run,
            visible_to=document.visible_to,
            limit=admitted.limit,
            issued_ms=admitted.issued_ms,
        )
        if document.action.startswith("delete") and not post.dry_run:
            return await self._delete(sender, post, box, operation, admitted)
        answered, now = list[Contact](), self._runtime.now()
        with self._gatekeeper.charged(
            admitted, operation.id, post.version, post.ttl_s, now
        ) as note:
            wanted = self._wanted(sender, post) if kept else None
            reply = await self._asking.run(
                sender, post.token, box, operation, post.timeout_s, wanted, answered=answered
            )
            note(reply)
        return self.vouching.with_owner(post, reply, box, answered)

    def _route(self, sender: Contact, post: Post) -> Route:
        """Whom to tell of what is posted."""
        return Route(self._runtime.contact, sender.id, post.token, post.since, post.again)

    async def _delete(
        self, sender: Contact, post: Post, box: Box, operation: Operation, admitted: Admitted
    ) -> PostReply:
        if post.mode == "overlap":
            return await self._amending.delete_overlapping(
                sender, post, box, operation, admitted, self._wanted(sender, post)
            )
        counted = self._gatekeeper.counted_of(admitted)
        reply = await self._asking.run(
            sender, post.token, box, operation, post.timeout_s, self._wanted(sender, post)
        )
        for number, _ in enumerate(self._gatekeeper.deleted(admitted, reply, counted), 1):
            if number % LOOKED_AT_ONCE == 0:
                await self._runtime.sleep(0.0)
        return reply

    def _place(self, packed: bytes, action: str, everywhere: bool) -> Box:
        return place_packed(packed, action, self._space, everywhere=everywhere)

    # -- amending

    def _on_amend(self, sender: Contact, message: object, _: float) -> Deferred:
        assert isinstance(message, Amend)
        self._clients[sender.id] = sender
        if self._late_s(sender) >= HELD_S:
            raise _to_be_asked_again()
        return self._in_turn(sender, message, lambda: self._amend(sender, message))

    async def _amend(self, sender: Contact, amend: Amend) -> PostReply:
        reply = await self._amending.amend(sender, amend)
        self.tally.answered(action_of(amend), reply)
        return reply

    # -- notices

    def _on_notices(self, _: Contact, message: object, __: float) -> None:
        assert isinstance(message, Notices)
        self.pass_on(message)

    def pass_on(self, letter: Notices) -> None:
        """Give a client of this peer what it is told."""
        client = self._clients.get(letter.client)
        if client is not None:
            for one in letter.told or letter.notices:
                self._runtime.send(client, one)


def _to_be_asked_again() -> Fault:
    return Fault(LAIN, "the request lay for long, and may be an old one: ask again")


def _left_ms(post: Post, late_s: float) -> int:
    """How long it is to live, of what it asked for as it was sent; raises `LimitExceeded`, and
    `Fault` where nothing is left of that."""
    left = left_ms(check_ttl_ms(post.ttl_s), late_s)
    if left is None:
        raise _to_be_asked_again()
    return left


def _deletes(post: Post) -> bool:
    with suppress(MeteorError, Fault):  # what cannot be read is refused in its turn
        return read_document(post.document).action.startswith("delete")
    return False
