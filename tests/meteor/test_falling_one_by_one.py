"""A ring falls peer by peer, within a tenth of a second, and is started again, one peer later.

Who is alone at the start takes everything as lost, and hears a moment later that others know later
epochs than its own: it takes its part as lost once more.  What it had acknowledged in between was
laid aside, and stood against the past for ever, though nobody but itself had it.
"""

from __future__ import annotations

import random

import pytest

from sim.overlay import Overlay, SimPeer
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    restart_all,
    seeds,
    store_some,
)

PEERS = 5
GAP_S_MAX = 0.04
"""Until the next one falls: evenly drawn up to this."""
LATE_S = 15.0
DISK_S, SLOW_DISK_S = 0.002, 0.004
"""For one write: a slow disk has more of what was only begun as its peer falls."""
FOUND = [10, 20, 180, 281, 407, 674]
FOUND_SLOW = [4, 39, 207, 230]
"""Their intervals were named as missing for ever."""


def start(overlay: Overlay, fallen: list[SimPeer]) -> None:
    """All of them, again and again where one found no ring to join."""
    restart_all(overlay, fallen)
    addresses = {peer.address for peer in fallen}
    for _ in range(5):
        up = {peer.address for peer in overlay.living}
        again = [one for one in overlay.peers if one.address in addresses - up]
        if not again:
            return
        overlay.run_for(2.0)
        restart_all(overlay, list({one.address: one for one in again}.values()))


def fall(overlay: Overlay, drawn: random.Random, gap_s_max: float) -> list[SimPeer]:
    """All peers, each within a drawn gap after the one before; in the order in which they fell."""
    order = list(overlay.living)
    drawn.shuffle(order)
    for peer in order:
        peer.crash()
        overlay.run_for(drawn.uniform(0, gap_s_max))
    overlay.run_for(1.0)
    return order


CASES = [
    *(pytest.param(one, late, id=f"{one}-{late}-found") for one in FOUND for late in (False, True)),
    *(pytest.param(one, late) for one in (1, 2) for late in (False, True)),
    *(
        pytest.param(one, late, marks=pytest.mark.long)
        for one in range(3, 61) for late in (False, True)
    ),
]  # fmt: skip


@pytest.mark.parametrize(("seed", "is_late"), CASES)
def test_a_ring_that_fell_peer_by_peer_comes_back_whole(seed: int, is_late: bool) -> None:
    fall_and_come_back(seed, DISK_S, is_late)


@pytest.mark.parametrize("seed", [*FOUND_SLOW, *seeds(1, 60)])
def test_so_does_one_whose_disks_are_slow(seed: int) -> None:
    fall_and_come_back(seed, SLOW_DISK_S, is_late=False)


def fall_and_come_back(seed: int, disk_s: float, is_late: bool) -> None:
    overlay, drawn = build(seed, PEERS, disk_s=disk_s), random.Random(seed)
    stored = set(store_some(overlay, overlay.client(), drawn, 30))
    assert_whole_within(overlay)
    order = fall(overlay, drawn, GAP_S_MAX)
    late = order[-2:-1] if is_late else []
    others = [peer for peer in order if peer not in late]
    drawn.shuffle(others)
    start(overlay, others)
    overlay.run_for(LATE_S)
    assert_never_silently_partial(overlay, overlay.client(), stored)
    start(overlay, late)
    assert_whole_within(overlay, 60)
    assert ask(overlay, overlay.client()) == (stored, True)
