"""Telling clients: from a pair that was found to notices on their way, until acknowledged.

Law of this file: what is due is decided in `meteor.rendezvous.outbox`; here it is sent, by way of
the peer that the client is linked to.  A stream is derived again when an interval is gained, and
when a client that was far behind has caught up (DESIGN section 4).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from operator import itemgetter
from typing import Final

from arms import INTEREST, WATCH, Reaction, Record, Rendezvous, Return, Tell
from chord import Contact, Handler, Runtime
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.placement import Admission, route_of
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.outbox import PENDING_MAX, Outbox, Position, owner_and_stem, stream_name
from meteor.wire.document import wishes_in, without_data
from meteor.wire.letters import id_of, letters
from meteor.wire.messages import Acknowledge, AcknowledgeAll, Found, Notice
from meteor.wire.operations import Notices, Route
from squid import covers

DERIVED_AT_ONCE: Final = 32
"""Pairs that are looked at, or told of, in one turn."""
FIRST: Final[Position] = (0, "")
"""The beginning of every stream."""


class Telling:
    """The notices of one rendezvous peer."""

    def __init__(
        self, runtime: Runtime, shelf: Shelf, holdings: Holdings, rendezvous: Rendezvous
    ) -> None:
        self._runtime, self._shelf = runtime, shelf
        self._holdings, self._rendezvous = holdings, rendezvous
        self._outbox = Outbox()
        self._stirred: dict[str, Record] = {}
        self._marked: dict[str, int] = {}
        self._flushing = False
        """Whether a later turn sends what is stirred."""
        self._told: tuple[Record, bool, Found] | None = None
        """What was told of last in this turn, with or without its payload."""
        self._held_back: list[int] = []
        """Of arrivals that not all have been told of yet."""
        self._gained: list[Admission] = []
        """How far clients were when an interval was gained whose pairs not all were derived yet."""
        self.sent, self.acknowledged = 0, 0
        """Notices that left, repetitions among them, and those that clients acknowledged."""
        self.on_tell: Callable[[Tell], None] = _unwatched
        """Told of every pair; called in the turn in which it is found."""
        self.here: Callable[[Notices], None] | None = None
        """Takes what is for clients of this very peer, without a message."""
        shelf.watermark = self.watermark

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {Acknowledge: self._on_acknowledge, AcknowledgeAll: self._on_acknowledge_all}

    def tell(self, reaction: Tell) -> None:
        """Keep a notice for the client of `reaction.to`; `flush` sends it."""
        self.on_tell(reaction)
        if route_of(reaction.to) is not None:
            self._keep(reaction, self._number_of(reaction))

    def _keep(self, reaction: Tell, number: int) -> None:
        told = reaction.to
        name, wishes = _name(told), wishes_in(told.blob)
        if wishes.once and self._outbox.has_told(name):
            return
        notice_id = _id_of(reaction)
        if self._outbox.passes_over(name, (number, notice_id)):
            return
        notice = Notice(
            notice_id, told.stem, reaction.kind,
            self._found(reaction.about, wishes.with_data), self._runtime.contact, told.owner,
        )  # fmt: skip
        self._outbox.add(notice, number)
        self._stirred[name] = told

    def _number_of(self, reaction: Tell) -> int:
        return self._shelf.number_of_pair(reaction.to, reaction.about)

    def _position_of(self, reaction: Tell) -> Position:
        return self._number_of(reaction), _id_of(reaction)

    def _found(self, about: Record, payload: bool) -> Found:
        """One for all who are told of it in this turn: so it travels once."""
        known = self._told
        if known is None or known[0] is not about or known[1] is not payload:
            found = found_of(self._shelf, about, payload=payload)
            known = self._told = about, payload, found
        return known[2]

    def moved(self, record: Record) -> None:
        """The client of a record may be linked to another peer now: send again."""
        self._outbox.again(_name(record))
        self._stir(record)

    def drop(self, record: Record) -> None:
        """An interest or watch is gone."""
        self._outbox.drop(_name(record))
        self._stirred.pop(_name(record), None)

    @property
    def waiting(self) -> int:
        """Notices that no client has acknowledged."""
        return len(self._outbox)

    def hold_back(self, number: int) -> int:
        """Let no watermark reach this number until `let_go` of what is returned: not all pairs of
        the arrival that has it are in the outbox."""
        self._held_back.append(number)
        return number

    def let_go(self, number: int) -> None:
        """All of them are."""
        self._held_back.remove(number)

    def watermark(self, owner: str, stem: str) -> int:
        """What the client of an interest has acknowledged without a gap.

        No pair of an interest has a number below the interest's own: a mark below it says nothing
        was acknowledged.  That is 0 to others, at whom it may lie with a lower number."""
        name = stream_name(owner, stem)
        return self._beyond_its_own(name, self._outbox.watermark(name))

    def _beyond_its_own(self, name: str, mark: int) -> int:
        key = owner_and_stem(name)
        if self._held_back:
            mark = min(mark, min(self._held_back) - 1)
        for admission in self._gained:
            mark = min(mark, admission.acknowledged(key))
        placed = self._shelf.find(key)
        return 0 if placed is not None and mark < placed.number else mark

    def watermarks(self) -> list[tuple[str, str, int]]:
        """Owner, stem and number of each interest whose watermark has changed since this was asked
        last."""
        outbox = self._outbox.watermarks()
        marks = {name: self._beyond_its_own(name, mark) for name, mark in outbox.items()}
        news = [(name, mark) for name, mark in marks.items() if self._marked.get(name) != mark]
        self._marked = marks
        return [(*owner_and_stem(name), mark) for name, mark in news]

    def retry(self) -> None:
        """Send what has waited too long for its acknowledgement; called about once a second."""
        for name in self._outbox.stems():
            record = self._shelf.store.get(*owner_and_stem(name))
            if record is None:
                self._outbox.drop(name)
            else:
                self._stirred[name] = record
        self.flush()

    def derive(self, part: Intervals, admission: Admission) -> None:
        """An interval was gained: match its pairs again, above what their clients acknowledged, one
        interest after the other in later turns.  Until then no watermark passes what it was."""
        store = self._shelf.store
        asking = chain(store.all_of(INTEREST), store.all_of(WATCH))
        self._gained.append(admission)
        self._runtime.spawn(self._derive_each(asking, part, admission))

    async def _derive_each(
        self, asking: Iterable[Record], part: Intervals, admission: Admission
    ) -> None:
        try:
            for record in asking:
                if route_of(record) is not None and self._shelf.store.holds(record):
                    above = admission.acknowledged(record.key)
                    if above:
                        self._outbox.start(_name(record), above)
                    await self._derive_one(record, part, above)
                    await self._runtime.sleep(0.0)
        finally:
            self._gained.remove(admission)

    async def _derive_one(self, record: Record, part: Intervals, above: int) -> None:
        """Tell of the pairs of a record in `part` that were not met before."""

        def belongs(left: Record, right: Record) -> bool:
            if self._shelf.was_met_by(above, record, right if left is record else left):
                return False
            lowest = self._shelf.lowest_common(left, right)
            return lowest is not None and covers(part, lowest)

        await self._tell_all(record, belongs, FIRST)

    async def _derive_again(self, record: Record, missed: Position) -> None:
        """The client has caught up with what fitted: tell of the next that fit, from the first on
        that was missed, a few in every turn."""
        held, first = self._holdings.held, missed[0]

        def belongs(left: Record, right: Record) -> bool:
            if self._shelf.number_of_pair(left, right) < first:
                return False
            lowest = self._shelf.lowest_common(left, right)
            return lowest is not None and covers(held, lowest)

        hold = self.hold_back(first)
        try:
            await self._tell_all(record, belongs, missed)
        finally:
            self.let_go(hold)

    async def _tell_all(
        self, record: Record, belongs: Callable[[Record, Record], bool], first: Position
    ) -> None:
        """Tell a record's client of its pairs from the first on, in the order of its stream, a few
        in every turn: what does not fit comes after the rest."""
        steps = self._rendezvous.meet(record, self._runtime.now(), belongs)
        due: list[tuple[Position, Tell]] = []
        while some := list(islice(steps, DERIVED_AT_ONCE)):
            for told in _told_to(record, some):
                position = self._position_of(told)
                if position >= first:
                    insort(due, (position, told), key=itemgetter(0))
                    del due[PENDING_MAX + 1 :]
            if len(some) == DERIVED_AT_ONCE:
                await self._runtime.sleep(0.0)
        for at in range(0, len(due), DERIVED_AT_ONCE):
            if at:
                await self._runtime.sleep(0.0)
            for position, told in due[at : at + DERIVED_AT_ONCE]:
                if self._shelf.store.holds(record):
                    self._keep(told, position[0])
            self.flush()

    def _on_acknowledge(self, sender: Contact, message: object, __: float) -> None:
        assert isinstance(message, Acknowledge)
        mine = self._is_mine(sender, message)
        if mine is not None:
            self._acknowledge(message.owner, message.interest, message.ids, mine.client)

    def _on_acknowledge_all(self, sender: Contact, message: object, __: float) -> None:
        assert isinstance(message, AcknowledgeAll)
        mine = self._is_mine(sender, message)
        if mine is not None:
            for one in message.arrived:
                self._acknowledge(one.owner, one.interest, one.ids, mine.client)

    def _is_mine(
        self, sender: Contact, message: Acknowledge | AcknowledgeAll
    ) -> Acknowledge | AcknowledgeAll | None:
        """The message with whose it is, or None where another peer told the client, and hears of
        it."""
        own = self._runtime.contact
        if not sender.address or sender.id == own.id:  # a client's: others cannot say whose it is
            message = replace(message, client=sender.id)
            if message.source.id != own.id:
                if message.source.known:
                    self._runtime.send(message.source, message)
                return None
        return message

    def _acknowledge(self, owner: str, stem: str, ids: tuple[str, ...], client: int) -> None:
        record = self._shelf.store.get(owner, stem)
        route = None if record is None else route_of(record)
        if route is not None and route.client != client:
            return
        name = stream_name(owner, stem)
        self.acknowledged += len(ids)
        missed = self._outbox.acknowledge(name, ids)
        if record is None:
            return
        if missed is not None:
            self._runtime.spawn(self._derive_again(record, missed))
        if self._outbox.has_unsent(name):
            self._stir(record)

    def _stir(self, record: Record) -> None:
        """Send in a later turn, so that all notices of one turn leave together."""
        self._stirred[_name(record)] = record
        self._flush_soon()

    def _flush_soon(self) -> None:
        if self._stirred and not self._flushing:
            self._flushing = True
            self._runtime.spawn(self._flush_later())

    async def _flush_later(self) -> None:
        self._flushing = False
        self.flush()

    def flush(self) -> None:
        """Send what is due to everybody who was told of something since this was done last: in the
        turn in which it is found, and one message a client."""
        self._told = None
        if not self._stirred:
            return
        stirred, self._stirred = self._stirred, {}
        now, due = self._runtime.now(), dict[tuple[int, int], tuple[Route, list[Notice]]]()
        for name, record in stirred.items():
            route = route_of(record)
            notices = self._outbox.due(name, now)
            if route is not None and notices:
                due.setdefault((route.peer.id, route.client), (route, []))[1].extend(notices)
        for route, notices in due.values():
            self.sent += len(notices)
            for letter in letters(route.client, notices):
                self._send(route, letter)

    def _send(self, route: Route, letter: Notices) -> None:
        if self.here is not None and route.peer.id == self._runtime.contact.id:
            self.here(letter)
        else:
            self._runtime.send(route.peer, letter)


def _id_of(reaction: Tell) -> str:
    told, about = reaction.to, reaction.about
    return id_of(told.stem, about.owner, about.stem, about.version, reaction.kind)


def _told_to(record: Record, steps: Iterable[Reaction | None]) -> Iterator[Tell]:
    """What a record's own client is told."""
    for step in steps:
        if isinstance(step, Return):
            yield Tell(record, step.record, "match")
        elif step is not None and step.to is record:
            yield step


def _name(record: Record) -> str:
    return stream_name(record.owner, record.stem)


def _unwatched(_: Tell) -> None:
    """Nobody looks on."""


def found_of(shelf: Shelf, record: Record, *, payload: bool = True) -> Found:
    """A record as it is handed to a client, with the remaining life of its time to live; without
    its `payload` the profile and the context remain."""
    return Found(
        id=record.id,
        version=record.version,
        owner=record.owner,
        ttl_ms=shelf.ttl_ms(record),
        blob=record.blob if payload else without_data(record.blob),
    )
