"""The router on real rings in virtual time: the report's figures, and completeness everywhere."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from chord import Contact
from sim.kernel import Kernel
from squid import (
    Addressing,
    Box,
    HandOn,
    Intervals,
    KeywordSpace,
    Word,
    Work,
    intersect,
    merge,
    subtract,
)
from tests.squid.ring_of_workers import RingOfWorkers, number_space

REPORT_RING = (13, 32, 47, 54, 60)
"""13 and 32 are in figures 3.3 and 3.4; the report does not give the others."""


def disseminate(ring: RingOfWorkers, origin: int, box: Box, timeout_s: float = 20.0):
    router = ring.routers[origin]
    task = ring.kernel.spawn(router.disseminate(box, b"body", timeout_s=timeout_s))
    return ring.kernel.run_until(task)


@pytest.fixture(params=list(Addressing))
def addressing(request: pytest.FixtureRequest) -> Addressing:
    """Both ways of handing on."""
    way: Addressing = request.param
    return way


@pytest.mark.parametrize("origin", REPORT_RING)
def test_figure_3_3_simple_tuple_reaches_rp_13(origin: int, addressing: Addressing) -> None:
    ring = RingOfWorkers(REPORT_RING, number_space(2, 3), id_bits=6, addressing=addressing)
    outcome = disseminate(ring, origin, Box((2, 1), (2, 1)))
    assert ring.performed() == {13: [((7, 7),)]}
    assert outcome.complete


@pytest.mark.parametrize("origin", REPORT_RING)
def test_figure_3_4_complex_tuple_reaches_rps_13_and_32(
    origin: int, addressing: Addressing
) -> None:
    ring = RingOfWorkers(REPORT_RING, number_space(2, 3), id_bits=6, addressing=addressing)
    box = Box((2, 1), (3, 5))
    outcome = disseminate(ring, origin, box)
    performed = ring.performed()
    assert set(performed) == {13, 32}
    assert outcome.complete
    assert outcome.peers == 2
    clusters = ring.space.curve.clusters(box)
    assert clusters == [(6, 11), (28, 31)]
    assert intersect(merge(*performed[13]), clusters) == ((6, 11),)
    assert intersect(merge(*performed[32]), clusters) == ((28, 31),)


def test_deliver_is_the_reports_single_operation() -> None:
    """(computer, net*) reaches the owners of its region, (computer, network) one peer."""
    space = KeywordSpace("services", [Word("what"), Word("where")], bits=16)
    drawn = random.Random(7)
    ids = sorted(drawn.randrange(1 << 64) for _ in range(40))
    ring = RingOfWorkers(ids, space, id_bits=64)
    router = ring.routers[ids[0]]
    simple = ring.kernel.run_until(
        ring.kernel.spawn(router.deliver(("computer", "network"), b"simple"))
    )
    assert simple.complete
    assert simple.peers == 1
    complex_tuple = ring.kernel.run_until(
        ring.kernel.spawn(router.deliver(("comp*", "*"), b"complex"))
    )
    assert complex_tuple.complete
    assert complex_tuple.peers > 1


def boxes(drawn: random.Random, side: int, dimensions: int) -> Box:
    low, high = [], []
    for _ in range(dimensions):
        a, z = sorted((drawn.randrange(side), drawn.randrange(side)))
        kind = drawn.random()
        if kind < 0.3:
            a, z = 0, side - 1
        elif kind < 0.6:
            z = a
        low.append(a)
        high.append(z)
    return Box(tuple(low), tuple(high))


def border_ids(drawn: random.Random, count: int, bits: int, id_bits: int) -> list[int]:
    """Ids of which some sit exactly on a box's border, where off-by-one lives."""
    ids: set[int] = set()
    while len(ids) < count:
        peer_id = drawn.randrange(1 << id_bits)
        if drawn.random() < 0.5:
            shift = drawn.randrange(id_bits - bits, id_bits)
            peer_id = (peer_id >> shift << shift) - drawn.randrange(2)
        ids.add(peer_id % (1 << id_bits))
    return sorted(ids)


@pytest.mark.parametrize(
    ("peers", "queries"),
    [(1, 10), (2, 20), (7, 30), (64, 30), pytest.param(1000, 20, marks=pytest.mark.long)],
)
@pytest.mark.parametrize(("dimensions", "bits"), [(2, 5), (3, 4)])
def test_every_peer_that_meets_the_region_answers_and_none_twice(
    peers: int, queries: int, dimensions: int, bits: int, addressing: Addressing
) -> None:
    """On a quiet ring: who answers is exactly who holds a matching index; the parts of all cover
    the region and do not overlap; the ledger closes."""
    seed = 1000 * peers + 10 * dimensions + bits
    print(f"seed {seed}")
    drawn = random.Random(seed)
    index_bits = dimensions * bits
    space = number_space(dimensions, bits)
    id_bits = max(index_bits, 16)
    ids = border_ids(drawn, peers, index_bits, id_bits)
    ring = RingOfWorkers(ids, space, id_bits=id_bits, seed=seed, addressing=addressing)
    for _ in range(queries):
        box = boxes(drawn, space.curve.side, dimensions)
        origin = drawn.choice(ids)
        for worker in ring.workers.values():
            worker.performed.clear()
        outcome = disseminate(ring, origin, box)
        region = tuple(space.curve.clusters(box))
        concerned = {
            peer_id
            for peer_id, worker in ring.workers.items()
            if intersect(worker.held_intervals, region)
        }
        performed = ring.performed()
        assert set(performed) == concerned, f"seed {seed}, box {box}"
        parts = [interval for parts in performed.values() for part in parts for interval in part]
        assert not subtract(region, merge(parts))
        assert sum(z - a + 1 for a, z in parts) == sum(z - a + 1 for a, z in merge(parts))
        assert outcome.complete
        assert outcome.missing == ()
        assert outcome.peers == len(concerned)


def test_stale_fingers_cost_messages_never_answers(addressing: Addressing) -> None:
    """5 % of the peers have joined and 5 % are gone, unseen by fingers and by most lists: every
    index is answered for by its holder, and once."""
    seed = 11
    print(f"seed {seed}")
    drawn = random.Random(seed)
    space = number_space(2, 8)
    ids = sorted(drawn.sample(range(1 << 32), 100))
    ring = RingOfWorkers(ids, space, id_bits=32, seed=seed, addressing=addressing)
    gone = drawn.sample(ids[1:], 5)
    fresh = [peer_id for peer_id in drawn.sample(range(1 << 32), 5) if peer_id not in ids]
    for peer_id in fresh:
        ring._add(peer_id)
    living = sorted(set(ids) - set(gone) | set(fresh))
    for peer_id in gone:
        ring.network.crash(Contact(peer_id, f"peer-{peer_id}"))
    stale = {peer_id: ring.nodes[peer_id].fingers for peer_id in ids}
    ring.point_ideally(living)
    for peer_id in living:
        node = ring.nodes[peer_id]
        node.install(node.predecessor, node.successors, stale.get(peer_id, ()))
    ring.hold(living)
    for _ in range(40):
        box = boxes(drawn, space.curve.side, 2)
        for worker in ring.workers.values():
            worker.performed.clear()
        outcome = disseminate(ring, drawn.choice(living), box)
        region = tuple(space.curve.clusters(box))
        parts = [
            interval for parts in ring.performed().values() for part in parts for interval in part
        ]
        assert outcome.complete
        assert not subtract(region, merge(parts))
        inside = [interval for part in parts for interval in intersect((part,), region)]
        assert sum(z - a + 1 for a, z in inside) == sum(z - a + 1 for a, z in region)


def test_a_dead_holder_is_named_missing(addressing: Addressing) -> None:
    """Nobody takes a dead peer's place here: the outcome says what stays open, never 'nothing'."""
    ring = RingOfWorkers(REPORT_RING, number_space(2, 3), id_bits=6, addressing=addressing)
    ring.network.crash(Contact(32, "peer-32"))
    outcome = disseminate(ring, 60, Box((2, 1), (3, 5)), timeout_s=5.0)
    assert not outcome.complete
    assert outcome.missing
    assert all(14 <= first <= last <= 32 for first, last in outcome.missing)


def test_what_a_holder_left_undone_is_open_until_somebody_did_it(addressing: Addressing) -> None:
    """It had gone elsewhere while the share waited, say: who looked at it has not answered."""
    ring = RingOfWorkers(REPORT_RING, number_space(2, 3), id_bits=6, addressing=addressing)
    worker, asked = ring.workers[13], list[Intervals]()

    async def nothing_done(share: HandOn, part: Intervals) -> Work:
        asked.append(part)
        return Work(undone=part)

    worker.perform = nothing_done  # type: ignore[method-assign]
    outcome = disseminate(ring, 60, Box((2, 1), (2, 1)), timeout_s=5.0)
    assert asked
    assert not outcome.complete
    assert outcome.missing == ((7, 7),)


def test_fingers_hand_each_peer_one_share_and_look_nothing_up() -> None:
    """On a quiet ring: no lookup, no second share for anybody, and a chain of hand-ons no longer
    than log2 of the peers."""
    drawn = random.Random(5)
    ids = sorted(drawn.sample(range(1 << 32), 200))
    kernel = Kernel(5, keep_trace=True)
    ring = RingOfWorkers(
        ids, number_space(2, 8), id_bits=32, addressing=Addressing.FINGERS, kernel=kernel
    )
    for _ in range(30):
        before = len(kernel.trace.events)
        box = boxes(drawn, ring.space.curve.side, 2)
        outcome = disseminate(ring, drawn.choice(ids), box)
        delivered = [event for event in kernel.trace.events[before:] if event.kind == "deliver"]
        handed = Counter(event.target for event in delivered if event.what == "HandOn")
        assert outcome.complete
        assert outcome.hops <= 8
        assert set(handed.values()) <= {1}
        assert box.is_point or not any(event.what == "FindOwner" for event in delivered)


@pytest.mark.parametrize("asks", [True, False])
def test_who_takes_an_arc_over_answers_questions_from_its_copy_meanwhile(asks: bool) -> None:
    ring = RingOfWorkers(REPORT_RING, number_space(2, 3), id_bits=6)
    heir = ring.workers[13]
    arc, heir.held_intervals = heir.held_intervals, ()
    heir.kept_copies = arc
    outcome = ring.kernel.run_until(
        ring.kernel.spawn(
            ring.routers[60].disseminate(Box((2, 1), (2, 1)), b"", timeout_s=3.0, asks=asks)
        )
    )
    assert outcome.complete == asks
    assert [body for _, body in outcome.summaries] == [b"from a copy"] * asks
    assert not heir.performed


def test_who_keeps_a_copy_itself_does_not_wait_for_a_silent_holder() -> None:
    """It was waited for most of a second, as nobody else was named who might know of it."""
    ring = RingOfWorkers(REPORT_RING, number_space(2, 3), id_bits=6)
    heir = ring.workers[13]
    arc, heir.held_intervals = heir.held_intervals, ()
    heir.kept_copies, heir.holder = arc, ring.nodes[32].contact
    ring.routers[32]._runtime.pause()  # type: ignore[attr-defined]
    asking = ring.routers[60].disseminate(Box((2, 1), (2, 1)), b"", timeout_s=3.0, asks=True)
    outcome = ring.kernel.run_until(ring.kernel.spawn(asking))
    assert outcome.complete
    assert ring.kernel.now() < ring.router_config.hand_on_s


def test_a_share_of_another_space_or_out_of_bounds_is_refused() -> None:
    """A hostile share does nothing and is answered with a fault."""
    from chord import RemoteFault
    from squid import HandOn

    ring = RingOfWorkers(REPORT_RING, number_space(2, 3), id_bits=6)
    runtime = ring.routers[60]._runtime
    good = {
        "operation": b"0" * 16, "attempt": 0, "origin": runtime.contact,
        "digest": ring.space.digest, "low": (0, 0), "high": (7, 7), "job": ((0, 63),),
        "hops": 0, "remaining_ms": 1000, "body": b"",
    }  # fmt: skip
    for change in (
        {"digest": b"other"},
        {"low": (0,)},
        {"high": (7, 8)},
        {"low": (5, 0), "high": (4, 7)},
        {"job": ()},
        {"job": ((0, 64),)},
        {"job": ((5, 4),)},
        {"job": ((8, 9), (0, 1))},
        {"hops": 1000},
        {"stretch": (64, 1)},
        {"stretch": (0, 0)},
        {"stretch": (0, 66)},
    ):
        request = HandOn(**{**good, **change})
        task = ring.kernel.spawn(runtime.call(ring.nodes[13].contact, request, 1.0))
        with pytest.raises(RemoteFault):
            ring.kernel.run_until(task)
    assert not ring.performed()
