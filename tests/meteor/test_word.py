"""A copy that told a primary that its view stands goes over to no other one while that one relies
on it: where something has to have several holders, it answers by itself until then."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Contact, replace
from meteor.copies.config import CopiesConfig
from meteor.copies.word import KEPT_SHARE, SAID_SHARE, Word
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Instate
from meteor.wire.view import Copy, View
from sim.kernel import Kernel

OWN, BEFORE, HEIR, OTHER = (Contact(one, f"10.0.0.{one}:1") for one in range(1, 5))
PART = ((0, 9),)
HAD = View(BEFORE, 1, 10, PART, (OWN, HEIR))
COMES = View(HEIR, 2, 20, PART, (OWN,))
ELSEWHERE = View(HEIR, 3, 21, ((10, 19),), (OWN,))
CONFIG = CopiesConfig(copies_min=2)
KEPT_S = KEPT_SHARE * CONFIG.silence_s


class World:
    """A clock, what one peer keeps for others, and what it sends."""

    def __init__(self, config: CopiesConfig = CONFIG) -> None:
        self.kernel, self.views, self.contact = Kernel(1), Views.of(OWN), OWN
        self.sent: list[tuple[Contact, object]] = []
        runtime: Any = self
        self.word = Word(runtime, self.views, config)

    def now(self) -> float:
        return self.kernel.now()

    async def sleep(self, seconds: float) -> None:
        await self.kernel.sleep(seconds)

    def send(self, contact: Contact, message: object) -> None:
        self.sent.append((contact, message))

    def wait(self, seconds: float) -> None:
        self.kernel.run(self.kernel.now() + seconds)

    def keep(self, view: View) -> None:
        self.views.copies[view.key] = Copy(view, whole=True)


def test_it_is_kept_for_longer_than_anybody_relies_on_it() -> None:
    assert SAID_SHARE < KEPT_SHARE < 1.0


def test_who_gave_none_waits_for_nothing() -> None:
    world = World()
    assert world.word.left_s(COMES) <= 0


def test_it_is_kept_from_others_for_the_part_that_it_was_given_for() -> None:
    world = World()
    world.wait(5.0)
    world.word.give(BEFORE, PART)
    assert world.word.left_s(COMES) == pytest.approx(KEPT_S)
    assert world.word.left_s(ELSEWHERE) <= 0
    assert world.word.left_s(HAD) <= 0, "the primary itself changes its view"
    world.wait(KEPT_S / 2)
    world.word.give(BEFORE, ((5, 7), (30, 39)))  # of the rest nothing was said anew
    assert world.word.left_s(COMES) == pytest.approx(KEPT_S)
    assert world.word.left_s(replace(COMES, intervals=((0, 4),))) == pytest.approx(KEPT_S / 2)
    world.wait(KEPT_S / 2)
    assert world.word.left_s(replace(COMES, intervals=((0, 4),))) <= 0
    assert world.word.left_s(COMES) == pytest.approx(KEPT_S / 2)
    world.word.give(OTHER, PART)
    assert world.word.left_s(COMES) == pytest.approx(KEPT_S)
    world.wait(KEPT_S)
    assert world.word.left_s(COMES) <= 0


def test_who_gave_the_part_away_relies_on_nothing() -> None:
    """It is a copy of the later view by then, and of none that comes after that."""
    world = World()
    world.wait(5.0)
    world.word.give(BEFORE, ((0, 19),))
    assert world.word.left_s(replace(COMES, copies=(OWN, BEFORE))) <= 0
    assert world.word.left_s(COMES) > 0
    world.word.is_over(replace(COMES, copies=(OWN, BEFORE)))
    assert world.word.left_s(COMES) <= 0
    assert world.word.left_s(ELSEWHERE) > 0


def test_of_many_that_were_given_the_old_ones_are_forgotten() -> None:
    world = World()
    for primary_id in range(1000):
        world.wait(0.1)
        world.word.give(Contact(primary_id, "10.0.1.1:1"), PART)
    assert len(world.word._given) < 10
    for _ in range(1000):
        world.wait(0.0001)
        world.word.give(BEFORE, PART)
    assert len(world.word._given) < 10


@pytest.mark.parametrize("is_kept", [False, True])
def test_who_was_just_started_may_have_given_it_before(is_kept: bool) -> None:
    world = World()
    if is_kept:
        world.keep(HAD)
    else:  # as the journal has it
        world.views.former.append(HAD)
    assert world.word.left_s(COMES) == pytest.approx(KEPT_S)
    assert world.word.left_s(ELSEWHERE) <= 0
    world.wait(KEPT_S + 0.001)
    assert world.word.left_s(COMES) <= 0


def test_where_one_holder_is_enough_there_is_none() -> None:
    world = World(CopiesConfig())
    world.keep(HAD)
    world.word.give(BEFORE, PART)
    assert world.word.left_s(COMES) == 0.0


def test_while_it_runs_out_it_is_withdrawn() -> None:
    world = World()
    world.wait(5.0)
    world.keep(HAD)
    world.word.give(BEFORE, PART)
    took_s: list[float] = []

    async def take() -> None:
        async with world.word.running_out(COMES):
            took_s.append(world.now())
            await world.sleep(1.0)  # it is just noted

    began_s = world.now()
    task = world.kernel.spawn(take())
    world.wait(KEPT_S / 2)
    assert world.sent == [(BEFORE, Instate(COMES))]
    assert world.word.withdrawn(PART, HAD.epoch, BEFORE.id) == (COMES,)
    assert world.word.withdrawn(PART, COMES.epoch, BEFORE.id) == ()
    assert world.word.withdrawn(PART, HAD.epoch, HEIR.id) == (), "it knows"
    assert world.word.withdrawn(((10, 19),), HAD.epoch, BEFORE.id) == ()
    world.wait(1.0)
    assert took_s == [pytest.approx(began_s + KEPT_S)]
    assert world.word.withdrawn(PART, HAD.epoch, BEFORE.id) == (COMES,)
    world.kernel.run_until(task)
    assert world.word.withdrawn(PART, HAD.epoch, BEFORE.id) == ()


def test_what_is_refused_all_the_same_does_not_wait_for_more() -> None:
    """The primary is in a later epoch by now, and so relies on it anew."""
    world = World()
    world.wait(5.0)
    world.keep(HAD)
    world.word.give(BEFORE, PART)

    async def take() -> float:
        async with world.word.running_out(COMES):
            return world.now()

    task = world.kernel.spawn(take())
    world.wait(KEPT_S / 2)
    world.keep(replace(HAD, epoch=COMES.epoch + 1))
    world.word.give(BEFORE, PART)
    assert world.kernel.run_until(task) == pytest.approx(5.0 + KEPT_S)
