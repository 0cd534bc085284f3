"""The whole ring falls among joins, leaves and crashes, again and again: it comes back whole.

Power is cut while intervals change hands, so that journals disagree about who was to have what, and
peers start again while others still find out what they know.
"""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from meteor import MeteorError
from sim.overlay import Overlay
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    crash,
    restart_all,
    store_some,
)

NAMED_FOR_EVER = (101, 116, 136, 142)
"""A copy had taken a view that its primary then went on without: that one copy's memory stood
against the past for ever, or counted as word of a rival that nobody could show to be merged."""


def events(overlay: Overlay, drawn: random.Random) -> None:
    """Somebody joins, leaves, or crashes and comes back, and now and then all fall at once."""

    async def join() -> None:
        with suppress(MeteorError):  # the ring fell under it
            await overlay.add_peer()

    for _ in range(3):
        kind = drawn.choice(["join", "leave", "crash", "join"])
        if kind == "join":
            overlay.kernel.spawn(join())
        elif kind == "leave" and len(overlay.living) > 5:
            overlay.kernel.spawn(drawn.choice(overlay.living).leave())
        elif kind == "crash":
            one = drawn.choice(overlay.living)
            one.crash()
            overlay.run_for(drawn.random() * 3)
            restart_all(overlay, [one])
        overlay.run_for(drawn.random() * 1.5)
        if drawn.random() < 0.6:
            fallen = list(overlay.living)
            drawn.shuffle(fallen)
            crash(*fallen)
            overlay.run_for(drawn.random())
            restart_all(overlay, fallen)
            overlay.run_for(drawn.random() * 4)


def marks(seed: int) -> list[pytest.MarkDecorator]:
    """The ones that were mended are part of the short suite."""
    return [] if seed in NAMED_FOR_EVER else [pytest.mark.long]


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=marks(seed)) for seed in range(100, 160)]
)
def test_a_ring_that_falls_as_it_changes_comes_back_with_everything(seed: int) -> None:
    overlay = build(seed, 8)
    drawn = random.Random(seed)
    assert_whole_within(overlay)
    stored = store_some(overlay, overlay.client(), drawn, 8)
    events(overlay, drawn)
    assert_whole_within(overlay, 60)
    assert ask(overlay, overlay.client()) == (set(stored), True)
