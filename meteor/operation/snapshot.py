"""What a peer's counters say at one moment, for metrics and for readiness.

Law of this file: reading only, in one turn of the loop and cheaply: nothing walks the records, so
that a scrape every second costs a full peer nothing.  No library of metrics is known here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arms import DATA, INTEREST, WATCH
from chord import Contact, Counters, LookupTally, distance
from meteor.distribution import Distribution
from meteor.journal.journal import Journal
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.transport import Transport
from meteor.rendezvous.rendezvous_peer import RendezvousPeer


@dataclass(frozen=True, slots=True)
class Traffic:
    """What went over the links."""

    links: int
    messages_in: int
    messages_out: int
    bytes_in: int
    bytes_out: int
    strangers: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One peer at one moment; counts are since it started."""

    posts: Mapping[tuple[str, str], int]
    """By action and outcome."""
    matches: int
    hops: Distribution
    notifications_sent: int
    notifications_acknowledged: int
    notifications_waiting: int
    clients: int
    records: Mapping[str, int]
    """What is kept, by kind; copies for others among them."""
    lookups: LookupTally
    ring_peers: float
    """An estimate; exact while the ring is no longer than a successor list."""
    copies_missing: int
    """Copies that the views of this peer lack of what was asked for."""
    lost_intervals: int
    forgotten_intervals: int
    journal_damaged: bool
    """Whether the journal had lost something as this peer started."""
    replies_dropped: int
    """Documents that no reply address took."""
    denials: Mapping[str, int]
    """Refusals by the name of their rule."""
    dropped: Counters
    """Frames and replies that were given up."""
    lateness_s: float
    certificate_end_s: float | None
    """Unix time at which the peer's certificate ends; None without TLS."""
    traffic: Traffic | None
    """None where the transport has no sockets."""
    commits: Distribution | None
    """Seconds that commits of the journal took; None for one in memory."""


def take(
    core: RendezvousPeer,
    runtime: AsyncioRuntime,
    transport: Transport | None,
    journal: Journal | None,
) -> Snapshot:
    """The snapshot of a peer that serves."""
    tally, telling = core.entry.tally, core.telling
    peers = peers_by_density(core.node.contact, core.node.successors, core.id_bits)
    return Snapshot(
        posts=dict(tally.posts),
        matches=tally.matches,
        hops=tally.hops,
        notifications_sent=telling.sent,
        notifications_acknowledged=telling.acknowledged,
        notifications_waiting=telling.waiting,
        clients=len(core.entry.clients),
        records={kind: core.shelf.store.public_count(kind) for kind in (DATA, INTEREST, WATCH)},
        lookups=core.node.lookups,
        ring_peers=peers,
        copies_missing=copies_missing(core),
        lost_intervals=len(core.views.lost()),
        forgotten_intervals=core.forgetting.count,
        journal_damaged=core.restored is not None and not core.restored.whole,
        replies_dropped=tally.replies_dropped,
        denials=dict(core.gatekeeper.denials),
        dropped=runtime.exchange.counters,
        lateness_s=runtime.lateness(),
        certificate_end_s=getattr(transport, "certificate_end_s", None),
        traffic=_traffic(transport),
        commits=getattr(journal, "commits", None),
    )


def copies_missing(core: RendezvousPeer) -> int:
    """How many copies this peer's views lack of what was asked for, be it that the ring has too few
    peers for them: what is kept once less is as near to its loss whatever the reason."""
    wanted = core.copies_config.copies - 1
    return sum(max(0, wanted - len(view.copies)) for view in core.views.own.values())


def peers_by_density(own: Contact, successors: Sequence[Contact], bits: int) -> float:
    """The estimate from a successor list: r successors lie on a part of the circle; a list that
    comes back to its beginning, or has room, names everybody."""
    others = [contact for contact in successors if contact.id != own.id]
    if not others:
        return 1.0
    if len(others) < len(successors):
        return float(len(others) + 1)
    covered = distance(own.id, others[-1].id, bits)
    return max(float(len(others) + 1), len(others) * float(1 << bits) / covered)


def _traffic(transport: Transport | None) -> Traffic | None:
    counted = getattr(transport, "traffic", None)
    if counted is None:
        return None
    return Traffic(
        getattr(transport, "links", 0),
        counted.messages_in,
        counted.messages_out,
        counted.bytes_in,
        counted.bytes_out,
        counted.strangers,
    )
