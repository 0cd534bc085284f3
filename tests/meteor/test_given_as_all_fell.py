"""The whole ring falls just while part of a view is given, and the taker has not begun.

All of it is on disks: at the giver, which knows to whom it gave, and at its copies.  Whatever a
taker acknowledges is in its own journal first.  So one that is back from a crash and knows nothing
of the part never began it; one that is not back may have, and the part is named until it is.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from chord import Contact
from meteor import profile
from meteor.copies.evidence import Evidence
from meteor.copies.takeover import Asked, Step, plan
from meteor.keeping.shelf_journal import noted
from meteor.keeping.views import BEFORE_MAX, Views
from meteor.wire import codec
from meteor.wire.copy_messages import ViewsNote
from meteor.wire.view import View
from sim.overlay import SimPeer
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    crash,
    restart_all,
    seeds,
)
from tests.meteor.test_evicted_while_given import Given

FALLS_S = (0.0, 0.01, 0.1, 0.3)
"""How long after the giver's note all fall."""
FOUND = [16, 20]
"""What some who started alone took as lost was named for ever, once one had handed it on."""


class Fallen:
    """A ring that is about to fall as part of it is given, and what is stored there."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.given = Given(seed, monkeypatch)
        monkeypatch.undo()
        self.overlay, self.drawn = self.given.overlay, random.Random(f"fall {seed}")
        self.stored = set(self.given.stored)

    def fall(self, after_s: float, but: Sequence[SimPeer] = ()) -> None:
        """All fall in one moment, and all but some are started again, whoever is first."""
        self.overlay.run_for(after_s)
        fallen = list(self.overlay.living)
        self.drawn.shuffle(fallen)
        crash(*fallen)
        self.overlay.run_for(self.drawn.random())
        self.start([peer for peer in fallen if peer not in but])

    def start(self, fallen: Sequence[SimPeer]) -> None:
        """Those that found no ring to join are started once more."""
        restart_all(self.overlay, fallen)
        addresses = {peer.address for peer in fallen}
        again = [one for one in self.overlay.peers if one.address in addresses and not one.alive]
        self.overlay.run_for(1.0 if again else 0.0)
        restart_all(self.overlay, again)

    def assert_all_is_there(self) -> None:
        """Every index has one primary that knows its past, and nothing is lacking or back."""
        assert_whole_within(self.overlay, 60)
        assert ask(self.overlay, self.overlay.client()) == (self.stored, True)


@pytest.mark.parametrize("seed", seeds(2, 90))
def test_a_ring_that_falls_as_part_is_given_comes_back_with_it(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fallen = Fallen(seed, monkeypatch)
    fallen.fall(fallen.drawn.choice(FALLS_S))
    fallen.assert_all_is_there()


@pytest.mark.parametrize("who", ["giver", "a copy"])
@pytest.mark.parametrize("seed", [*FOUND, *seeds(1, 15)])
def test_one_of_those_who_have_it_need_not_come_back(
    seed: int, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fallen = Fallen(seed, monkeypatch)
    given = fallen.given
    gone = given.giver if who == "giver" else fallen.drawn.choice(given.copies)
    fallen.fall(fallen.drawn.choice(FALLS_S), [gone])
    fallen.assert_all_is_there()
    fallen.start([gone])
    fallen.assert_all_is_there()


@pytest.mark.parametrize("seed", seeds(1, 15))
def test_what_a_taker_was_given_that_is_not_back_is_named_until_it_is(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have begun, and have acknowledged more than anybody else knows of."""
    fallen = Fallen(seed, monkeypatch)
    fallen.fall(fallen.drawn.choice(FALLS_S), [fallen.given.taker])
    client = fallen.overlay.client()
    for _ in range(10):
        assert_never_silently_partial(fallen.overlay, client, fallen.stored)
        fallen.overlay.run_for(2.0)
    fallen.start([fallen.given.taker])
    fallen.assert_all_is_there()


@pytest.mark.parametrize("seed", seeds(1, 15))
def test_what_a_taker_that_began_acknowledged_and_deleted_stays_so(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The giver's memory of what it had is older than that, and proves nothing any more."""
    fallen = Fallen(seed, monkeypatch)
    overlay = fallen.overlay
    fallen.given.taker.resume()
    overlay.run_for(0.3)
    client = overlay.client()
    for one in fallen.drawn.sample(sorted(fallen.stored), 10):
        overlay.run(client.cancel(one))
        fallen.stored.discard(one)
    for _ in range(10):
        more = profile(draw_data(fallen.drawn))
        fallen.stored.add(overlay.run(client.store(more, b"y", ttl=7200)).id)
    fallen.fall(0.0)
    fallen.assert_all_is_there()


# -- what an heir makes of it

GIVER, TAKER, ONE, OTHER = (Contact(n, f"peer-{n}", 1) for n in range(1, 5))
PART = ((0, 9),)


def life_before(contact: Contact) -> Contact:
    """As views of the time before the fall name it."""
    return replace(contact, incarnation=0)


HAD = View(life_before(GIVER), 5, 6, PART, (life_before(ONE), life_before(OTHER)))
GIFT = View(life_before(TAKER), 9, 9, PART, (life_before(GIVER), life_before(ONE)))
KNOWN = [Evidence(GIVER, GIFT, False), *(Evidence(one, HAD, False) for one in (GIVER, ONE, OTHER))]


def decided(asked: Asked, *more: Evidence) -> Step:
    (step,) = plan(PART, [*KNOWN, *more], asked, orphaned=False)
    return step


def test_a_taker_that_is_back_and_knows_nothing_never_began() -> None:
    step = decided(Asked([GIVER, TAKER, ONE, OTHER], (), patient=True))
    assert step == Step(PART, "adopt", HAD, (GIVER, ONE, OTHER))


def test_a_taker_that_knows_of_it_began_as_far_as_anybody_can_say() -> None:
    own, copy = Evidence(TAKER, GIFT, False), Evidence(ONE, GIFT, False)
    step = decided(Asked([GIVER, TAKER, ONE, OTHER], (), patient=True), own, copy)
    assert (step.kind, step.view) == ("adopt", GIFT)
    assert OTHER not in step.sources


@pytest.mark.parametrize(
    "asked",
    [
        Asked([GIVER, ONE, OTHER], (), patient=True),
        Asked([GIVER, ONE, OTHER], (TAKER.id,), patient=True),
        Asked([GIVER, TAKER, ONE, OTHER], (), patient=True, forgetful=(TAKER.id,)),
        Asked([GIVER, TAKER, ONE, OTHER], (), patient=True, begun=(GIFT,)),
        Asked([GIVER, life_before(TAKER), ONE, OTHER], (), patient=True),
    ],
    ids=["not back", "dead", "a damaged journal", "somebody was told", "an empty disk"],
)
def test_a_taker_that_may_have_begun_is_not_passed_over(asked: Asked) -> None:
    """One whose disk is empty has no number of a later life either: that stood on the disk."""
    assert decided(asked).kind == "lost"


# -- what the giver remembers


def given_by_hand() -> tuple[Views, View, View]:
    """A giver's views, the view that it gave part of, and the one that this begins under."""
    views = Views()
    own = View(GIVER, 5, 6, ((0, 19),), (ONE, OTHER))
    gift = View(TAKER, 9, 9, PART, (GIVER, ONE))
    views.put_own(own)
    views.give(PART)
    part = own.within(PART)
    assert part is not None
    views.put_given(gift, [part])
    return views, part, gift


def written(views: Views) -> ViewsNote:
    note = codec.decode(noted(views).value or b"")
    assert isinstance(note, ViewsNote)
    return note


def test_a_giver_remembers_what_it_had_until_the_taker_speaks() -> None:
    views, part, gift = given_by_hand()
    assert views.copies[gift.key].before == (part,)
    assert written(views).former == (part,)
    assert views.remembered() == [], "as long as it lives it has moved on"
    views.put(gift)  # the taker asks its copies, and may fall as well before it has begun
    assert written(views).former == (part,)
    later = replace(gift, epoch=10, copies=(GIVER,))
    views.put(later)
    assert written(views).former == (part,)
    views.note_begun(TAKER.id, 10)
    assert written(views).former == ()


def test_a_giver_can_show_what_it_had_while_it_keeps_it() -> None:
    """Its copies went over to the taker's view, and have moved on from that as it ended."""
    views, part, _ = given_by_hand()
    views.put(View(OTHER, 30, 30, PART, (GIVER,)))
    assert views.has_all_of(PART, GIVER.id, part.epoch)
    assert views.has_all_of(PART, GIVER.id, part.epoch - 1)
    assert not views.has_all_of(PART, GIVER.id, part.epoch + 1)


def test_what_it_lost_the_past_of_it_shows_since_then_alone() -> None:
    views = Views()
    part = View(GIVER, 5, 6, PART, (), lost=PART)
    views.put_given(View(TAKER, 9, 9, PART, (GIVER,)), [part])
    assert views.has_all_of(PART, GIVER.id, 6)
    assert not views.has_all_of(PART, GIVER.id, 4)


def test_who_goes_on_with_what_is_left_can_show_what_it_had_until_then() -> None:
    """Its next epochs have another number, and are believed to have begun anew."""
    views = Views(GIVER.id)
    views.put_own(View(GIVER, 5, 6, ((0, 19),), (), lost=((0, 19),)))
    (number,) = views.demote(PART)
    views.put_own(replace(views.own[number], epoch=number + 1))
    assert views.taken_in.of(GIVER.id, 6) == ((10, 19),)


def test_what_a_giver_remembers_is_bounded() -> None:
    views = Views()
    parts = [View(GIVER, n, n, ((n, n),), ()) for n in range(2 * BEFORE_MAX)]
    gift = View(TAKER, 99, 99, ((0, 2 * BEFORE_MAX),), (GIVER,))
    views.put_given(gift, parts)
    assert views.copies[gift.key].before == tuple(parts[-BEFORE_MAX:])
