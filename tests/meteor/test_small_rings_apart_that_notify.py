"""Small rings as in `test_small_rings_that_notify`, cut in two as well: what came on either side is
told once, when the ring is one again if not before."""

from __future__ import annotations

import pytest

from sim.faults import Partition
from tests.meteor.copies_world import assert_whole_within
from tests.meteor.notified_world import assert_exactly_once
from tests.meteor.test_falling_one_by_one import start
from tests.meteor.test_small_rings_that_notify import NotifyingRing


class CutRing(NotifyingRing):
    """A ring that is cut at times."""

    sizes = (4, 5, 6, 6, 7, 8)
    cut: Partition | None = None
    side: frozenset[str] = frozenset()
    """The addresses of one side."""

    def happen(self) -> None:
        """One drawn event."""
        if self.drawn.random() < 0.4:
            self.cut_or_heal()
        else:
            super().happen()

    def cut_or_heal(self) -> None:
        if self.cut is not None:
            self.heal()
            return
        peers = list(self.overlay.peers)
        self.drawn.shuffle(peers)
        count = self.drawn.randrange(1, len(peers))
        one, other = peers[:count], peers[count:]
        self.side = frozenset(peer.address for peer in one)
        self.cut = self.overlay.faults.partition(
            [peer.contact for peer in one], [peer.contact for peer in other]
        )

    def heal(self) -> None:
        if self.cut is not None:
            self.cut.heal()
        self.cut = None

    def counts(self, address: str | None) -> bool:
        """Of one side, while there are two."""
        living = self.overlay.living
        if self.cut is not None:
            here = address in self.side
            living = [one for one in living if (one.address in self.side) is here]
        return len(living) >= 3


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = CutRing(seed, monkeypatch)
    print(f"{ring.size} peers")
    for _ in range(ring.drawn.randrange(3, 10)):
        ring.happen()
        for _ in range(ring.drawn.randrange(0, 3)):
            ring.change()
        ring.overlay.run_for(ring.drawn.choice([0, 0.5, 2, 6, 12]))
    ring.heal()
    start(ring.overlay, ring.dead())
    start(ring.overlay, ring.dead())
    assert_whole_within(ring.overlay, 90)
    ring.change()
    for sensor, listener in ring.pairs:
        assert_exactly_once(ring.overlay, sensor, listener)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_all_is_told_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
