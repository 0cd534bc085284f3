"""A watch hears what becomes of an interest that is replaced, whoever has which of its places."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE

WATCHED = "type=alarm temperature=*"
WAS = (
    "type=alarm temperature=50..60",
    "type=alarm temperature=-20..90",
    "type=a* temperature=0..9",
)
ELSEWHERE = ("type=light humidity=1..2", "type=light humidity>=0", "type=light temperature=3")
"""That the watch does not meet."""
STILL_MET = ("type=alarm temperature=-20..0", "type=* temperature=3", "type=al* temperature=7..8")


@pytest.fixture(params=[1, 2, 3, 5, 8])
def overlay(request: pytest.FixtureRequest) -> Overlay:
    return Overlay(codec=wire_codec(), peers=request.param, space=SPACE, seed=1)


def test_an_interest_that_asks_for_something_else_is_gone(overlay: Overlay) -> None:
    """Who was to say so had, as a copy, what took its place, or word of that, from another holder;
    or the share by which that came was of another part than the one that was to hear it."""
    for was, becomes in product(WAS, ELSEWHERE):
        heard: list[tuple[str, bool]] = []
        overlay.run(_replaced(overlay, was, becomes, heard))
        assert [kind for kind, _ in heard] == ["appeared", "gone"], (was, becomes)


def test_an_interest_that_moves_within_what_is_watched_never_was_gone(overlay: Overlay) -> None:
    """Word that it left one place came before word that it was at the other."""
    for was, becomes in product(WAS, STILL_MET):
        heard: list[tuple[str, bool]] = []
        overlay.run(_replaced(overlay, was, becomes, heard))
        assert all(active for _, active in heard[:-1]), (was, becomes, heard)


async def _replaced(
    overlay: Overlay, was: str, becomes: str, heard: list[tuple[str, bool]]
) -> None:
    """What a watch hears of one interest, and whether it is active then, until nobody is."""
    asks, watches = overlay.client(peer=0), overlay.client(peer=-1)

    def hear(one: Any) -> None:
        heard.append((one.kind, watch.active))

    interest = await asks.notify_data(was, ttl=3600)
    watch = watches.notify_interest(WATCHED, ttl=3600, handler=hear)
    await watch
    await watch.wait_active(timeout=5)
    await interest.replace(becomes)
    if becomes in STILL_MET:
        await watch._session.runtime.sleep(3.0)
        assert watch.active
        await interest.close()
    await watch.wait_idle(timeout=5)
    await interest.close()
    await watch.close()
