"""Telling clients: from a pair that was found to notices on their way, until acknowledged.

Law of this file: what is due is decided in `meteor.outbox`; here it is sent, by way of the peer
that the client is linked to.  A stream is derived again when an interval is gained, and when a
client that was far behind has caught up (DESIGN section 4).
"""

from __future__ import annotations

from collections.abc import Mapping

from arms import Record, Rendezvous, Return, Tell
from chord import Contact, Handler, Runtime
from meteor.holdings import Holdings, Intervals
from meteor.messages import Acknowledge, Found, Notice
from meteor.operations import Notices
from meteor.outbox import Outbox
from meteor.shelf import Admission, Shelf, route_of
from squid import covers


class Telling:
    """The notices of one rendezvous peer."""

    def __init__(
        self, runtime: Runtime, shelf: Shelf, holdings: Holdings, rendezvous: Rendezvous
    ) -> None:
        self._runtime, self._shelf = runtime, shelf
        self._holdings, self._rendezvous = holdings, rendezvous
        self._outbox = Outbox()
        self._stirred: dict[str, Record] = {}
        self.told_count = 0

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {Acknowledge: self._on_acknowledge}

    def tell(self, reaction: Tell) -> None:
        """Keep a notice for the client of `reaction.to`, and send it in a later turn."""
        told, about = reaction.to, reaction.about
        if route_of(told) is None:
            return
        kind = reaction.kind
        notice = Notice(
            id=f"{told.stem}:{about.stem}:{about.version}"
            + ("" if kind == "match" else f":{kind}"),
            interest=told.stem,
            kind=kind,
            found=found_of(self._shelf, about),
            source=self._runtime.contact,
        )
        self._outbox.add(notice, self._shelf.number_of_pair(told, about))
        self.told_count += 1
        self._stir(told)

    def moved(self, record: Record) -> None:
        """The client of a record may be linked to another peer now: send again."""
        self._outbox.again(record.stem)
        self._stir(record)

    def drop(self, stem: str) -> None:
        """An interest or watch is gone."""
        self._outbox.drop(stem)
        self._stirred.pop(stem, None)

    def watermark(self, stem: str) -> int:
        """What the client has acknowledged without a gap."""
        return self._outbox.watermark(stem)

    def retry(self) -> None:
        """Send what has waited too long for its acknowledgement; called about once a second."""
        for stem in self._outbox.stems():
            record = self._kept(stem)
            if record is None:
                self._outbox.drop(stem)
            else:
                self._send(record)

    def derive(self, part: Intervals, admission: Admission) -> None:
        """An interval was gained: match its pairs again, above what their clients acknowledged."""
        for record in self._shelf.store.records():
            if record.kind != "data" and route_of(record) is not None:
                above = admission.acknowledged((record.owner, record.stem))
                self._derive_one(record, part, above)

    def _derive_one(self, record: Record, part: Intervals, above: int) -> None:
        def belongs(left: Record, right: Record) -> bool:
            if self._shelf.number_of_pair(left, right) <= above:
                return False
            lowest = self._shelf.lowest_common(left, right)
            return lowest is not None and covers(part, lowest)

        for reaction in self._rendezvous.meet(record, self._runtime.now(), belongs):
            if isinstance(reaction, Return):
                self.tell(Tell(record, reaction.record, "match"))
            elif reaction.to is record:
                self.tell(reaction)

    def _on_acknowledge(self, _: Contact, message: object, __: float) -> None:
        assert isinstance(message, Acknowledge)
        if message.source.id != self._runtime.contact.id:
            self._runtime.send(message.source, message)
            return
        record = self._kept(message.interest)
        if self._outbox.acknowledge(message.interest, message.ids) and record is not None:
            above = self._outbox.watermark(message.interest)
            self._derive_one(record, self._holdings.held, above)
        if record is not None:
            self._stir(record)

    def _kept(self, stem: str) -> Record | None:
        return self._shelf.store.get("", stem)

    def _stir(self, record: Record) -> None:
        """Send in a later turn, so that all notices of one turn leave together."""
        if not self._stirred:
            self._runtime.spawn(self._flush())
        self._stirred[record.stem] = record

    async def _flush(self) -> None:
        stirred, self._stirred = self._stirred, {}
        for record in stirred.values():
            self._send(record)

    def _send(self, record: Record) -> None:
        route = route_of(record)
        due = self._outbox.due(record.stem, self._runtime.now())
        if route is not None and due:
            self._runtime.send(route.peer, Notices(route.client, tuple(due)))


def found_of(shelf: Shelf, record: Record, *, payload: bool = True) -> Found:
    """A record as it is handed to a client, with the remaining life of its time to live."""
    return Found(
        id=record.id,
        version=record.version,
        owner=record.owner,
        ttl_ms=shelf.ttl_ms(record),
        blob=record.blob if payload else b"",
    )
