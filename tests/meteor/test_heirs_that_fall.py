"""Heirs, and takers, that fall while they tell the copies: what these have is not lost by it.

An heir that has nothing itself lets the copies of a dead primary refuse that one, fetches what they
have, and tells them that it begins.  Here it falls when one of the two has heard of it.
"""

from __future__ import annotations

import random

import pytest

from chord import Contact
from meteor.copies.copy_keeper import CopyKeeper
from meteor.wire.copy_messages import Instate, Instated
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer
from tests.meteor.building import SPACE
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    copies_of,
    primary_of,
    seeds,
    store_some,
    view_of,
)

VIEWS = {"to fence": 1, "to begin": 2}


class Fall:
    """Crashes an heir as soon as one copy heard of its view of a number, counted from 1."""

    def __init__(self, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told: list[Contact] = []
        self.heir: SimPeer | None = None
        self._first: Contact | None = None
        self._before: set[int] = set()
        self._number = number
        self._views: dict[int, None] = {}
        on_instate = CopyKeeper._on_instate

        def heard(keeper: CopyKeeper, sender: Contact, message: object, now_s: float) -> object:
            assert isinstance(message, Instate)
            view, heir = message.view, self.heir
            if heir is None or view.primary != heir.contact or view.number in self._before:
                return on_instate(keeper, sender, message, now_s)
            if self.told or self._first not in (None, keeper._runtime.contact):
                return Instated(known=False)  # it had not left the heir's machine
            self._views[view.number] = None
            if len(self._views) == self._number:
                self.told.append(keeper._runtime.contact)
                heir.runtime.call_soon(heir.crash)
            return on_instate(keeper, sender, message, now_s)

        monkeypatch.setattr(CopyKeeper, "_on_instate", heard)

    def let(self, heir: SimPeer, first: Contact | None = None) -> None:
        """This one falls by the views that it tries from now on, when `first` heard of one."""
        self.heir, self._first = heir, first
        self._before = set(heir.core.views.own)


def assert_all_is_there(overlay: Overlay, stored: list[str]) -> None:
    """Nothing is silently absent meanwhile, and in the end nothing at all."""
    client = overlay.client()
    for _ in range(15):
        assert_never_silently_partial(overlay, client, stored)
        overlay.run_for(0.5)
    assert_whole_within(overlay)
    assert ask(overlay, client) == (set(stored), True)


@pytest.mark.parametrize("number", VIEWS.values(), ids=list(VIEWS))
@pytest.mark.parametrize("seed", seeds(2, 8))
def test_an_heir_that_falls_before_all_copies_heard_of_it_takes_nothing_along(
    seed: int, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are of two epochs then, and have everything (storm, seed 1)."""
    fall = Fall(number, monkeypatch)
    overlay, drawn = build(seed, disk_s=0.002), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 20)
    assert_whole_within(overlay)
    probe = drawn.choice(stored)
    view, copies = view_of(overlay, probe), copies_of(overlay, probe)
    primary_of(overlay, probe).crash()
    others = [peer for peer in overlay.living if peer not in copies]
    heir = drawn.choice(others)
    fall.let(heir)
    adopting = heir.core._handoff._adopt(view.intervals, view, view.copies)
    heir.runtime.spawn(adopting)
    overlay.run_for(0.1)
    assert not heir.alive
    assert fall.told[0] in view.copies
    assert_all_is_there(overlay, stored)


@pytest.mark.parametrize("seed", seeds(2, 8))
def test_a_taker_that_falls_when_its_giver_alone_heard_that_it_begins_takes_nothing_along(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The giver takes its gift for begun then, and its copies still have the giver's own view."""
    fall = Fall(1, monkeypatch)
    overlay, drawn = build(seed, disk_s=0.002), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 20)
    assert_whole_within(overlay)
    giver = max(overlay.living, key=lambda peer: len(peer.core.shelf.store))
    arc = giver.core.node.arc
    assert arc is not None
    taker = overlay.new_peer((arc.after + (arc.last - arc.after) % (1 << 160) // 2) % (1 << 160))
    fall.let(taker, giver.contact)
    taker.runtime.spawn(taker.core.start([giver.contact]))
    overlay.run_for(1.0)
    assert not taker.alive
    assert fall.told == [giver.contact]
    assert_all_is_there(overlay, stored)


def test_who_is_back_and_silent_is_not_held_for_dead() -> None:
    """Nobody who was given up once was ever waited for again under the same identifier."""
    overlay = build(4, 6, disk_s=0.001)
    store_some(overlay, overlay.client(), random.Random(4), 20)
    assert_whole_within(overlay)
    fallen, interval = overlay.peers[2], (0, SPACE.curve.size - 1)
    heirs = [peer for peer in overlay.peers if peer is not fallen]
    fallen.crash()
    assert_whole_within(overlay)
    given_up = [peer for peer in heirs if fallen.contact.id in peer.core._handoff.heirs._dead]
    assert given_up
    back = overlay.run(overlay.restart(fallen))
    assert_whole_within(overlay)
    heir = given_up[0]
    assert overlay.run(heir.core._handoff.heirs.ask(interval, [back.contact])).everybody
    back.pause()
    overlay.run_for(1.0)
    found = overlay.run(heir.core._handoff.heirs.ask(interval, [back.contact]))
    assert back.contact.id not in found.answered
    assert not found.everybody
