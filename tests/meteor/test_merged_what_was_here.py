"""What another side of a cut acknowledged came here before the cut, and to no other copy: merged,
it is with all copies, though it was no news here."""

from __future__ import annotations

import pytest

from squid import covers
from tests.meteor.copies_world import assert_never_silently_partial, crash, index_of
from tests.meteor.test_of_a_change_that_came_to_one_copy import InTheMiddle

LATER = 1 << 60
"""An epoch above all that the other side draws meanwhile."""


class TwoSides(InTheMiddle):
    """The primary goes on at one side, the heir at the other one, which is to win."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(seed)
        self.acknowledged = [self.id]
        self.start(self.post(), monkeypatch)
        self.heir.core.views.see(LATER)
        both = self.primary, self.heir, self.other
        rest = [
            one for one in self.overlay.living
            if one not in both and one.address != self.client.peer_address
        ]  # fmt: skip
        side = [self.heir, self.other, *rest[:2]]
        self.overlay.faults.partition([one.contact for one in side])
        while not self.heir_holds_it():
            self.overlay.run_for(0.005)
        self.overlay.faults.clear()

    async def post(self) -> None:
        """One more at that place."""
        placed = self.primary.core.shelf.store.get(*self.key)
        assert placed is not None
        receipt = await self.client.store(placed.profile, b"y", ttl=7200, timeout=20)
        self.acknowledged.append(receipt.id)

    def heir_holds_it(self) -> bool:
        return covers(self.heir.core.holdings.held, index_of(self.id))

    def is_merged(self) -> bool:
        """Whether one of the two has let go, and the other one says that it has all."""
        index = index_of(self.id)
        holders = [one for one in self.overlay.living if covers(one.core.holdings.held, index)]
        return len(holders) == 1 and not any(
            view.rivals or covers(view.lost, index)
            for view in holders[0].core.views.touching(((index, index),))
        )


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_what_was_here_before_it_was_merged_is_with_the_copies(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = TwoSides(seed, monkeypatch)
    assert len(sides.acknowledged) == 2
    sides.overlay.run_for(0.05)  # they have met
    while not sides.is_merged():
        sides.overlay.run_for(0.005)
    crash(sides.heir, sides.primary)
    client = sides.overlay.client(peer=sides.overlay.living.index(sides.other))
    assert_never_silently_partial(sides.overlay, client, sides.acknowledged)
    sides.overlay.run_for(5.0)
    assert assert_never_silently_partial(sides.overlay, client, sides.acknowledged)
