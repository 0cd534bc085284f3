"""Telling clients: from a pair that was found to notices on their way, until acknowledged.

Law of this file: what is due is decided in `meteor.rendezvous.outbox`; here it is sent, by way of
the peer that the client is linked to.  What was found before, and is told of again or later, comes
from `meteor.rendezvous.deriving`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from arms import Record, Rendezvous, Tell
from chord import NO_LINK, Contact, Handler, Runtime, replace
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.placement import Admission, key_of, route_of
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.backlog import Position
from meteor.rendezvous.deriving import Deriving, name_of
from meteor.rendezvous.outbox import Outbox, owner_and_stem, stream_name
from meteor.wire.document import wishes_in, without_data
from meteor.wire.letters import id_end, letters
from meteor.wire.messages import Acknowledge, AcknowledgeAll, Found, Notice
from meteor.wire.operations import Carried, Notices, Route
from meteor.wire.record_id import stem_of

SENT_AT_ONCE: Final = 512
"""Notices that leave in one turn, but for the rest of one interest: some ten microseconds each."""


LOOKED_AT_ONCE: Final = 256
"""Interests that are looked at in one turn for what is late: some microseconds each."""

ACKNOWLEDGED_AT_ONCE: Final = 8192
"""Notices that one message acknowledges: a fifth of a microsecond each, and a frame may name a
million.  Of what is beyond, which no client of ours says by default, the client is told again."""

Mark = tuple[str, str, int]
"""The owner and stem of an interest, and its watermark."""


class _Told:
    """What all notices of one record have in common that are made in one turn."""

    __slots__ = ("_bare", "id_end", "kind", "now", "number", "record", "source", "whole")

    def __init__(
        self, reaction: Tell, number: int, now: float, whole: Found, source: Contact
    ) -> None:
        about = self.record = reaction.about
        self.kind = reaction.kind
        self.id_end = id_end(about.owner, about.stem, about.version, self.kind)
        self.number, self.now, self.source, self.whole = number, now, source, whole
        self._bare: Found | None = None

    @property
    def bare(self) -> Found:
        """For an interest that asked for no payload."""
        if self._bare is None:
            self._bare = replace(self.whole, blob=without_data(self.whole.blob))
        return self._bare


class Telling:
    """The notices of one rendezvous peer."""

    def __init__(
        self, runtime: Runtime, shelf: Shelf, holdings: Holdings, rendezvous: Rendezvous
    ) -> None:
        self._runtime, self._shelf = runtime, shelf
        self._outbox = Outbox()
        self._deriving = Deriving(
            runtime, shelf, holdings, rendezvous, self._outbox, self._add, self.flush
        )
        self._stirred: OrderedDict[str, Record] = OrderedDict()
        self._marked: dict[str, int] = {}
        self._looking: Iterator[str] | None = None
        """What `retry` has not looked at yet."""
        self._flushing = False
        """Whether a later turn sends what is stirred."""
        self._told: _Told | None = None
        """What was told of last in this turn."""
        self._leaving: dict[tuple[int, int], tuple[Route, list[Notice]]] = {}
        """What leaves with the next `flush`, by peer and client."""
        self.sent, self.acknowledged = 0, 0
        """Notices that left, repetitions among them, and those that clients acknowledged."""
        self.on_tell: Callable[[Tell], None] = _unwatched
        """Told of every pair; called in the turn in which it is found."""
        self.here: Callable[[Notices], None] | None = None
        """Takes what is for clients of this very peer, without a message."""
        shelf.acknowledged = self.acknowledged_of

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {Acknowledge: self._on_acknowledge, AcknowledgeAll: self._on_acknowledge_all}

    def tell(self, reaction: Tell) -> None:
        """Keep a notice for the client of `reaction.to`; `flush` sends it."""
        self.on_tell(reaction)
        if route_of(reaction.to) is not None:
            self._keep(reaction)

    def _keep(self, reaction: Tell) -> None:
        told, about = reaction.to, self._told_of(reaction)
        name, placed = name_of(told), self._shelf.find(told.key)
        own = 0 if placed is None else placed.number
        if wishes_in(told.blob).once and self._outbox.has_told(name, own):
            return
        number = max(about.number, own)
        position = number, told.stem + about.id_end  # as `position_of` has it
        lasts = about.number > 0 and reaction.kind != "gone"  # else it is not to be derived again
        if not lasts or not self._outbox.passes_over(
            name, position, reaction.about, reaction.kind, told.version
        ):
            self._add(reaction, position, lasts=lasts)

    def _add(self, reaction: Tell, position: Position, *, lasts: bool = True) -> None:
        told, about = reaction.to, self._told_of(reaction)
        found = about.whole if wishes_in(told.blob).with_data else about.bare
        notice = Notice(position[1], told.stem, about.kind, found, about.source, told.owner)
        if self._outbox.add(notice, position[0], about.now, lasts=lasts):
            self._leave(told, (notice,))
        else:
            self._stirred[name_of(told)] = told

    def _told_of(self, reaction: Tell) -> _Told:
        """One for all who are told of it in this turn: so it travels once."""
        known, about = self._told, reaction.about
        if known is None or known.record is not about or known.kind != reaction.kind:
            placed = self._shelf.find(about.key)
            number = 0 if placed is None else placed.number
            found, now = found_of(self._shelf, about), self._runtime.now()
            known = self._told = _Told(reaction, number, now, found, self._runtime.contact)
        return known

    def _leave(self, told: Record, notices: Iterable[Notice]) -> None:
        """Let notices leave with the next `flush`."""
        route = route_of(told)
        if route is not None:
            place = (route.peer.id, route.client)
            leaving = self._leaving.get(place)
            if leaving is None:
                leaving = self._leaving[place] = (route, [])
            leaving[1].extend(notices)

    def moved(self, record: Record) -> None:
        """The client of a record may be linked to another peer now, or ask for something else:
        send again."""
        self._outbox.again(name_of(record))
        self._outbox.turn_to(name_of(record), record.version)
        self._stir(record)

    def drop(self, record: Record) -> None:
        """An interest or watch is gone."""
        self._outbox.drop(name_of(record))
        self._stirred.pop(name_of(record), None)

    @property
    def waiting(self) -> int:
        """Notices that no client has acknowledged."""
        return len(self._outbox)

    def hold_back(self, number: int) -> int:
        """Let no watermark reach this number until `let_go` of what is returned: not all pairs of
        the arrival that has it are in the outbox."""
        return self._deriving.hold_back(number)

    def let_go(self, number: int) -> None:
        """All of them are."""
        self._deriving.let_go(number)

    def watermark(self, owner: str, stem: str) -> int:
        """What the client of an interest has acknowledged without a gap.

        No pair of an interest has a number below the interest's own: a mark below it says nothing
        was acknowledged.  That is 0 to others, at whom it may lie with a lower number."""
        name = stream_name(owner, stem)
        mark = self._outbox.watermark(name)
        return self._beyond_its_own(name, mark) if mark else 0

    def acknowledged_of(self, carried: Carried) -> int:
        """The same of a record that travels: nothing of a version that does not show yet, as its
        pairs may have earlier numbers than those that the one before was told of."""
        placed = self._shelf.find(key_of(carried))
        if placed is not None and placed.carried.version != carried.version:
            return carried.acknowledged
        if placed is not None and placed.number < carried.number:
            # Posted again: all that lives is told once more.  Or brought to one's own copies: how
            # far the client is there, another holder had said.
            return min(carried.acknowledged, self.watermark(carried.owner, stem_of(carried.id)))
        mark = self.watermark(carried.owner, stem_of(carried.id))
        owed = mark < carried.acknowledged and self._owes(carried)
        return mark if owed else max(carried.acknowledged, mark)

    def _owes(self, carried: Carried) -> bool:
        """Whether the client of an interest has not all that it is written to have: with another
        interval came pairs of earlier numbers, of which perhaps not all were derived yet."""
        name, written = stream_name(carried.owner, stem_of(carried.id)), carried.acknowledged
        first = self._outbox.first(name)
        derived = self._deriving.watermark_below(owner_and_stem(name), written)
        return derived < written or (first is not None and first <= written)

    def _beyond_its_own(self, name: str, mark: int) -> int:
        key = owner_and_stem(name)
        mark = self._deriving.watermark_below(key, mark)
        placed = self._shelf.find(key)
        return 0 if placed is not None and mark < placed.number else mark

    def watermarks(self) -> Iterator[tuple[list[Mark], bool]]:
        """Owner, stem and number of each interest whose watermark has changed since this was asked
        last, in parts: each is the work of one turn, and one message.  With each, whether more are
        to be asked for."""
        marks: dict[str, int] = {}
        known = self._marked
        for names, more in self._outbox.parts():
            news = []
            for name in filter(self._outbox.knows, names):
                key = owner_and_stem(name)
                if self._shelf.is_begun((key,)):
                    continue  # posted again, perhaps: its copies know that nothing counts of that
                mark = marks[name] = self._beyond_its_own(name, self._outbox.watermark(name))
                if known.get(name) != mark:
                    news.append((*key, mark))
            if not more and self._marked is known:  # no interval was gained meanwhile
                self._marked = marks
            yield news, more

    def retry(self) -> None:
        """Send what has waited too long for its acknowledgement; called about once a second.  Of
        many interests some are looked at now and others in later turns."""
        if self._looking is None:  # else the round before is still under way
            self._looking = iter(self._outbox.names())
            self._look()

    def _look(self) -> None:
        assert self._looking is not None, "a round is under way"
        some = list(islice(self._looking, LOOKED_AT_ONCE))
        for name in some:
            self._look_at(name)
        self.flush()
        if len(some) == LOOKED_AT_ONCE:
            self._runtime.spawn(self._look_on())
        else:
            self._looking = None

    async def _look_on(self) -> None:
        self._look()

    def _look_at(self, name: str) -> None:
        record = self._shelf.store.get(*owner_and_stem(name))
        if record is None:  # its place moved to another peer, at which it ended, or will
            self._outbox.drop(name)
            return
        if self._outbox.waits(name):
            self._stirred[name] = record
        if self._outbox.is_behind(name):
            self._deriving.go_on(name, record)

    def derive(self, part: Intervals, admission: Admission) -> None:
        """An interval was gained: its pairs are told of that clients have not acknowledged."""
        self._marked = {}  # its copies have forgotten what they were told of
        self._deriving.derive(part, admission)

    def _on_acknowledge(self, sender: Contact, message: object, __: float) -> None:
        assert isinstance(message, Acknowledge)
        mine = self._is_mine(sender, message)
        if mine is not None:
            self._acknowledge(message.owner, message.interest, message.ids, mine.client)

    def _on_acknowledge_all(self, sender: Contact, message: object, __: float) -> None:
        assert isinstance(message, AcknowledgeAll)
        mine = self._is_mine(sender, message)
        if mine is not None:
            left = ACKNOWLEDGED_AT_ONCE
            for one in message.arrived:
                ids = one.ids[:left]
                left -= len(ids)
                self._acknowledge(one.owner, one.interest, ids, mine.client)

    def _is_mine(
        self, sender: Contact, message: Acknowledge | AcknowledgeAll
    ) -> Acknowledge | AcknowledgeAll | None:
        """The message with whose it is, or None where another peer told the client, and hears of
        it: one that is linked to this, as nobody is dialled because a client names him."""
        own = self._runtime.contact
        if not sender.address or sender.id == own.id:  # a client's: others cannot say whose it is
            message = replace(message, client=sender.id)
            if message.source.id != own.id:
                if self._runtime.link(message.source) is not NO_LINK:  # else nothing came by it
                    self._runtime.send(message.source, message)
                return None
        return message

    def _acknowledge(self, owner: str, stem: str, ids: tuple[str, ...], client: int) -> None:
        record = self._shelf.store.get(owner, stem)
        route = None if record is None else route_of(record)
        if route is not None and route.client != client:
            return
        name = stream_name(owner, stem)
        is_behind = self._outbox.acknowledge(name, ids)
        if record is None:  # not counted, as of another's interest: whether one is here is his
            return
        self.acknowledged += len(ids)
        if is_behind:
            self._deriving.go_on(name, record)
        if self._outbox.has_unsent(name):
            self._stir(record)

    def _stir(self, record: Record) -> None:
        """Send in a later turn, so that all notices of one turn leave together."""
        self._stirred[name_of(record)] = record
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
        turn in which it is found, and one message a client.  What is much goes on in later turns,
        as when a client has acknowledged nothing of many interests."""
        self._told = None
        if self._stirred:
            now, count = self._runtime.now(), 0
            while self._stirred and count < SENT_AT_ONCE:
                name, record = self._stirred.popitem(last=False)
                if notices := self._outbox.due(name, now):
                    count += len(notices)
                    self._leave(record, notices)
            self._flush_soon()
        if not self._leaving:
            return
        leaving, self._leaving = self._leaving, {}
        for route, notices in leaving.values():
            self.sent += len(notices)
            for letter in letters(route.client, notices):
                self._send(route, letter)

    def _send(self, route: Route, letter: Notices) -> None:
        if self.here is not None and route.peer.id == self._runtime.contact.id:
            self.here(letter)
        else:
            self._runtime.send(route.peer, letter)


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
