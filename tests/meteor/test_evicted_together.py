"""Both copies of a peer were evicted while they were cut off, and never told: they do not vouch for
each other when their primary falls.

What was acknowledged since is with the recruits.  Until an heir had taken over from these, every
answer came from one of the two, for two seconds or so, and was complete without it.
"""

from __future__ import annotations

import random

import pytest

from meteor import Client, profile
from sim.overlay import Overlay
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    primary_of,
    seeds,
)

PEERS = 9
ASKED, STEP_S = 30, 0.05
HEALED_WITHIN_S = 60.0


class Evicted:
    """A peer whose copies, and nobody else, are cut off; and what was acknowledged without them."""

    def __init__(self, seed: int, *, from_everybody: bool) -> None:
        self.overlay: Overlay = build(seed, PEERS, disk_s=0.001)
        self.reading = profile(draw_data(random.Random(seed)))
        first = self._store("before", client=self.overlay.client())
        assert_whole_within(self.overlay)
        self.owner, copies = primary_of(self.overlay, first), copies_of(self.overlay, first)
        self.client = client_away_from(self.overlay, first)
        self.overlay.run(self.client.retrieve(self.reading).all())  # its peer knows the owner
        others = None if from_everybody else [self.owner.contact]
        away = [one.contact for one in copies]
        self.cut = self.overlay.faults.partition(away, others)
        self.acknowledged = {first, self._store("since", client=self.client)}

    def _store(self, stem: str, client: Client) -> str:
        return self.overlay.run(client.store(self.reading, b"x", id=stem, ttl=7200)).id

    def ask(self) -> bool:
        """Whether the answer is complete, which it is not without anything."""
        answer = self.client.retrieve(self.reading, allow_partial=True, timeout=2.0)
        found = {match.id for match in self.overlay.run(answer.all())}
        if answer.complete:
            assert found == self.acknowledged, "silently partial"
        return answer.complete


@pytest.mark.parametrize("seed", seeds(3, 20))
def test_copies_that_are_back_do_not_vouch_for_each_other(seed: int) -> None:
    """All are one again, but for the primary."""
    world = Evicted(seed, from_everybody=True)
    world.overlay.faults.vanish(world.owner.contact)
    world.overlay.run_for(random.Random(seed).choice([0.0, 0.5, 1.0]))
    world.cut.heal()
    ask_until_whole(world)


@pytest.mark.parametrize("seed", seeds(2, 20))
def test_copies_that_their_primary_alone_did_not_reach_do_not_either(seed: int) -> None:
    world = Evicted(seed, from_everybody=False)
    world.overlay.faults.vanish(world.owner.contact)
    ask_until_whole(world)


def ask_until_whole(world: Evicted) -> None:
    for _ in range(ASKED):
        world.ask()
        world.overlay.run_for(STEP_S)
    world.overlay.run_for(HEALED_WITHIN_S)
    assert world.ask(), "whoever took over has it all"
