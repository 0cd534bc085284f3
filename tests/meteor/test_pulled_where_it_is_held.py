"""What comes in of what is held by then is with one's copies before it counts as all there is.

Law of this file: a peer pulls an interval from one who holds it as well, or has a copy of what a
dead primary had; it is given the same by somebody else as the pages come, and is compared with its
copies meanwhile, as a client's request does it.  Then it falls.
"""

from __future__ import annotations

import pytest

from chord import Contact, Deferred, replace
from meteor.wire.copy_messages import Instated
from meteor.wire.operations import (
    Claim,
    ClaimAnswer,
    Freeze,
    Frozen,
    Pull,
    PulledPage,
    TakeOver,
    Yours,
)
from meteor.wire.record_id import stem_of
from meteor.wire.view import View
from sim.simulated_peer import SimPeer
from squid import covers
from tests.meteor.copies_world import (
    ask,
    client_away_from,
    copies_of,
    crash,
    index_of,
    is_shown,
    primary_of,
)
from tests.meteor.test_coming_as_it_is_taken_for_lost import Pulled
from tests.meteor.test_copy_keeper import Stranger


class Slow(Stranger):
    """Has one record more than whoever gives the interval as its answer is on the way: its first
    page, or what it says `as_it_freezes`."""

    def __init__(self, world: Pulled, *, as_it_freezes: bool = False) -> None:
        super().__init__(world.overlay)
        self._world, self._as_it_freezes = world, as_it_freezes
        self.asked, self.gave = 0, False
        shelf = world.giver.core.shelf
        placed = shelf.find(("", stem_of(world.record)))
        assert placed is not None
        self.record = world.record.replace(stem_of(world.record), "another")
        one = replace(shelf.outgoing(placed.carried), id=self.record, number=placed.number + 1)
        self._page = PulledPage((one,), 0, more=False)
        dead, epoch = Contact(98, "10.9.9.8:1"), world.view.epoch + (1 << 30)
        self.kept = View(dead, 5, epoch, (world.interval,), (self.contact,))

    def _handle(self, sender: Contact, message: object, late_s: float) -> object:
        if isinstance(message, Pull | Freeze):
            self.asked += 1
            return Deferred(self._page_of(message, self.asked))
        if isinstance(message, TakeOver):
            self.gave = True
            return Yours()
        if isinstance(message, Claim):
            return ClaimAnswer(() if self.gave else (message.interval,), (), (), settled=True)
        return Instated()

    async def _page_of(self, message: Pull | Freeze, number: int) -> object:
        frozen, page = isinstance(message, Freeze), self._page
        if self._as_it_freezes and number == 1:
            page = PulledPage((), 0, more=False)
        elif number == 1 or (self._as_it_freezes and number == 2):
            await self._give_meanwhile()
        return Frozen(page, 1, (), epoch=self.kept.epoch) if frozen else page

    async def _give_meanwhile(self) -> None:
        core, part = self._world.taker.core, (self._world.interval,)
        assert await core._handoff.pulling.take(part[0], self._world.giver.contact, ())
        levelling = core.replication.levelling
        assert await levelling.until(part, self.runtime.now() + 1.0)
        assert not levelling.is_open(part)


def is_named(world: Pulled) -> bool:
    """Whether the interval is, or nobody holds it for a moment, as it is given on."""
    held, index = [one.core.holdings for one in world.overlay.living], index_of(world.record)
    held = [one for one in held if covers(one.held, index)]
    return not held or any(one.lost for one in held)


def assert_there_after_a_fall(world: Pulled, slow: Slow) -> None:
    """Whoever has the interval now falls."""
    client = client_away_from(world.overlay, world.record)
    holder: SimPeer = primary_of(world.overlay, world.record)
    copies = copies_of(world.overlay, world.record)
    assert all(is_shown(one, slow.record) for one in (holder, *copies))
    crash(holder)
    world.overlay.run_for(8.0)
    found, complete = ask(world.overlay, client)
    assert found == {world.record, slow.record}
    assert complete


@pytest.mark.parametrize("as_it_freezes", [False, True])
@pytest.mark.parametrize("seed", range(1, 9))
def test_who_holds_it_as_well_lets_go_when_the_copies_have_it(
    seed: int, as_it_freezes: bool
) -> None:
    """It was no news any more as the two were made one, and the copies had been compared: the last
    that was left of it was the taker."""
    world = Pulled(seed)
    slow, pulling = Slow(world, as_it_freezes=as_it_freezes), world.taker.core._handoff.pulling
    assert not world.overlay.run(pulling.take(world.interval, slow.contact, ()))
    while not slow.gave:
        world.overlay.run_for(0.001)
    assert_there_after_a_fall(world, slow)


@pytest.mark.parametrize("seed", range(1, 9))
def test_what_an_heir_fetched_in_vain_is_named_until_the_copies_have_it(seed: int) -> None:
    """It was taken in beside what had been handed over, and that was no news either."""
    world = Pulled(seed)
    slow, handoff = Slow(world), world.taker.core._handoff
    slow.gave = True  # it holds nothing
    world.overlay.run(handoff._adopt((world.interval,), slow.kept, (slow.contact,)))
    while is_named(world):
        world.overlay.run_for(0.001)
    assert_there_after_a_fall(world, slow)
