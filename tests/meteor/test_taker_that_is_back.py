"""Whoever is given back what it had falls before it begins, and is started again; the giver lives.

It remembers the interval from an earlier life, and nothing of what it was given: that never began.
The giver has moved on as it gave: it is a copy of what never began.  So it says beside that what it
was the primary of until then, as long as it does not hear that anybody began.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from chord import Contact
from meteor.copies.evidence import Evidence
from meteor.copies.giving import Giving
from meteor.copies.takeover import Asked, plan
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Begun
from meteor.wire.operations import Claim, ClaimAnswer, Yours
from meteor.wire.view import Ended, View
from sim.overlay import SimPeer
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    crash,
    restart_all,
    seeds,
    store_some,
)
from tests.meteor.test_evicted_while_given import HalfGiven

PEERS = 8
SEEDS = [14, 29, 47, 54]
"""It was named as missing for ever."""
WAITS_S = (0.0, 0.3, 1.0, 6.0)
"""How long it is down the second time."""


class Returning:
    """A peer that was restarted, and falls again in the moment in which it is given its arc."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.overlay, self.drawn = build(seed, PEERS, disk_s=0.002), random.Random(seed)
        self.stored = set(store_some(self.overlay, self.overlay.client(), self.drawn, 20))
        assert_whole_within(self.overlay)
        self.peer = self.drawn.choice(self.overlay.living)
        crash(self.peer)
        assert_whole_within(self.overlay, 30)
        commit, given = Giving._commit, list[SimPeer]()

        async def and_see_it_fall(giving: Giving, part: Any, taker: Contact, view: Any) -> Yours:
            reply = await commit(giving, part, taker, view)
            if not given and taker.address == self.peer.address:
                given.append(self.peer_at(taker.address))
                given[0].crash()
            return reply

        monkeypatch.setattr(Giving, "_commit", and_see_it_fall)
        self.overlay.kernel.spawn(self.overlay.restart(self.peer))
        while not given:
            self.overlay.run_for(0.01)
        monkeypatch.undo()

    def peer_at(self, address: str) -> SimPeer:
        return [one for one in self.overlay.peers if one.address == address][-1]


@pytest.mark.parametrize("seed", [*SEEDS, *seeds(0, 60)])
def test_a_peer_that_falls_twice_as_it_is_given_its_arc_takes_nothing_with_it(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    returning = Returning(seed, monkeypatch)
    overlay, client = returning.overlay, returning.overlay.client()
    overlay.run_for(returning.drawn.choice(WAITS_S))
    restart_all(overlay, [returning.peer_at(returning.peer.address)])
    for _ in range(10):
        assert_never_silently_partial(overlay, client, returning.stored)
        overlay.run_for(1.0)
    assert_whole_within(overlay, 30)
    assert ask(overlay, client) == (returning.stored, True)


# -- what an heir makes of it

GIVER, TAKER, COPY = (Contact(n, f"peer-{n}", 2) for n in range(1, 4))
PART = ((0, 9),)
FALLEN = replace(TAKER, incarnation=1)
"""The taker, in the life in which it was given the part."""
HAD = View(GIVER, 5, 6, PART, (FALLEN, COPY))
GIFT = View(FALLEN, 9, 9, PART, (GIVER, COPY))
ENDED = (Ended(GIVER.id, 6, PART),)
KNOWN = [
    Evidence(TAKER, HAD, False),
    Evidence(GIVER, GIFT, True),
    Evidence(COPY, GIFT, True, taken_in=ENDED),
]
GAVE = Evidence(GIVER, HAD, False)


def test_what_all_copies_noted_and_the_taker_did_not_never_began() -> None:
    asked = Asked([GIVER, TAKER, COPY], (), patient=True)
    (step,) = plan(PART, [*KNOWN, GAVE], asked, orphaned=False)
    assert (step.kind, step.view, step.sources) == ("adopt", HAD, (TAKER, GIVER))
    assert [one.kind for one in plan(PART, KNOWN, asked, orphaned=False)] == ["lost"]


@pytest.mark.parametrize(
    ("asked", "more"),
    [
        (Asked([GIVER, COPY], (), patient=True), []),
        (Asked([GIVER, TAKER, COPY], (), patient=True), [Evidence(TAKER, GIFT, False)]),
        (Asked([GIVER, TAKER, COPY], (), patient=True, begun=(GIFT,)), []),
        (Asked([GIVER, TAKER, COPY], (), patient=True, forgetful=(TAKER.id,)), []),
    ],
    ids=["not back", "it knows", "somebody was told", "a damaged journal"],
)
def test_what_may_have_begun_does_not_give_way_to_what_its_giver_had(
    asked: Asked, more: list[Evidence]
) -> None:
    (step,) = plan(PART, [*KNOWN[1:], GAVE, *more], asked, orphaned=False)
    assert step.view != HAD


# -- what the giver says


def test_a_giver_says_what_it_had_until_it_hears_that_the_taker_began() -> None:
    given = HalfGiven()
    taker, view = given.taken
    (had,) = (one for one in (given.own.within((given.part,)),) if one is not None)

    def said() -> tuple[View, ...]:
        answer = given.overlay.run(taker.ask(Claim(given.part)))
        assert isinstance(answer, ClaimAnswer)
        return answer.gave

    assert said() == (had,)
    given.begin(given.taken)  # its copies noted it; it may fall before it does
    assert said() == (had,)
    taker.runtime.send(given.giver.contact, Begun((view,)))
    given.overlay.run_for(0.1)
    assert said() == ()


def test_what_is_noted_for_others_is_none_that_was_given() -> None:
    views = Views()
    views.put(HAD)
    views.put(GIFT)
    assert views.copies[GIFT.key].before == (HAD,)
    assert views.gave(COPY.id) == []
    assert views.gave(GIVER.id) == [HAD]
