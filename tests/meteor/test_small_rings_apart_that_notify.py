"""Small rings as in `test_small_rings_that_notify`, cut in two as well: what came on either side is
told once, when the ring is one again if not before."""

from __future__ import annotations

import pytest

from tests.meteor.notified_world import assert_exactly_once
from tests.meteor.small_ring_world import CUT_PAUSES_S, CutAtTimes
from tests.meteor.test_small_rings_that_notify import NotifyingRing


class CutRing(CutAtTimes, NotifyingRing):
    """A ring that is cut at times."""

    sizes = (4, 5, 6, 6, 7, 8)

    def counts(self, address: str | None) -> bool:
        return len(self.living_with(address)) >= 3


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = CutRing(seed, monkeypatch)
    print(f"{ring.size} peers")
    ring.play(range(3, 10), 3, CUT_PAUSES_S)
    ring.heal()
    ring.bring_back()
    ring.change()
    for sensor, listener in ring.pairs:
        assert_exactly_once(ring.overlay, sensor, listener)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_all_is_told_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
