"""Whom to ask in a silent owner's stead, and in which order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from chord import Arc, ChordNode, Contact, KnownArc, Runtime
from chord.runtime import NO_LINK, NoLink
from squid.standby import (
    PATIENCE_S_DIAL,
    PATIENCE_S_MIN,
    PATIENCE_S_UNKNOWN,
    SILENT_MAX,
    SILENT_S,
    Standby,
)

OWNER, FIRST, SECOND, THIRD = (Contact(number, f"10.0.0.{number}:1") for number in range(1, 5))


@dataclass
class World:
    """Whom an owner has named, which links are silent, and the time."""

    heirs: tuple[Contact, ...] = ()
    owner: Contact = OWNER
    suspected: set[Contact] = field(default_factory=set)
    now_s: float = 0.0
    links: dict[Contact, NoLink] = field(default_factory=dict)
    late_s: float = 0.0

    def standby(self) -> Standby:
        world = self

        class Named:
            def owner_of(self, _: int) -> KnownArc | None:
                return KnownArc(world.owner, Arc(0, 1), world.heirs) if world.heirs else None

            def now(self) -> float:
                return world.now_s

            def suspects(self, contact: Contact) -> bool:
                return contact in world.suspected

            def link(self, contact: Contact) -> NoLink:
                return world.links.get(contact, NO_LINK)

            def lateness(self) -> float:
                return world.late_s

        named: Any = Named()
        return Standby(cast(ChordNode, named), cast(Runtime, named))


def test_the_owner_is_asked_first_unless_it_is_silent() -> None:
    world = World((FIRST, SECOND))
    standby = world.standby()
    before = [(OWNER, False), (FIRST, True), (SECOND, True)]
    assert standby.order(OWNER, 0) == before
    standby.silent(OWNER)
    assert standby.order(OWNER, 0) == [(FIRST, True), (SECOND, True), (OWNER, False)]
    standby.heard(OWNER)
    assert standby.order(OWNER, 0) == before


def test_nobody_counts_as_silent_for_long() -> None:
    world = World((FIRST,))
    standby = world.standby()
    standby.silent(OWNER)
    world.now_s = SILENT_S
    assert standby.order(OWNER, 0) == [(OWNER, False), (FIRST, True)]


def test_an_heir_whose_link_is_silent_comes_after_one_that_may_answer() -> None:
    world = World((FIRST, SECOND), suspected={FIRST})
    standby = world.standby()
    standby.silent(OWNER)
    assert standby.order(OWNER, 0) == [(SECOND, True), (FIRST, True), (OWNER, False)]


def test_the_heirs_of_a_silent_heir_are_asked_too() -> None:
    """Two neighbours fell at once, and who answers for the first knows of the second alone."""
    standby = World().standby()
    standby.silent(OWNER, (FIRST,))
    standby.silent(FIRST, (SECOND, THIRD))
    assert standby.order(OWNER, 0) == [
        (SECOND, True), (THIRD, True), (FIRST, True), (OWNER, False)
    ]  # fmt: skip


@pytest.mark.parametrize("named", [(FIRST, THIRD), (THIRD,), ()])
def test_the_heirs_that_somebody_else_named_are_not_asked(named: tuple[Contact, ...]) -> None:
    """Who took over said so, and then the ring named the one before again: those that would inherit
    it from him were asked instead of him, and had nothing of it."""
    standby = World(heirs=(SECOND,), owner=FIRST).standby()
    standby.silent(OWNER, named)
    asked = [one for one, _ in standby.order(OWNER, 0)]
    assert asked == [*dict.fromkeys((*named, FIRST)), OWNER]


@pytest.mark.parametrize("named", [(OWNER,), (FIRST, OWNER)])
def test_nobody_is_asked_twice(named: tuple[Contact, ...]) -> None:
    standby = World().standby()
    standby.silent(OWNER, (FIRST,))
    standby.silent(FIRST, named)
    asked = [one for one, _ in standby.order(OWNER, 0)]
    assert sorted(one.id for one in asked) == [OWNER.id, FIRST.id]


def test_what_is_remembered_is_bounded() -> None:
    standby = World().standby()
    for number in range(SILENT_MAX + 10):
        standby.silent(Contact(100 + number, f"10.1.0.{number}:1"))
    assert len(standby._silent) == SILENT_MAX


def test_who_was_never_dialled_is_waited_for_as_long_as_others_take() -> None:
    """On a site a quarter of a second is a hundred round trips: a client waited for all of them
    where an owner that it had no link to had fallen."""
    world = World((FIRST,))
    standby = world.standby()
    assert standby.patience_s(OWNER) == PATIENCE_S_UNKNOWN
    world.links[FIRST] = NoLink(srtt_s=0.001, rttvar_s=0.001)
    assert standby.patience_s(FIRST) == PATIENCE_S_MIN
    assert standby.patience_s(OWNER) == PATIENCE_S_DIAL
    world.late_s = 0.07
    assert standby.patience_s(OWNER) == pytest.approx(0.14)
    world.links[FIRST] = NoLink(srtt_s=0.2, rttvar_s=0.1)
    assert standby.patience_s(FIRST) == pytest.approx(0.6)
    assert standby.patience_s(OWNER) == PATIENCE_S_UNKNOWN
