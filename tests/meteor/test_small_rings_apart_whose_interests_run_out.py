"""Small rings as in `test_small_rings_whose_interests_run_out`, cut in two as well: once the ring
is one again nobody finds a pair of what is over, and what lives to the end meets all that does.
"""

from __future__ import annotations

import pytest

from tests.meteor.notified_world import SETTLED_S
from tests.meteor.small_ring_world import CUT_PAUSES_S
from tests.meteor.test_small_rings_apart_whose_records_run_out import CutRing
from tests.meteor.test_small_rings_whose_interests_run_out import LapsingRing

FOUND = {
    20: "a store that was a link's first request lay there until the cut was over",
    8040: "a giver's next epoch since it froze was a rival that who took all over could not show",
}
"""Seeds that found a bug, and what it was."""


class LapsingCutRing(CutRing, LapsingRing):
    """A ring that is cut at times, and its interests."""

    def is_apart(self) -> bool:
        return self.now_s < self.apart_until_s

    def change(self) -> None:
        self.client = self.home
        super().change()


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = LapsingCutRing(seed, monkeypatch)
    print(f"{ring.size} peers, {ring.copies} copies")
    ring.play(range(3, 10), 5, CUT_PAUSES_S)
    ring.heal()
    ring.bring_back()
    ring.overlay.run_for(SETTLED_S)
    ring.assert_ends()
    ring.assert_told()


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_stays_mended(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_what_is_over_is_told_to_nobody(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
