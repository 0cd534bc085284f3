"""A ring falls peer by peer and comes back without one of them, or with one whose disk is gone.

Views that begin as it falls have one or two copies that are just as mortal, and nothing is kept
under them.  Should one of these be the peer that is gone, the others have the last word of before,
and that counts.
"""

from __future__ import annotations

import random

import pytest

from chord import Contact, replace
from meteor import profile
from meteor.copies.evidence import Evidence
from meteor.copies.takeover import Asked, plan
from meteor.wire.view import View
from sim.disk import SimDisk
from sim.overlay import Overlay
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    crash,
    primary_of,
    seeds,
    store_some,
    view_of,
)
from tests.meteor.test_falling_one_by_one import fall, start

GONE, EMPTY = "gone", "empty"
FOUND = [(4, GONE), (9, GONE), (3, EMPTY), (10, EMPTY)]
"""Their intervals were named as missing for ever, as were those of 24 others of the first 80."""
STILL_NAMED = [(14, EMPTY), (18, EMPTY), (76, GONE)]
"""Some of theirs are: a part was given to one of the last, or a rival noted there, as all fell."""
MORE = [(seed, what) for seed in range(1, 81) for what in (GONE, EMPTY)]


def fall_and_come_back(seed: int, what: str) -> tuple[Overlay, set[str]]:
    """Who is in the ring again, and what it had acknowledged."""
    drawn = random.Random(f"{seed} {what}")
    overlay = build(seed, drawn.choice([4, 5, 6, 8, 10]), disk_s=drawn.choice([0.001, 0.002, 0.01]))
    kept = set(store_some(overlay, overlay.client(), drawn, 12))
    assert_whole_within(overlay, 30)
    fallen = fall(overlay, drawn, drawn.choice([0.01, 0.05]))
    lost = drawn.choice(fallen)
    drawn.shuffle(fallen)
    if what == GONE:
        fallen.remove(lost)
    else:
        assert isinstance(overlay.disk, SimDisk)
        overlay.disk.wipe(lost.address)
        if fallen[0] is lost:  # who knows nothing and finds nobody founds a ring of its own
            fallen.append(fallen.pop(0))
    start(overlay, fallen)
    return overlay, kept


CASES = [
    *FOUND,
    *(pytest.param(*one, marks=pytest.mark.long) for one in MORE if one not in STILL_NAMED + FOUND),
]


@pytest.mark.parametrize(("seed", "what"), CASES)
def test_the_last_word_before_the_fall_counts(seed: int, what: str) -> None:
    overlay, kept = fall_and_come_back(seed, what)
    assert_whole_within(overlay, 60)
    assert ask(overlay, overlay.client()) == (kept, True)


@pytest.mark.long
@pytest.mark.parametrize(("seed", "what"), STILL_NAMED)
def test_what_does_not_is_named(seed: int, what: str) -> None:
    overlay, kept = fall_and_come_back(seed, what)
    for _ in range(10):
        assert_never_silently_partial(overlay, overlay.client(), kept)
        overlay.run_for(3.0)


@pytest.mark.parametrize("seed", seeds(4, 40))
def test_what_is_acknowledged_has_settled(seed: int) -> None:
    """Whoever knows of a view under which anything was acknowledged knows that."""
    drawn = random.Random(seed)
    overlay = build(seed, drawn.choice([4, 5, 8]))
    kept = set(store_some(overlay, overlay.client(), drawn, 12))
    assert_whole_within(overlay, 30)
    brief = 0
    for _ in range(3):
        crash(drawn.choice(overlay.living))
        overlay.run_for(drawn.choice([0.0, 0.05, 0.7]))
        brief += sum(
            view.is_brief for peer in overlay.living for view in peer.core.views.own.values()
        )
        stored = overlay.client().store(profile(draw_data(drawn)), b"y", ttl=7200, timeout=20)
        record = overlay.run(stored).id
        kept.add(record)
        assert not view_of(overlay, record).is_brief
        known = primary_of(overlay, record).core.views.chronicle
        begun = known.all_of(view_of(overlay, record).intervals)
        assert not any(view.is_brief for view in begun)
        start(overlay, [one for one in overlay.peers if not one.alive])
        overlay.run_for(drawn.choice([0.1, 4.0]))
    print(f"{brief} views were brief as they were looked at")
    assert_whole_within(overlay, 60)
    assert ask(overlay, overlay.client()) == (kept, True)


PIECE = (0, 9)
ANN, BOB, CLARA, DORA = (Contact(one, f"10.0.0.{one}:1") for one in (1, 2, 3, 4))
LAST = View(ANN, 5, 5, (PIECE,), (BOB, CLARA))
BRIEF = replace(LAST, epoch=8, copies=(DORA,), settled=LAST.as_settled())


def back(contact: Contact) -> Contact:
    return Contact(contact.id, contact.address, 1)


def after_a_fall(*had: tuple[Contact, View], begun: tuple[View, ...] = (LAST,)) -> object:
    """What an heir makes of what those who are back had, while Ann is not."""
    evidence = [Evidence(back(who), view, False) for who, view in had]
    asked = Asked([one.contact for one in evidence], (ANN.id,), patient=True, begun=begun)
    (step,) = plan((PIECE,), evidence, asked, orphaned=True)
    return step.kind, None if step.view is None else step.view.epoch


def test_what_is_brief_hides_nothing_of_before() -> None:
    assert after_a_fall((BOB, LAST), (CLARA, LAST), (DORA, BRIEF)) == ("adopt", LAST.epoch)
    settled = replace(BRIEF, settled=None)
    assert after_a_fall((BOB, LAST), (CLARA, LAST), (DORA, settled)) == ("lost", None)


def test_what_is_brief_proves_nothing_of_before() -> None:
    """Dora has all of it, and is none of those who would know of a later word."""
    assert after_a_fall((BOB, LAST), (DORA, BRIEF)) == ("lost", None)


def test_what_was_kept_after_it_stands() -> None:
    later = replace(BRIEF, epoch=9, settled=None)
    found = after_a_fall((BOB, LAST), (CLARA, LAST), (DORA, BRIEF), begun=(LAST, later))
    assert found == ("lost", None)


def test_a_copy_that_never_took_an_epoch_says_that_it_never_began() -> None:
    """Dora was asked first, and Bob not any more."""
    begins = replace(LAST, epoch=8, copies=(BOB, DORA))
    assert after_a_fall((BOB, LAST), (CLARA, LAST), (DORA, begins)) == ("adopt", LAST.epoch)
    found = after_a_fall((BOB, LAST), (CLARA, LAST), (DORA, begins), begun=(LAST, begins))
    assert found == ("lost", None)
