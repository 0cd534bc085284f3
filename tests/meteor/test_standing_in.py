"""Who answers in a silent owner's stead names what it cannot answer for, as that one would."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from squid import Intervals, covers
from tests.meteor.copies_world import copies_of, index_of
from tests.meteor.test_known_traps import Asker, heir_of_lost, with_probe
from tests.meteor.test_replaced_halfway import Halfway


@pytest.mark.parametrize("seed", [1, 2])
def test_what_left_its_own_place_halfway_is_named(seed: int) -> None:
    """It holds a part of what it is asked for, and nothing is lost there."""
    world = Halfway(seed)
    world.replace_in_part()
    found, said_all = Asker(world.overlay).ask(world.peer, index_of(world.old), stands_in=True)
    assert found or not said_all


def test_what_was_lost_as_it_looked_is_named_though_it_is_found_as_the_pages_are_packed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overlay, probe, asker = with_probe(1)
    heir = heir_of_lost(overlay, probe)
    copy, *_ = copies_of(overlay, probe)
    heir.pause()
    packed: Callable[..., Awaitable[Any]] = copy.core.point._reactions.answer

    async def meanwhile(*asked: object) -> Any:
        def nothing() -> Intervals:
            return ()

        monkeypatch.setattr(copy.core.views, "copied_lost", nothing)
        return await packed(*asked)

    monkeypatch.setattr(copy.core.point._reactions, "answer", meanwhile)
    found, said_all = asker.ask(copy, index_of(probe), stands_in=True)
    assert not found
    assert not said_all
    assert any(covers(one.missing, index_of(probe)) for one in asker.reports)
