"""Small rings whose peers count only what more than half of them hold (`copies_min`).

Nothing is excepted here: not what the last two acknowledge, nor what one side of a cut does, as
these wait.  Every answer, also of one side, has all that was acknowledged anywhere, or names it.
"""

from __future__ import annotations

import random

import pytest

from tests.meteor import copies_world
from tests.meteor.copies_world import seeds
from tests.meteor.test_small_rings_apart import HealedRing
from tests.meteor.test_small_rings_that_move import MovingRing

SIZES = (3, 4, 5)
"""With three copies: more of them than half of all peers."""


class MajorityRing(MovingRing):
    """A ring in which two groups that do not know of each other never both go on."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        size = random.Random(seed).choice(SIZES)
        self.sizes = (size,)
        monkeypatch.setattr(copies_world, "COPIES_MIN", size // 2 + 1)
        super().__init__(seed, monkeypatch)

    def counts(self) -> bool:
        return True


class CutMajorityRing(HealedRing, MajorityRing):
    """One that is cut at times, and asked on both sides."""

    is_apart = True


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = MajorityRing if seed % 2 else CutMajorityRing
    kind(seed, monkeypatch).to_the_end()


@pytest.mark.parametrize("seed", seeds(10, 300))
def test_nothing_is_absent_silently(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
