"""Peers fall and come back in any order, within milliseconds or seconds of one another.

In the end all are there, with all that their journals say: whatever was acknowledged is found, and
no interval is named.  What a heir had only half done, what a copy had offered a moment before, and
what somebody is asked who has just begun to start: each has hidden a past that nothing had happened
to.
"""

from __future__ import annotations

import random

import pytest

from meteor import MeteorError
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    crash,
    restart_all,
    seeds,
    store_some,
)

MOMENTS_S = [0.001, 0.02, 0.05, 0.1, 0.3, 1, 4, 8]
FOUND = [24, 56, 142, 150, 402, 1097]
"""What was named for ever: a view that no heir began, in the place of the last; an offer taken by
who fell then; a view whose primary fell before it noted it; a next epoch that a giver never began;
word of a primary that had not read its journal yet; a copy that its primary began to fill again, as
it had been told a moment before that it was none."""


ACKNOWLEDGED_ALONE = 87
"""By a peer that had lost the past, with nobody else there; as it found an earlier past, it forgot
that, and said that its answer was complete."""


class Ups:
    """An overlay in which peers go down and up."""

    def __init__(self, seed: int) -> None:
        self.drawn = drawn = random.Random(seed)
        self.overlay = build(seed, drawn.choice([4, 5, 6, 7]), disk_s=drawn.choice([0.001, 0.01]))
        client = self.overlay.client()
        self.stored = set(store_some(self.overlay, client, random.Random(seed), 6))
        self.open: set[str] = set()
        assert_whole_within(self.overlay)

    def step(self) -> None:
        """Some fall, or some come back; and some time goes by."""
        overlay, drawn = self.overlay, self.drawn
        up = list(overlay.living)
        down = [peer for peer in overlay.peers if peer not in up]
        if down and (drawn.random() < 0.5 or len(up) < 2):
            restart_all(overlay, drawn.sample(down, drawn.randint(1, len(down))))
        elif len(up) > 1:
            most = len(up) - (1 if drawn.random() < 0.8 else 0)
            crash(*drawn.sample(up, drawn.randint(1, min(most, 4))))
        if not overlay.living:
            restart_all(overlay, [drawn.choice(overlay.peers)])
        overlay.run_for(drawn.choice(MOMENTS_S) * drawn.random() * 2)

    def post(self, number: int) -> None:
        """Post something to whoever is up; what is not acknowledged may be there."""
        overlay = self.overlay
        entry = self.drawn.choice([at for at, peer in enumerate(overlay.peers) if peer.alive])
        stem = f"later-{number}"
        lamp = f"type=lamp temperature={self.drawn.randint(0, 60)} humidity=2"
        client = overlay.client(peer=entry % len(overlay.living))
        work = client.store(lamp, b"x", id=stem, timeout=2)
        try:
            self.stored.add(overlay.run(work).id)
        except MeteorError:
            self.open.add(stem)

    def all_back(self) -> tuple[set[str], bool]:
        """What is found, and whether it is complete, some time after all are there again."""
        overlay = self.overlay
        restart_all(overlay, [peer for peer in overlay.peers if peer not in overlay.living])
        overlay.run_for(60.0)
        asked = overlay.client(peer=self.drawn.randrange(len(overlay.peers)))
        found, complete = ask(overlay, asked)
        return {one for one in found if one.partition(".")[0] not in self.open}, complete


@pytest.mark.parametrize("seed", [*FOUND, *seeds(1, 23)])
def test_all_is_there_when_all_are_back(seed: int) -> None:
    ups = Ups(seed)
    for _ in range(ups.drawn.randint(2, 7)):
        ups.step()
    assert ups.all_back() == (ups.stored, True)


@pytest.mark.parametrize("seed", [ACKNOWLEDGED_ALONE, *seeds(1, 60)])
def test_so_is_what_was_posted_meanwhile(seed: int) -> None:
    ups = Ups(seed)
    for number in range(ups.drawn.randint(3, 8)):
        ups.step()
        ups.post(number)
    assert ups.all_back() == (ups.stored, True)
