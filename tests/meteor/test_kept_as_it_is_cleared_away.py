"""A copy that lays down what it had, as the past of that is lost to another primary, confirms
nothing that was not laid down with it.

Law of this file: what a primary writes is on its way to the copy's disk as a stranger, who calls
the past of the interval lost, makes that peer its own copy.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from arms import DATA
from chord import CallError, RemoteFault
from meteor import profile
from meteor.copies.entropy_source import MOVED_FAULT
from meteor.keeping.placement import GONE
from meteor.wire.copy_messages import Instated, Keep, Learn
from meteor.wire.entropy_messages import GiveRecords
from meteor.wire.operations import Pull
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    index_of,
    primary_of,
    view_of,
)
from tests.meteor.test_copy_keeper import Stranger, wire

DISK_S, CALL_S = 0.01, 5.0


class Cleared:
    """A deleted record, and a copy of it, which is told of that as it lays down what it had."""

    def __init__(self, seed: int) -> None:
        self.overlay = build(seed, 8, disk_s=DISK_S)
        assert_whole_within(self.overlay)
        data, client = profile(draw_data(random.Random(seed))), self.overlay.client()
        record = self.overlay.run(client.store(data, b"x", ttl=7200)).id
        self.primary, self.view = primary_of(self.overlay, record), view_of(self.overlay, record)
        self.copy, self.part = copies_of(self.overlay, record)[0], ((index_of(record),) * 2,)
        self.stone = wire(record, self.primary, kind=GONE, blob=b"")
        self.stranger = Stranger(self.overlay)

    def told(self, message: object) -> Any:
        """What the copy says, or the error."""
        asking = self.overlay.kernel.spawn(self._tell(message))
        self.overlay.run_for(DISK_S / 2)
        lost = self.stranger.view(self.part, self.view.epoch + (1 << 30), lost=self.part)
        assert self.stranger.ask(self.copy, Learn(lost)) == Instated()
        reply = self.overlay.kernel.run_until(asking)
        pull = Pull(self.part[0], 0, self.view.epoch, self.primary.contact.id)
        former = self.stranger.ask(self.copy, pull)
        assert former.whole
        assert [one.kind for one in former.carried] == [DATA]
        return reply

    async def _tell(self, message: object) -> object:
        try:
            return await self.primary.runtime.call(self.copy.contact, message, CALL_S)
        except CallError as error:
            return error


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_delete_that_is_not_laid_down_with_the_rest_is_not_confirmed(seed: int) -> None:
    """Whoever took in what the copy had of the former view, up to its end as it said, got what had
    been deleted by then, and the delete was acknowledged."""
    world = Cleared(seed)
    reply = world.told(Keep(world.part, (world.stone,)))
    assert not reply.known
    assert [one.primary for one in reply.newer] == [world.stranger.contact]


@pytest.mark.parametrize("seed", range(1, 7))
def test_nor_is_one_that_comes_as_the_two_are_compared(seed: int) -> None:
    """Who deletes again is told that it is done, once the copies were compared."""
    world = Cleared(seed)
    reply = world.told(GiveRecords(world.part, (world.stone,)))
    assert isinstance(reply, RemoteFault)
    assert reply.kind == MOVED_FAULT
