"""A rival that is heard of while another one of the same interval is settled stays named."""

from __future__ import annotations

from unittest.mock import AsyncMock

import pytest

from meteor.wire.view import Rival
from tests.meteor.test_rivals import AnsweredBeside


@pytest.mark.parametrize("by_past", [False, True])
def test_what_is_only_heard_of_stays_named_when_something_else_is_found(
    by_past: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One rival was merged, or a lost past found, when word of another rival had come that was not
    written down yet, as a copy is asked first: answers were complete without what that one had."""
    world = AnsweredBeside()
    replication = world.peer.core.replication
    rivals = world.peer.core._handoff.rivals
    monkeypatch.setattr(rivals, "_note_heard", AsyncMock())
    monkeypatch.setattr(rivals, "_settle", AsyncMock())
    (mine,) = world.peer.core.views.own.values()
    first = Rival((world.interval,), 77, (world.stranger.contact,))
    if by_past:
        world.overlay.run(replication.rival(mine.number, lost=(world.interval,)))
    else:
        world.overlay.run(replication.rival(mine.number, add=(first,)))
    world.peer.core.holdings.reckon((world.interval,))
    rivals.note(Rival((world.interval,), 78, (world.stranger.contact,)))
    if by_past:
        assert world.overlay.run(replication.found(mine.number, (world.interval,)))
    else:
        known = (world.interval,)
        world.overlay.run(replication.rival(mine.number, without=first, known=known))
    assert world.unknown == (world.interval,)
