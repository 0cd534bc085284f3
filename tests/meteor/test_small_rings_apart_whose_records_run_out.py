"""Small rings as in `test_small_rings_whose_records_run_out`, cut in two as well, with changes on
both sides: of what both changed the latest version counts, or a later one that nobody was told of.

What waits on a link for the end of a cut is not taken for new when it comes (seeds 20, 161 and 260
of 400, which it was).
"""

from __future__ import annotations

import pytest

from meteor import Client
from tests.meteor import copies_world
from tests.meteor.small_ring_world import CUT_PAUSES_S, CutAtTimes
from tests.meteor.test_small_rings_whose_records_run_out import NEVER, FleetingRing, Life

SETTLED_S = 15.0
FOUND = {
    161: "a store lay on a link until the cut was over, and lived from then on",
    260: "the same",
}
"""Seeds that found a bug, and what it was."""


class CutRing(CutAtTimes, FleetingRing):
    """A ring that is cut at times."""

    sizes = (4, 5, 6, 6, 7, 8)
    late_s = 20.0
    apart_until_s = 0.0
    """Until then the two sides may not have met."""

    def cut_or_heal(self) -> None:
        if self.cut is None and self.now_s >= self.apart_until_s:
            self.touched: dict[int, set[bool]] = {}
        super().cut_or_heal()
        self.apart_until_s = NEVER if self.cut is not None else self.now_s + SETTLED_S

    def heal(self) -> None:
        super().heal()
        self.apart_until_s = min(self.apart_until_s, self.now_s + SETTLED_S)

    def is_alone_with(self, life: Life) -> bool:
        """On one side, while there are two; not while these meet, and either may answer."""
        if self.now_s >= self.apart_until_s:
            return True
        if self.cut is None:
            return False
        touched = self.touched.setdefault(id(life), set())
        touched.add(self.client is not None and self.client.peer_address in self.side)
        return len(touched) == 1

    def counts(self) -> bool:
        """Of one side, while there are two."""
        address = None if self.client is None else self.client.peer_address
        return len(self.living_with(address)) >= 3

    def ask(self, client: Client, timeout_s: float) -> None:
        if self.now_s >= self.apart_until_s:
            super().ask(client, timeout_s)


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = CutRing(seed, monkeypatch)
    print(f"{ring.size} peers, {ring.copies} copies")
    ring.play(range(3, 10), 5, CUT_PAUSES_S)
    ring.heal()
    ring.bring_back()
    ring.overlay.run_for(SETTLED_S)
    ring.assert_ends()
    for pause_s in (0.0, 2.0, 6.0, 12.0, 20.0, 40.0, 60.0):
        ring.overlay.run_for(pause_s)
        ring.ask(ring.client_of(ring.drawn.randrange(ring.size)), 8.0)
    copies_world.assert_whole_within(ring.overlay, 60)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_stays_mended(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_what_lives_is_there_and_what_is_over_is_not(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_all_holds(seed, monkeypatch)
