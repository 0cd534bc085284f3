"""Who is just given an interval keeps what came of it, whatever another one calls lost meanwhile.

Law of this file: a stranger, or the peer itself, takes for lost what that peer just pulls.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chord import Contact, Deferred
from meteor.copies.found import Found
from meteor.copies.takeover import Step
from meteor.wire.copy_messages import Instated, Learn
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
from meteor.wire.view import View
from sim.simulated_peer import SimPeer
from squid import Intervals, covers, subtract
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    index_of,
    is_shown,
    primary_of,
    store_some,
    view_of,
)
from tests.meteor.test_copy_keeper import Stranger


class Pulled:
    """A peer that is to have an interval, and somebody who does something in the middle of that."""

    def __init__(self, seed: int) -> None:
        self.overlay = build(seed, 8, disk_s=0.001)
        stored = store_some(self.overlay, self.overlay.client(), random.Random(seed), 1)
        (self.record,) = stored
        assert_whole_within(self.overlay)
        self.giver, self.view = primary_of(self.overlay, self.record), self._view()
        have = [self.giver, *copies_of(self.overlay, self.record)]
        self.taker: SimPeer = next(one for one in self.overlay.living if one not in have)
        index = index_of(self.record)
        (self.interval,) = (one for one in self.view.intervals if covers((one,), index))

    def _view(self) -> View:
        return view_of(self.overlay, self.record)

    def pull(self, patch: pytest.MonkeyPatch, then: Callable[[], Awaitable[object]]) -> None:
        """All pages come, then something else, then the giver's word."""
        pulling = self.taker.core._handoff.pulling
        pull_pages = pulling._pull_pages

        async def interrupted(*args: Any) -> object:
            last = await pull_pages(*args)
            await then()
            return last

        patch.setattr(pulling, "_pull_pages", interrupted)
        assert self.overlay.run(pulling.take(self.interval, self.giver.contact, ()))

    def assert_there(self) -> None:
        """It holds the interval, and has what it says."""
        holdings = self.taker.core.holdings
        assert not subtract((self.interval,), holdings.held)
        assert not holdings.lost, "it says that it has all"
        assert is_shown(self.taker, self.record)


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_recruit_keeps_what_comes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It laid down what it had of that, with what had come by then: once it held the interval it
    answered without it, and said that nothing was missing."""
    world = Pulled(seed)
    stranger = Stranger(world.overlay)

    async def learn() -> None:
        lost = stranger.view((world.interval,), world.view.epoch + 1, lost=(world.interval,))
        stranger.runtime.send(world.taker.contact, Learn(lost))
        await world.taker.runtime.sleep(0.1)

    world.pull(monkeypatch, learn)
    world.assert_there()


@pytest.mark.parametrize("seed", range(1, 7))
def test_an_heir_keeps_what_comes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever offered it was too slow to say that it holds it, and so it was taken as lost."""
    world = Pulled(seed)
    handoff, part = world.taker.core._handoff, (world.interval,)

    async def nobody_said(*_: object) -> Found:
        return Found(world.interval)

    def claim() -> Awaitable[None]:
        monkeypatch.setattr(handoff.heirs, "ask", nobody_said)
        monkeypatch.setattr(handoff.heirs, "plan", lambda _: [Step(part, "lost")])
        monkeypatch.setattr(handoff, "uncovered", lambda: part)
        return handoff._claim(world.interval)

    world.pull(monkeypatch, claim)
    world.assert_there()


@pytest.mark.parametrize("seed", range(1, 7))
def test_what_comes_from_two_is_kept(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one took it for lost, and gives nothing after all."""
    world = Pulled(seed)
    stranger, pulling = Stranger(world.overlay), world.taker.core._handoff.pulling
    pull_pages, part = pulling._pull_pages, (world.interval,)

    async def from_another() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(pulling, "_pull_pages", pull_pages)
            assert not await pulling.take(world.interval, stranger.contact, part)

    world.pull(monkeypatch, from_another)
    world.assert_there()


class Survivor(Stranger):
    """Has a copy of what a dead primary had since the past of it was lost; before the first page of
    that comes, the taker is given the interval by who holds it."""

    def __init__(self, world: Pulled) -> None:
        super().__init__(world.overlay)
        self._world, self.pulled = world, 0
        dead, epoch = Contact(98, "10.9.9.8:1"), world.view.epoch + (1 << 30)
        part = (world.interval,)
        self.kept = View(dead, 5, epoch, part, (self.contact,), lost=part)

    def _handle(self, sender: Contact, message: object, late_s: float) -> object:
        if not isinstance(message, Pull):
            return Instated()
        self.pulled += 1
        return Deferred(self._first_page()) if self.pulled == 1 else PulledPage((), 0, more=False)

    async def _first_page(self) -> PulledPage:
        world, pulling = self._world, self._world.taker.core._handoff.pulling
        assert await pulling.take(world.interval, world.giver.contact, ())
        return PulledPage((), 0, more=False)


@pytest.mark.parametrize("seed", range(1, 7))
def test_what_was_handed_over_meanwhile_is_not_taken_over(seed: int) -> None:
    """Its view was of the giver and its copies, and knew the past; then one of the survivor alone,
    who has none of the records, took its place, and called the past lost.  What the survivor has is
    taken in instead."""
    world = Pulled(seed)
    survivor, core = Survivor(world), world.taker.core
    adopt = core._handoff._adopt((world.interval,), survivor.kept, (survivor.contact,))
    world.overlay.run(adopt)
    assert is_shown(world.taker, world.record)
    (view,) = core.views.touching((world.interval,))
    assert not view.lost
    assert view.has_copy(world.giver.contact.id)
    assert not view.has_copy(survivor.contact.id)
    assert survivor.pulled == 1
    world.overlay.run_for(2.0)
    assert survivor.pulled > 1, "it has what may have been acknowledged beside it"


class Holder(Survivor):
    """Holds the interval as well, as on the other side of a cut."""

    def __init__(self, world: Pulled, lost: Intervals) -> None:
        super().__init__(world)
        self.lost, self.gave, self.frozen = lost, False, False

    def _handle(self, sender: Contact, message: object, late_s: float) -> object:
        if isinstance(message, Freeze):
            self.frozen, page = True, PulledPage((), 0, more=False)
            return Frozen(page, 1, self.lost, epoch=self.kept.epoch)
        if isinstance(message, TakeOver):
            self.gave = True
            return Yours()
        if isinstance(message, Claim):
            held = () if self.gave else (message.interval,)
            return ClaimAnswer(held, self.lost, (), settled=True)
        return super()._handle(sender, message, late_s)


@pytest.mark.parametrize("knows", ["nothing", "all"])
@pytest.mark.parametrize("seed", range(1, 7))
def test_who_gives_an_interval_that_is_held_by_then_keeps_it(seed: int, knows: str) -> None:
    """Its view was of the first giver and its copies; then one of the second alone took its place,
    who has none of the records, and where he knew nothing of the past that counted as lost."""
    world = Pulled(seed)
    holder = Holder(world, (world.interval,) if knows == "nothing" else ())
    core = world.taker.core
    take = core._handoff.pulling.take(world.interval, holder.contact, holder.lost)
    assert not world.overlay.run(take)
    assert is_shown(world.taker, world.record)
    (view,) = core.views.touching((world.interval,))
    assert not view.lost
    assert view.has_copy(world.giver.contact.id)
    assert not view.has_copy(holder.contact.id)
    assert not holder.gave
    assert not holder.frozen, "it would have to thaw first"
    assert core.holdings.lost, "it has what may have been acknowledged beside it"
    world.overlay.run_for(2.0)
    assert holder.gave, "once that was taken in"


class LateHolder(Holder):
    """Is asked for its word that it gives, and says so a moment later: meanwhile the other one that
    holds the interval gives it as well."""

    def _handle(self, sender: Contact, message: object, late_s: float) -> object:
        if isinstance(message, Pull):
            return PulledPage((), 0, more=False)
        return (
            Deferred(self._yours())
            if isinstance(message, TakeOver)
            else super()._handle(sender, message, late_s)
        )

    async def _yours(self) -> Yours:
        world = self._world
        take = world.taker.core._handoff.pulling.take
        self.runtime.spawn(take(world.interval, world.giver.contact, ()))
        await self.runtime.sleep(0.1)
        self.gave = True
        return Yours(self.kept.epoch)


@pytest.mark.parametrize("seed", range(1, 9))
def test_two_give_an_interval_one_after_the_other(seed: int) -> None:
    """The first one had given by the time at which the second one's word came, and that one's view
    took its place all the same."""
    world = Pulled(seed)
    holder, core = LateHolder(world, ()), world.taker.core
    assert world.overlay.run(core._handoff.pulling.take(world.interval, holder.contact, ()))
    assert holder.gave
    assert is_shown(world.taker, world.record)
    world.overlay.run_for(0.05)
    living = world.overlay.living
    assert any(one.core.holdings.lost for one in living), "what the other one has is at no copy"
    world.overlay.run_for(3.0)
    assert not any(one.core.holdings.lost for one in living)
    copies = copies_of(world.overlay, world.record)
    assert copies
    assert all(is_shown(one, world.record) for one in copies)
