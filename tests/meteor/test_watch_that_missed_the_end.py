"""A watch that could not hear that the last interest went finds out all the same."""

from __future__ import annotations

from typing import Any

import pytest

from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)


def let_tellers_fall(overlay: Overlay) -> None:
    """Whoever has word for the watch, which is cut off, falls with it, and so does its peer."""
    tellers = [one for one in overlay.living if one.core.telling.waiting]
    assert tellers
    for one in {*tellers, overlay.peers[2]}:
        one.crash()


def test_a_watch_that_had_run_out_knows_that_nobody_is_interested(overlay: Overlay) -> None:
    """It was posted again, and told of what lives; what had gone meanwhile counted for ever."""
    interest = overlay.run(opened(overlay.client(peer=3)))
    watch = overlay.run(watched(overlay.client(peer=2), ttl=20))
    overlay.run(watch.wait_active(timeout=5))
    watch._attachment._living.cancel()  # its process is held
    overlay.run_for(30.0)
    overlay.run(interest.close())
    overlay.run_for(3.0)
    overlay.run(watch._attachment.reattach())
    overlay.run(watch.wait_idle(timeout=5))


def test_a_watch_knows_that_nobody_is_interested_though_its_holders_fell(overlay: Overlay) -> None:
    """Word that an interest went is not derived again: it was lost with those who were to tell."""
    interest = overlay.run(opened(overlay.client(peer=3)))
    watch = overlay.run(watched(overlay.client(peer=2)))
    overlay.run(watch.wait_active(timeout=5))
    overlay.run_for(5.0)
    cut = overlay.faults.partition([watch._session.runtime.contact])
    overlay.run(interest.close())
    let_tellers_fall(overlay)
    overlay.faults.lift(cut)
    overlay.run(watch.wait_idle(timeout=150))


def test_an_interest_that_comes_is_told_of_though_its_holders_fell(overlay: Overlay) -> None:
    """Word of it is derived again: a watch that knows of none need not ask whether there is one."""
    watch = overlay.run(watched(overlay.client(peer=2)))
    overlay.run_for(5.0)
    assert not watch.active
    cut = overlay.faults.partition([watch._session.runtime.contact])
    overlay.run(opened(overlay.client(peer=3)))
    overlay.run_for(1.0)
    let_tellers_fall(overlay)
    overlay.faults.lift(cut)
    overlay.run(watch.wait_active(timeout=150))


def test_a_watch_that_found_out_by_asking_hears_of_the_next_end_as_well(overlay: Overlay) -> None:
    """It went on counting the one of which it never heard that it went."""
    first = overlay.run(opened(overlay.client(peer=3)))
    watch = overlay.run(watched(overlay.client(peer=2)))
    overlay.run(watch.wait_active(timeout=5))
    overlay.run_for(5.0)
    cut = overlay.faults.partition([watch._session.runtime.contact])
    overlay.run(first.close())
    let_tellers_fall(overlay)
    overlay.faults.lift(cut)
    overlay.run(watch.wait_idle(timeout=150))
    second = overlay.run(opened(overlay.client(peer=-1)))
    overlay.run(watch.wait_active(timeout=5))
    overlay.run(second.close())
    overlay.run(watch.wait_idle(timeout=5))


def test_an_interest_that_comes_just_then_is_not_passed_over(overlay: Overlay) -> None:
    watch = overlay.run(watched(overlay.client(peer=2), ttl=6))
    for _ in range(6):
        interest = overlay.run(opened(overlay.client(peer=3)))
        overlay.run(watch.wait_active(timeout=5))
        overlay.run_for(2.3)
        assert watch.active
        overlay.run(interest.close())
        overlay.run(watch.wait_idle(timeout=5))


async def opened(client: Any, **options: Any) -> Any:
    return await client.notify_data("type=alarm temperature=50..60", **{"ttl": 3600, **options})


async def watched(client: Any, **options: Any) -> Any:
    return await client.notify_interest("type=alarm temperature=*", **options)
