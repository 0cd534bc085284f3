"""What an heir has just begun, as somebody gives it the same, is named beside what it was given.

Law of this file: an heir takes an interval over from a survivor; as its view is on the way to that
one, it is given the interval by somebody else, who cannot take it back.  Then it falls.
"""

from __future__ import annotations

import pytest

from chord import Contact, Deferred
from meteor.wire.copy_messages import Instate, Instated
from meteor.wire.operations import Pull
from tests.meteor.copies_world import ask, client_away_from, crash
from tests.meteor.test_coming_as_it_is_taken_for_lost import Pulled
from tests.meteor.test_pulled_where_it_is_held import Slow


class Survivor(Slow):
    """Has one record more than whoever gives the interval as it is about to be a copy."""

    def __init__(self, world: Pulled) -> None:
        super().__init__(world)
        self.gave, self._instated = True, 0  # it holds nothing

    def _handle(self, sender: Contact, message: object, late_s: float) -> object:
        if isinstance(message, Pull):
            return self._page
        if isinstance(message, Instate):
            self._instated += 1  # the first time it is to refuse a dead primary
            return Deferred(self._late()) if self._instated == 2 else self._has()
        return super()._handle(sender, message, late_s)

    def _has(self) -> Instated:
        return Instated(beside=(self.kept,))

    async def _late(self) -> Instated:
        take = self._world.taker.core._handoff.pulling.take
        self.runtime.spawn(take(self._world.interval, self._world.giver.contact, ()))
        await self.runtime.sleep(0.03)
        return self._has()


@pytest.mark.parametrize("seed", [1, 4, 5, 6, 7])
def test_an_heir_that_is_given_what_it_begins_names_it(seed: int) -> None:
    """The view of what it was given took the place of its own: the copies of that have nothing of
    what the survivor has, and could show that this was all."""
    world = Pulled(seed)
    survivor, core = Survivor(world), world.taker.core
    client = client_away_from(world.overlay, world.record)
    adopt = core._handoff._adopt((world.interval,), survivor.kept, (survivor.contact,))
    world.overlay.run(adopt)
    world.overlay.run_for(0.05)
    (view,) = core.views.touching((world.interval,))
    assert view.has_copy(world.giver.contact.id)
    crash(world.taker)
    world.overlay.run_for(8.0)
    found, complete = ask(world.overlay, client)
    assert world.record in found
    assert survivor.record in found or not complete
    assert ask(world.overlay, client)[0] == {world.record, survivor.record}, "who has it is asked"
