"""A rendezvous peer: ring, router, shelf and entry put together over any runtime.

Law of this file: assembly and the order of life.  No asyncio, no sockets, no clock of its own: the
same peer runs on sockets (`meteor.Peer`) and in virtual time (`sim.Overlay`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from arms import Rendezvous, Store
from chord import (
    Arc,
    ChordConfig,
    ChordNode,
    Contact,
    Fault,
    Handler,
    RelocationConfig,
    Runtime,
)
from meteor.copies.comparing import HoldingsSource
from meteor.copies.config import CopiesConfig, check_copies, check_copies_min
from meteor.copies.copy_keeper import CopyKeeper
from meteor.copies.entropy import AntiEntropy
from meteor.copies.few_holders import FewHolders
from meteor.copies.forgetting import Forgetting
from meteor.copies.handoff import Handoff
from meteor.copies.lease import Lease
from meteor.copies.other_places import tell_what_never_began
from meteor.copies.paying import Paying
from meteor.copies.replication import Replication
from meteor.copies.returning import Returning
from meteor.copies.tending import Tending
from meteor.copies.word import Word
from meteor.errors import MeteorError, to_fault
from meteor.journal.journal import Journal
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.load import placing_of
from meteor.keeping.placement import Admission
from meteor.keeping.shelf import Shelf
from meteor.keeping.shelf_journal import Contents, Restored
from meteor.keeping.views import Views
from meteor.rendezvous.application_actions import ApplicationActions
from meteor.rendezvous.census import Census
from meteor.rendezvous.company import Find, meet_all, seek_company
from meteor.rendezvous.entry import Entry
from meteor.rendezvous.finishing import Finishing
from meteor.rendezvous.introspection import Introspection
from meteor.rendezvous.leaving import word_of
from meteor.rendezvous.membership import Membership
from meteor.rendezvous.monitor import Monitor
from meteor.rendezvous.performing import Performing
from meteor.rendezvous.point import RendezvousPoint
from meteor.rendezvous.ring_note import RingNote
from meteor.rendezvous.telling import Telling
from meteor.rendezvous.vouching import Vouching
from meteor.security.gatekeeper import Gatekeeper
from meteor.security.policy import OPEN, Policy
from meteor.wire.client_messages import check_sender
from meteor.wire.copy_messages import Begun
from meteor.wire.messages import Farewell, RingPicture
from meteor.wire.operations import Notices, State
from squid import KeywordSpace, Router, RouterConfig

SWEEP_S = 0.5
"""How often what has expired is given back, and unacknowledged notices are looked at.  An expired
profile never matches, swept or not; a watch hears of it this late at most."""


class RendezvousPeer:
    """One peer's protocol side."""

    def __init__(
        self,
        runtime: Runtime,
        space: KeywordSpace,
        journal: Journal,
        *,
        wall_clock: Callable[[], float],
        steady_clock: Callable[[], float] | None = None,
        config: ChordConfig | None = None,
        copies: int = 3,
        copies_min: int | None = None,
        routing: RouterConfig | None = None,
        actions: ApplicationActions | None = None,
        policy: Policy = OPEN,
        born: int = 0,
    ) -> None:
        self._runtime, self.space = runtime, space
        self._config = replace(config or ChordConfig.local(), realm=space.digest)
        least = check_copies_min(copies_min, check_copies(copies, self._config))
        self.copies_config = CopiesConfig.beside(self._config, copies, least)
        self._ready, ring = False, self.copies_config.in_touch(self._config)
        self.restored: Restored | None = None
        self._foreign: dict[type, Handler] = {}
        self._foreign_link_closed: Callable[[Contact], None] = _nobody
        self._ring_note = RingNote(journal, runtime)
        self.node = ChordNode(runtime.contact, runtime, ring, self, self._ring_note.keep)
        store = Store()
        rendezvous = Rendezvous(store, runtime.random)
        self.holdings, self.views = Holdings(), Views.of(runtime.contact, born)
        self.shelf = Shelf(store, journal, space.curve, runtime.now, wall_clock, steady_clock)
        self.gatekeeper = Gatekeeper(space, wall_clock, policy)
        """Who may do what here."""
        self.shelf.sees = self.gatekeeper.sees
        self.telling = Telling(runtime, self.shelf, self.holdings, rendezvous)
        self.monitor = Monitor()
        """Tells whoever looks on what happens at this peer."""
        self.telling.on_tell = self.monitor.pair
        self._assemble_copies()
        self.point = RendezvousPoint(
            runtime, self.holdings, self.shelf, rendezvous, self.telling, self._handoff.settle,
            space.curve, self.replication, self._lease, self.views, self._handoff.step_up,
        )  # fmt: skip
        bits = self._config.bits
        self.router = Router(self.node, runtime, space, self.point, id_bits=bits, config=routing)
        self.actions = ApplicationActions() if actions is None else actions
        self._assemble_entry()
        self.shelf.others = self._ring_note.entries
        self.telling.here = self._tell_here
        self.placing = placing_of(self.node, runtime, self._config, self.shelf, space.curve)
        self._assemble_handlers()

    def _assemble_entry(self) -> None:
        """What clients ask of this peer, and what follows from it elsewhere."""
        runtime, space = self._runtime, self.space
        shift = self._config.bits - space.curve.index_bits
        self._performing = Performing(runtime, self.router, self.point, space, self.actions)
        vouching = Vouching(
            runtime, space.curve, self.gatekeeper,
            lambda index: self.node.owner_of(index << shift), self.copies_config.vouches_s,
            self._config.realm,
        )  # fmt: skip
        self.entry = Entry(
            runtime, self.router, space, self._performing, self.gatekeeper, vouching
        )
        self.point.changes.deleted_where_it_was = lambda word, version: runtime.spawn(
            self.entry.bury(word, version)
        )
        self._finishing = Finishing(
            runtime, self.shelf, self.point.halfway, self.entry.finish, self.entry.bury,
            self.entry.order,
        )  # fmt: skip
        self._source.on_outlived = self._finishing.outlived
        self.point.halfway.over = lambda new: self._keeper.expect(((new.lowest, new.lowest),))
        self._handoff.reconciling.on_outvoted = lambda word, version: runtime.spawn(
            self.entry.bury(word, version, whatever=False)
        )
        self.point.changes.on_outvoted = self._handoff.reconciling.on_outvoted
        self.shelf.given_way = lambda gone, stays: runtime.spawn(
            self.entry.bury(word_of(gone, stays), gone.version + 1, whatever=False)
        )

    def _assemble_handlers(self) -> None:
        """Message type to handler, of all parts, and which of them are between members alone."""
        of_copies: dict[type, Handler] = {
            **self._handoff.handlers,
            **self._keeper.handlers,
            **self.point.reach.handlers,
        }
        of_members: dict[type, Handler] = {
            **of_copies,
            **self._entropy.handlers,
            **self.forgetting.handlers,
            **self._performing.handlers,
        }
        self._handlers: dict[type, Handler] = {
            **self.node.handlers,
            **self.router.handlers,
            **of_members,
            **self.entry.handlers,
            **self.telling.handlers,
            **self.placing.handlers,
            **self._introspection.handlers,
        }
        self._of_copies, self._of_members = of_copies.keys() - {Begun}, of_members.keys()

    def _assemble_copies(self) -> None:
        """Who keeps what, and how that changes hands."""
        runtime, curve, bits = self._runtime, self.space.curve, self._config.bits
        self._few = FewHolders(runtime, self.views, self.copies_config)
        if self.copies_config.copies_min:
            self.holdings.held_by_few = self._few.lately_and_long
        self.replication = Replication(
            self.node, runtime, self.views, self.holdings, self.shelf, self.copies_config
        )
        self._keeper = CopyKeeper(
            runtime, curve, self.views, self.holdings, self.shelf, self.replication.passed_over,
            Word(runtime, self.views, self.copies_config),
        )  # fmt: skip
        self._handoff = Handoff(
            self.node, runtime, curve, self.holdings, self.shelf, self._tell_of,
            views=self.views, replication=self.replication, keeper=self._keeper, id_bits=bits,
        )  # fmt: skip
        self._paying = Paying(runtime, self.views, self.holdings, self.shelf, self.replication)
        self.replication.on_superseded = self._handoff.wake
        self._lease = Lease(
            runtime, self.views, self.replication, self._handoff.later, self.copies_config
        )
        self._source = HoldingsSource(
            self.shelf, self.views, self._handoff.reconciling.merge, self.replication.evict
        )
        self.forgetting = Forgetting(
            self.node, runtime, self.views, self.replication, curve=curve, id_bits=bits,
            admit=self.gatekeeper.admit_forget,
        )  # fmt: skip
        self.census = Census(
            runtime, self.shelf, self.holdings, self.views, lambda: self.forgetting.count
        )
        self._introspection = Introspection(
            runtime, self.node, self.space, self.census, bits, lambda: self._ready
        )
        self._entropy = AntiEntropy(runtime, curve, self._source)
        self.replication.levelling.compare = self._entropy.compare
        self._tending = Tending(
            runtime, self.views, self.shelf, self.replication, self._entropy,
            self.telling.watermarks, self.copies_config,
        )  # fmt: skip
        self._returning = Returning(
            self.node, runtime, self.views, self.holdings, self.shelf, self.replication,
            self._keeper, self._handoff, self._tell_of, self.copies_config,
            index_bits=curve.index_bits, id_bits=bits,
        )  # fmt: skip

    def _tell_of(self, part: Intervals, admission: Admission) -> None:
        """A part was gained: of its pairs is told what the clients have not acknowledged."""
        self.telling.derive(part, admission)
        self.point.changes.ended.tell(part)

    @property
    def id_bits(self) -> int:
        """How wide the ring's identifiers are."""
        return self._config.bits

    # -- life

    def serve(self) -> None:
        """Answer from now on; operations wait until the peer is a member."""
        self._runtime.serve(self._handle, self._link_closed)

    async def start(
        self,
        join: Sequence[Contact] = (),
        *,
        found_if_alone: bool = False,
        contents: Contents | None = None,
    ) -> None:
        """Found a ring, or join that of any of these peers, and hold one's arc; with the `contents`
        of the journal, if they were read by now.

        Raises `JoinFailed` when nobody answers, `SpaceMismatch` when the ring's space differs."""
        self.restored = await self.shelf.restore(contents)
        note = self.restored.note
        whole = self.restored.whole
        had = (*note.own, *note.former, *note.copies)
        remembers = self.restored.remembers
        self.views.restore(had, note.stored, note.taken_in, whole=whole, remembers=remembers)
        self.views.chronicle.restore(note.begun)
        self.views.see(*(one.epoch for one in note.begun))
        self._returning.damaged = not whole
        if whole:
            self._keeper.expect(self._handoff.everything)  # what no view speaks of goes
        kept = await self._ring_note.read()
        last_id = None if kept is None else kept.contact.id
        self.views.note_names(note.had, last_id, self.node.contact.id)
        membership = Membership(self.node, self._runtime, self.space, self._handoff.hold_everything)
        await membership.begin(kept, join, found_if_alone=found_if_alone)
        self.node.start()
        self._runtime.spawn(self._handoff.watch_over())
        self._runtime.spawn(self._tending.go_on())
        self._runtime.spawn(self._returning.go_on())
        self._runtime.spawn(self._entropy.watch_over())
        self._runtime.spawn(self._sweep())
        self._ready = True

    def move_with(
        self, move: Callable[[int], object], config: RelocationConfig | None = None
    ) -> None:
        """Look from now on whether this peer should go where more is to be carried.

        `move` is told the identifier to come back under, soon: whoever owns the process lets the
        peer leave, and starts it again."""
        self._runtime.spawn(self.placing.watch_over(config or RelocationConfig(), move))

    async def settled(self, timeout_s: float) -> bool:
        """Wait until this peer holds its whole arc; whether it does."""
        deadline = self._runtime.now() + timeout_s
        while self._handoff.uncovered():
            if self._runtime.now() >= deadline:
                return False
            await self._runtime.sleep(0.01)
        return True

    def seek_company(self, find: Find) -> None:
        """Look round for other rings of the space from now on, and become one with them; `find`
        gives the addresses of peers that may be of one."""
        self._runtime.spawn(seek_company(self._runtime, self.node, self.space, find))

    def meet(self, contacts: Sequence[Contact]) -> None:
        """Look once whether these are of other rings of the space, and become one with them."""
        self._runtime.spawn(meet_all(self._runtime, self.node, self.space, contacts))

    async def leave(self, timeout_s: float = 5.0) -> Intervals:
        """Hand over what is held, say good-bye to neighbours and clients; returns what nobody
        took."""
        self._ready = False
        left = self.holdings.held
        if self.node.joined and self.node.successors:
            left = await self._handoff.give_all(timeout_s)
            if not left:
                self._handoff.say_handed_over()
            await tell_what_never_began(self._runtime, self.views.tried.all())
        await self.node.leave()
        for client in self.entry.clients:
            if client.id != self._runtime.contact.id:
                self._runtime.send(client, Farewell("the peer leaves the ring"))
        await self._ring_note.write_down()
        return left

    # -- what runs beside

    async def _sweep(self) -> None:
        while True:
            await self._runtime.sleep(SWEEP_S)
            await self.point.changes.expire()
            self.telling.retry()
            self._finishing.look()
            self._paying.look()
            self._lease.pulse()
            self._few.look()

    # -- the ring's observer

    def arc_changed(self, before: Arc | None, now: Arc | None) -> None:
        """The ring gives this peer another arc."""
        self._handoff.arc_changed(before, now)
        self._tending.wake()

    def contact_gone(self, contact: Contact) -> None:
        """A neighbour is dead."""
        self._handoff.contact_gone(contact)
        self._tending.wake()

    # -- who lives in the same peer

    def adopt(self, handlers: dict[type, Handler], link_closed: Callable[[Contact], None]) -> None:
        """Let the client that is embedded in this peer hear what is said to clients."""
        self._foreign, self._foreign_link_closed = handlers, link_closed

    def _handle(self, sender: Contact, message: object, remaining_s: float) -> object:
        check_sender(sender, message)
        handler = self._handlers.get(type(message)) or self._foreign.get(type(message))
        if self.monitor.is_watched:
            self.monitor.message(message)
        if handler is None:
            raise to_fault(MeteorError(f"a peer has no answer to {type(message).__name__}"))
        if type(message) in self._of_members and sender in self.node.strangers:
            raise Fault("SpaceMismatch", "another keyword space: its indexes mean something else")
        if self.restored is None and type(message) in self._of_copies:
            # "I remember nothing" would be taken for word that something never was.
            raise Fault("Starting", "the journal is not read yet: who asks does not know more")
        return handler(sender, message, remaining_s)

    def _tell_here(self, letter: Notices) -> None:
        if self.monitor.is_watched:
            self.monitor.message(letter)
        self.entry.pass_on(letter)

    def _link_closed(self, contact: Contact) -> None:
        self.entry.link_closed(contact)
        self.node.link_closed(contact)
        self._foreign_link_closed(contact)

    # -- small questions

    def state(self) -> State:
        """How much this peer answers for; copies that it keeps for others are not counted, nor what
        not everybody may see."""
        return self.census.at_once()

    async def picture(self, limit: int = 1024) -> RingPicture:
        """The ring in order, as walking along successors finds it."""
        return await self._introspection.picture(limit)

    async def links(self, limit: int) -> dict[str, Any]:
        """How good the links of at most `limit` peers are, as each of them measures its own."""
        return await self._introspection.links(limit)


def _nobody(_: Contact) -> None:
    """No client is embedded."""
