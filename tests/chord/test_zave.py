"""Zave's inductive invariant and its seven consequences, after every event of simulated runs.

Runs stay inside the assumptions of the proof (literature.md section 3.3): they start from an ideal
ring of at least r + 1 members (A4); a peer fails only if every list, its own too as it may be on
its way to somebody, keeps two living entries (A1; one more than the proof asks, as answers take
time here while its steps are atomic), and if more than r + 2 principals remain (A2); links are
reliable and failures seen truthfully (A3).  Latencies have long tails, so that second steps and
notifications arrive late, out of order, and at peers long dead.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from chord import CallError, Contact, JoinRefused, LookupFailed
from chord.successor_list import SuccessorList
from sim import TailedLatency
from sim.checkers.zave import principals, violations

SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 6))]
"""One of each length of the successor list."""
EVENTS = 120
PAUSE_S = 0.35
"""Mean time between two events: some round trips, less than a stabilisation interval."""


def snapshot_of(ring: Any) -> dict[int, list[int]]:
    return {node.contact.id: [entry.id for entry in node.successors] for node in ring.members}


class InvariantWatch:
    """Checks the ring after every event of its simulation at which a list has changed."""

    def __init__(self, ring: Any) -> None:
        self.ring = ring
        self.checked = 0
        self._last: dict[int, list[int]] = {}
        ring.kernel.watch(self.check)

    def check(self) -> None:
        snapshot = snapshot_of(self.ring)
        if snapshot == self._last:
            return
        self._last = snapshot
        self.checked += 1
        found = violations(snapshot, self.ring.config.successor_count)
        assert not found, f"at {self.ring.kernel.now():.3f} s: {found} in {snapshot}"


def may_fail(ring: Any, victim: int) -> bool:
    """Whether the assumptions allow this member to fail now."""
    snapshot = snapshot_of(ring)
    living = set(snapshot) - {victim}
    if any(len(living.intersection(entries)) < 2 for entries in snapshot.values()):
        return False
    left = {member: entries for member, entries in snapshot.items() if member != victim}
    return len(principals(left)) > ring.config.successor_count + 2


async def join(ring: Any, node_id: int, known: Contact) -> None:
    """Join by a member that may die meanwhile; who fails to join stays outside."""
    try:
        await ring.peers[node_id].node.join([known])
    except (CallError, JoinRefused, LookupFailed):
        ring.crash(node_id)
        return
    if node_id in ring.peers:
        ring.peers[node_id].node.start()


def leave(ring: Any, node_id: int) -> None:
    """To the proof a leave is a failure: the leaver is no member from its first step on."""
    peer = ring.peers.pop(node_id)

    async def leave_and_close() -> None:
        await peer.node.leave()
        peer.runtime.close()

    ring.kernel.spawn(leave_and_close())


def run_churn(sim_ring: Any, seed: int, successor_count: int) -> Any:
    """One seeded run of joins, crashes and leaves under the checker."""
    print(f"seed={seed} r={successor_count}")
    draw = random.Random(seed)
    ring = sim_ring(
        seed=seed,
        bits=10,
        successor_count=successor_count,
        latency=TailedLatency(0.005, 0.03),
        call_timeout_s_min=2.0,
        call_timeout_s_initial=2.0,
        silence_s=60.0,
    )
    ids = draw.sample(range(1024), EVENTS + 10)
    ring.ideal([ids.pop() for _ in range(successor_count + draw.randint(1, 6))], start=True)
    watch, crashes = InvariantWatch(ring), 0
    for _ in range(EVENTS):
        ring.settle(draw.expovariate(1 / PAUSE_S))
        members = [node.contact.id for node in ring.members]
        chosen = draw.choice(members)
        what = draw.random()
        if what < 0.5:
            node_id = ids.pop()
            node = ring.add(node_id)
            ring.peers[node_id].runtime.spawn(join(ring, node_id, ring.peers[chosen].node.contact))
            assert not node.joined
        elif may_fail(ring, chosen):
            crashes += 1
            if what < 0.8:
                ring.crash(chosen)
            else:
                leave(ring, chosen)
    watch.check()
    print(f"{watch.checked} states, {crashes} crashes, {len(ring.members)} members at the end")
    assert watch.checked > EVENTS
    assert crashes > EVENTS // 10
    ring.settle(15.0)
    assert ring.flaws() == []
    return ring


@pytest.mark.parametrize("seed", SEEDS)
def test_the_invariant_holds_after_every_event(sim_ring: Any, seed: int) -> None:
    run_churn(sim_ring, seed, 3 + seed % 3)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 200))
def test_the_invariant_holds_in_many_runs(sim_ring: Any, seed: int) -> None:
    run_churn(sim_ring, seed, 3 + seed % 4)


def test_a_planted_fault_is_found(sim_ring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that loses a living entry together with the dead one breaks the invariant."""
    drop = SuccessorList.drop

    def careless_drop(self: SuccessorList, contact: Contact) -> bool:
        kept = [entry for entry in self.contacts if entry.id != contact.id]
        return self.install(kept[1:]) if len(kept) > 1 else drop(self, contact)

    monkeypatch.setattr(SuccessorList, "drop", careless_drop)
    with pytest.raises(AssertionError, match=r"principals|\(.\)|living successor"):
        run_churn(sim_ring, 0, 3)


IDEAL = {1: [3, 5], 3: [5, 8], 5: [8, 1], 8: [1, 3]}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({8: []}, "8 has no living successor"),
        ({8: [9, 10]}, "8 has no living successor"),
        ({1: [5, 8], 3: [8, 1]}, "principals"),
        ({1: [5, 3]}, "(a)"),
        ({1: [3, 3]}, "(b)"),
        ({1: [3, 1]}, "(b)"),
        ({1: [8, 3]}, "(a)"),
        ({1: [3, 1], 3: [1, 3], 5: [8, 5], 8: [5, 8]}, "(e)"),
        ({1: [5, 8], 5: [3, 8], 3: [8, 1]}, "(f)"),
        ({1: [], 3: [], 5: [], 8: []}, "(d)"),
        ({8: [9], 5: [8]}, "(g)"),
    ],
)
def test_the_checker_names_what_is_broken(changes: dict[int, list[int]], complaint: str) -> None:
    assert violations(IDEAL, 2) == []
    found = violations({**IDEAL, **changes}, 2)
    assert any(complaint in line for line in found), found


def test_a_joiner_that_nobody_points_at_breaks_nothing() -> None:
    assert violations({**IDEAL, 6: [8, 1]}, 2) == []
    assert principals({**IDEAL, 6: [8, 1]}) == {1, 3, 5, 8}
