"""Overlays with copies, seen from outside: who has a record, and what is wrong with its copies."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest

from arms import Profile
from meteor import Client, MeteorError, profile
from meteor.keeping.placement import GONE, Key, key_of
from meteor.wire.codec import wire_codec
from meteor.wire.operations import Carried
from meteor.wire.record_id import split_id, stem_of
from meteor.wire.view import View
from sim.clock import ClockPlan
from sim.disk import SimDisk
from sim.kernel import Kernel
from sim.overlay import Overlay, SimPeer
from squid import covers, intersect, merge, subtract
from tests.meteor.building import SPACE, draw_data

COPIES = 3
COPIES_MIN: int | None = None
SIZE = SPACE.curve.size
EVERYTHING = ((0, SIZE - 1),)
WHOLE_WITHIN_S = 15.0
"""After the last event every interval has all its copies within this."""


def seeds(quick: int, longer: int = 20) -> list[object]:
    """The first half of the quick ones for every run; all of them, and more, for the long one."""
    quickest = (quick + 1) // 2
    last = max(quick, longer)
    more = (pytest.param(seed, marks=pytest.mark.long) for seed in range(quickest + 1, last + 1))
    return [*range(1, quickest + 1), *more]


def build(
    seed: int, peers: int = 8, *, disk_s: float | None = None, clocks: ClockPlan | None = None
) -> Overlay:
    """Peers whose identifiers, disks and network depend on the seed."""
    print(f"seed {seed}")
    kernel, drawn = Kernel(seed), random.Random(seed)
    if disk_s is None:
        disk_s = drawn.choice([0.0, 0.001, 0.01])
    ids = [drawn.getrandbits(160) for _ in range(peers + 24)]
    return Overlay(
        peers=peers, space=SPACE, seed=seed, kernel=kernel, ids=ids, codec=wire_codec(),
        disk=SimDisk(kernel, write_latency_s=disk_s), copies=COPIES, clocks=clocks,
        copies_min=COPIES_MIN,
    )  # fmt: skip


def index_of(record_id: str) -> int:
    _, box = split_id(record_id, SPACE.curve)
    lowest = SPACE.curve.next_match(box, 0)
    assert lowest is not None
    return lowest


def primary_of(overlay: Overlay, record_id: str) -> SimPeer:
    """The living peer that answers for a record's lowest index."""
    index = index_of(record_id)
    (found,) = [peer for peer in overlay.living if covers(peer.core.holdings.held, index)]
    return found


def view_of(overlay: Overlay, record_id: str) -> View:
    """Its view of that index."""
    index = index_of(record_id)
    (view,) = primary_of(overlay, record_id).core.views.touching(((index, index),))
    return view


def copies_of(overlay: Overlay, record_id: str) -> list[SimPeer]:
    """The peers that this view names as copies."""
    ids = {copy.id for copy in view_of(overlay, record_id).copies}
    return [peer for peer in overlay.peers if peer.contact.id in ids]


def client_away_from(overlay: Overlay, record_id: str) -> Client:
    """A client that is linked to a peer which does not have the record, nor is held."""
    holders = view_of(overlay, record_id).holder_ids
    away = [
        number
        for number, peer in enumerate(overlay.living)
        if peer.contact.id not in holders and not peer.runtime.paused
    ]
    return overlay.client(peer=away[0])


def drawn_elsewhere(
    overlay: Overlay, drawn: random.Random, client: Client, old: SimPeer
) -> Profile:
    """Data whose place is neither at a peer nor at the one that a client is linked to."""
    while True:
        found = profile(draw_data(drawn))
        probe = overlay.run(client.store(found, b"z", ttl=7200)).id
        elsewhere = primary_of(overlay, probe)
        overlay.run(client.cancel(probe))
        if elsewhere is not old and elsewhere.address != client.peer_address:
            return found


def is_shown(peer: SimPeer, record_id: str) -> bool:
    """Whether a peer has a living record in memory."""
    placed = peer.core.shelf.find(("", stem_of(record_id)))
    return placed is not None and placed.carried.id == record_id and placed.carried.kind != "gone"


def durable_at(overlay: Overlay, stem: str) -> list[str]:
    """The addresses whose disks have a record, dead peers' included."""
    assert overlay.disk is not None
    key = b"r:\0" + stem.encode()
    return sorted(name for name, content in overlay.disk._content.items() if key in content)


def store_some(overlay: Overlay, client: Client, drawn: random.Random, count: int) -> list[str]:
    """Store drawn data; their ids."""
    return [
        overlay.run(client.store(profile(draw_data(drawn)), b"x", ttl=7200)).id
        for _ in range(count)
    ]


def crash(*fallen: SimPeer) -> None:
    """All in this moment."""
    for peer in fallen:
        peer.crash()


def restart_all(overlay: Overlay, fallen: Sequence[SimPeer]) -> None:
    """All at once, in this order."""

    async def back(peer: SimPeer) -> None:
        try:
            await overlay.restart(peer)
        except MeteorError as error:
            print(f"{peer.address} could not start: {error}")

    for task in [overlay.kernel.spawn(back(peer)) for peer in fallen]:
        overlay.kernel.run_until(task)


def ask(overlay: Overlay, client: Client, selector: str = "type=*") -> tuple[set[str], bool]:
    """The ids that an answer has, and whether it says that these are all."""
    answer = client.retrieve(selector, everywhere=True, allow_partial=True, timeout=8)
    found = [match.id for match in overlay.run(answer.all())]
    assert len(found) == len(set(found)), "told twice"
    assert bool(answer.missing) == (not answer.complete)
    return set(found), answer.complete


def assert_never_silently_partial(
    overlay: Overlay, client: Client, expected: Iterable[str], *, may: Iterable[str] = ()
) -> bool:
    """Whatever an answer lacks it names; whether it is complete."""
    answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=8)
    found = {match.id for match in overlay.run(answer.all())}
    absent = set(expected) - found
    unnamed = [one for one in sorted(absent) if not covers(answer.missing, index_of(one))]
    assert not unnamed, f"silently absent: {unnamed}; said missing: {answer.missing}"
    assert found <= set(expected) | set(may), "more than there is"
    return answer.complete


# -- what is wrong


def _records(peer: SimPeer, part: tuple[tuple[int, int], ...]) -> dict[Key, tuple[object, ...]]:
    """What a peer has in a part of the curve, without what differs between holders."""
    shelf = peer.core.shelf
    return {
        key_of(placed.carried): _content(placed.carried)
        for placed in shelf.table
        if any(shelf.table.meets(placed, interval) for interval in part)
        and placed.carried.ttl_ms > shelf.wall_ms()
    }


def _content(carried: Carried) -> tuple[object, ...]:
    return carried.kind, carried.id, carried.version, carried.renewed, carried.blob


def flaws(overlay: Overlay) -> list[str]:
    """What is not as it must be at rest: each index with one primary that knows its past, with all
    its copies, alive, whole, in the same epoch and with the same content."""
    held = sorted((i, peer.address) for peer in overlay.living for i in peer.core.holdings.held)
    found = [
        f"{one} of {a} and {other} of {b} overlap"
        for (one, a), (other, b) in pairwise(held)
        if other[0] <= one[1]
    ]
    gaps = subtract(EVERYTHING, tuple(interval for interval, _ in held))
    if gaps:
        found.append(f"nobody holds {gaps}")
    for peer in overlay.living:
        found += _flaws_of(overlay, peer)
    return found


def _flaws_of(overlay: Overlay, peer: SimPeer) -> list[str]:
    found, views = [], peer.core.views
    if peer.core._handoff.uncovered():
        found.append(f"{peer.address} does not hold {peer.core._handoff.uncovered()} of its arc")
    living = {one.contact: one for one in overlay.living}
    if peer.core.holdings.lost:
        found.append(f"{peer.address} does not know the past of {peer.core.holdings.lost}")
    if merge(views.held()) != peer.core.holdings.held:
        found.append(f"{peer.address} holds other than its views say")
    for view in views.own.values():
        wanted = min(COPIES, len(overlay.living)) - 1
        if len(view.copies) != wanted:
            found.append(f"{peer.address} has {len(view.copies)} copies of {view.intervals}")
        mine = _records(peer, view.intervals)
        for contact in view.copies:
            copy = living.get(contact)
            if copy is None:
                found.append(f"{peer.address} counts on {contact}, who is gone")
            else:
                found += _flaws_between(peer, copy, view, mine)
    return found


def _flaws_between(
    peer: SimPeer, copy: SimPeer, view: View, mine: dict[Key, tuple[object, ...]]
) -> list[str]:
    known = copy.core.views.copies.get(view.key)
    if known is None or not known.whole:
        return [f"{copy.address} is no whole copy of {peer.address}"]
    found = []
    if intersect(known.view.intervals, view.intervals) != view.intervals:
        found.append(f"{copy.address} has less than all of {peer.address}")
    if known.view.epoch != view.epoch:
        found.append(f"{copy.address} is in epoch {known.view.epoch}, not in {view.epoch}")
    theirs = _records(copy, view.intervals)
    if theirs != mine:
        alike = {key for key in mine if theirs.get(key) == mine[key]}
        # Deleted at two of its places, on two sides of a cut: either tombstone says so, and a peer
        # has one of them, perhaps of the place that is not compared.
        alike |= {key for key in {*theirs, *mine} if _is_gone(peer, key) and _is_gone(copy, key)}
        differing = sorted({*theirs, *mine} - alike)
        if differing:
            found.append(f"{copy.address} differs from {peer.address} about {differing}")
    return found


def _is_gone(peer: SimPeer, key: Key) -> bool:
    placed = peer.core.shelf.find(key)
    return placed is not None and placed.carried.kind == GONE


def assert_whole_within(overlay: Overlay, seconds: float = WHOLE_WITHIN_S) -> float:
    """Wait for all copies of everything; how long it took, in virtual time."""
    began_s = overlay.kernel.now()
    while found := flaws(overlay):
        assert overlay.kernel.now() - began_s < seconds, "\n".join(found)
        overlay.run_for(0.1)
    return overlay.kernel.now() - began_s
