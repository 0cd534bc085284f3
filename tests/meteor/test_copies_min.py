"""`copies_min` as decisions: what it may be, which views have too few, and who is looked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import meteor
from chord import Contact
from meteor.copies.config import CopiesConfig, check_copies_min
from meteor.copies.few_holders import FewHolders
from meteor.copies.witnesses import Witnesses
from meteor.keeping.views import Views
from meteor.wire.view import View
from sim.overlay import Overlay
from tests.meteor.building import SPACE

OWN, *OTHERS = (Contact(one, f"10.0.0.{one}:1") for one in range(1, 6))
SMALL_S = CopiesConfig().falling_s


class World:
    """A clock, and views with so many copies."""

    def __init__(self, least: int) -> None:
        self.now_s = 0.0
        self.views = Views.of(OWN)
        config = CopiesConfig(copies=4, copies_min=least)
        self.few = FewHolders(self, self.views, config)  # type: ignore[arg-type]

    def now(self) -> float:
        return self.now_s

    def hold(self, number: int, first: int, copies: int) -> View:
        view = View(OWN, number, 1, ((first, first + 9),), tuple(OTHERS[:copies]))
        self.views.own[number] = view
        return view


def test_a_question_waits_for_as_long_as_a_ring_takes_to_fall() -> None:
    world = World(3)
    world.hold(1, 0, 1)
    world.hold(2, 20, 2)
    assert world.few.lately_and_long() == (((0, 9),), ())
    world.now_s = SMALL_S
    assert world.few.lately_and_long() == ((), ((0, 9),))
    world.hold(1, 0, 2)
    assert world.few.lately_and_long() == ((), ())
    world.hold(1, 0, 0)  # not the same as before: it begins anew
    assert world.few.lately_and_long() == (((0, 9),), ())


def test_what_had_enough_since_is_looked_at_anew_though_nobody_asked() -> None:
    world = World(3)
    world.hold(1, 0, 1)
    assert world.few.lately_and_long() == (((0, 9),), ())
    world.now_s = 1.0
    world.hold(1, 0, 2)
    world.few.look()  # as a peer does twice a second
    world.now_s = 100.0
    world.hold(1, 0, 1)
    assert world.few.lately_and_long() == (((0, 9),), ())
    world.now_s += SMALL_S
    assert world.few.lately_and_long() == ((), ((0, 9),))


@pytest.mark.parametrize("least", [1, 4, 0, -1])
def test_the_least_is_between_two_and_all_copies(least: int) -> None:
    wanted = f"copies_min: {least} is not between 2 and 3, the number of copies"
    with pytest.raises(ValueError, match=wanted):
        check_copies_min(least, 3)
    with pytest.raises(ValueError, match=wanted):
        meteor.Peer(space=SPACE, copies_min=least)
    with pytest.raises(ValueError, match=wanted):
        meteor.LocalOverlay(1, space=SPACE, copies_min=least)
    with pytest.raises(ValueError, match=wanted):
        Overlay(1, space=SPACE, copies_min=least)


def test_one_copy_leaves_nothing_to_choose() -> None:
    assert check_copies_min(None, 1) == 0
    with pytest.raises(ValueError, match="copies_min: 2 is not between 2 and 1"):
        check_copies_min(2, 1)
    no_number: Any = "two"
    with pytest.raises(TypeError, match="copies_min"):
        check_copies_min(no_number, 3)


def test_whoever_is_there_is_looked_for_whatever_its_identifier() -> None:
    """One that is 0 is a peer as well."""
    known, first = OTHERS[0], Contact(0, "10.0.0.9:1")
    world = World(3)
    node: Any = SimpleNamespace(successors=[known, first], predecessor=first)
    runtime: Any = world
    config = CopiesConfig(copies=3, copies_min=3)
    witnesses = Witnesses(node, runtime, world.views, config, ask_nobody)
    assert witnesses.is_pressing(world.hold(1, 0, 1))
    node.successors.remove(first)
    assert not witnesses.is_pressing(world.hold(1, 0, 1))


async def ask_nobody(contact: Contact, message: object) -> object:
    raise AssertionError(f"{contact} is asked {message}")
