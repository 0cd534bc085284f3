"""What was to live for a month and was deleted at once is not back with a clock that is slow.

A tombstone, or word of a move, counts its time by the clocks of its holders; what whoever was down
had before, by that one's.
"""

from __future__ import annotations

import pytest

from meteor.lifetimes import TTL_S_MAX
from sim.clock import ClockPlan, MachineClock
from sim.kernel import Kernel
from tests.meteor.copies_world import ask, assert_whole_within, build, restart_all

DRIFT = 0.005
SLOW = "10.0.0.3:7400"
HERE, ELSEWHERE = "type=lamp temperature=20", "type=lamp temperature=-30"


class OneIsSlow(ClockPlan):
    """All clocks but one machine's are fast by as much as that one is slow."""

    def clock_of(self, kernel: Kernel, machine: str) -> MachineClock:
        return MachineClock(kernel, drift=-DRIFT if machine == SLOW else DRIFT)


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_who_was_down_does_not_bring_it_back(how: str) -> None:
    overlay = build(1, 3, clocks=OneIsSlow())
    assert_whole_within(overlay)
    client = overlay.client()
    first = overlay.run(client.store(HERE, b"x", ttl=TTL_S_MAX)).id
    (slow,) = (peer for peer in overlay.living if peer.address == SLOW)
    slow.crash()
    if how == "deleted":
        assert overlay.run(client.cancel(first)).matches == 1
    else:
        overlay.run(client.replace(first, ELSEWHERE, b"y", ttl=60))
    overlay.run(client.close())
    for peer in overlay.living:
        peer.crash()
    overlay.run_for(TTL_S_MAX)
    restart_all(overlay, list(overlay.peers))
    assert_whole_within(overlay, 60)
    assert ask(overlay, overlay.client()) == (set(), True)
