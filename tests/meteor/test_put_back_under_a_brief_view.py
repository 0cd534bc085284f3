"""Its journal is put back from a backup of a life before, as others keep what it had under a view
that stands for the last one: who has that lived all the time, and all of it is found.

What the primary of a view knows nothing of, though it remembers something earlier, never began: so
the heirs took its word, that of the backup, and the interval was named for ever with everybody back
(`meteor-sim scenario backups`, seeds 20 and 140 as they were drawn then; every second of the rings
below).  That a brief view began is told to nobody, as nothing is kept under it; but it says itself
what it stands for, and that its primary had that.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import Contact, replace
from meteor.copies.evidence import Evidence, has_piece, put_back
from meteor.copies.takeover import Asked, Step, plan
from meteor.wire.view import View
from sim.copy_watch import current_parts
from sim.disk import SimDisk
from sim.overlay import Overlay, SimPeer
from squid import merge, subtract
from tests.meteor.copies_world import (
    EVERYTHING,
    ask,
    assert_whole_within,
    build,
    crash,
    seeds,
    store_some,
)

BACK_S_MAX = 0.01
"""Until it is started again: evenly drawn up to this.  Later the others have taken over."""
PIECE = (0, 9)
ANN, BOB, CLARA, DORA = (Contact(one, f"10.0.0.{one}:1", 1) for one in (1, 2, 3, 4))
EARLY = View(replace(ANN, incarnation=0), 1, 1, (PIECE,), (CLARA, DORA))
"""What Ann's backup tells of."""
LAST = View(ANN, 5, 6, (PIECE,), (DORA, BOB))
"""Dora left since."""
BRIEF = replace(LAST, epoch=8, copies=(BOB, CLARA), settled=LAST.as_settled())


def back(contact: Contact) -> Contact:
    return replace(contact, incarnation=contact.incarnation + 1)


def planned(*evidence: Evidence, begun: tuple[View, ...] = (LAST,)) -> Step:
    """While Dora is dead."""
    answered = [one.contact for one in evidence]
    asked = Asked(answered, (DORA.id,), patient=True, begun=begun)
    (step,) = plan((PIECE,), evidence, asked, orphaned=True)
    return step


WITH_BOB, WITH_CLARA = Evidence(BOB, BRIEF, True), Evidence(CLARA, BRIEF, True)
WITH_ANN = Evidence(back(ANN), EARLY, False)


def test_who_has_a_brief_view_has_all_whatever_a_backup_of_its_primary_says() -> None:
    step = planned(WITH_ANN, WITH_BOB, WITH_CLARA)
    assert (step.kind, step.view, step.sources) == ("adopt", BRIEF, (BOB, CLARA))
    assert planned(WITH_ANN, WITH_BOB, WITH_CLARA, begun=()).view == BRIEF


def test_one_survivor_is_enough_beside_it() -> None:
    assert planned(WITH_ANN, WITH_BOB).view == BRIEF


@pytest.mark.parametrize("number", [5, 7])
def test_who_remembers_what_it_stands_for_has_no_backup(number: int) -> None:
    """Ann fell as she was about to begin it, or has what she had under another number since."""
    ann = replace(WITH_ANN, view=replace(LAST, number=number, epoch=number + 1))
    evidence = (ann, WITH_BOB, WITH_CLARA)
    assert put_back(PIECE, evidence, (LAST,)) == set()
    assert (planned(*evidence).view == BRIEF) == (number == BRIEF.number)


def test_who_lived_all_the_time_has_no_backup() -> None:
    assert planned(replace(WITH_ANN, contact=ANN), WITH_BOB, WITH_CLARA).kind == "lost"


def test_who_was_not_of_what_it_stands_for_may_never_have_begun_it() -> None:
    """It may be another one's: Ann took it over, and fell as she was about to begin it."""
    last = replace(LAST, primary=DORA, copies=(BOB, CLARA))
    brief = replace(BRIEF, settled=last.as_settled())
    evidence = [replace(one, view=brief) for one in (WITH_BOB, WITH_CLARA)]
    assert planned(WITH_ANN, *evidence, begun=(last,)).view != brief


def test_what_began_since_is_not_hidden_by_it() -> None:
    """Dora went on with what came before."""
    later = View(DORA, 7, 7, (PIECE,), (BOB,))
    assert planned(WITH_ANN, WITH_BOB, WITH_CLARA, begun=(LAST, later)).kind == "lost"


LIVES = [Contact(one, f"10.0.0.{one}:1", life) for one in range(4) for life in range(3)]
PIECES = st.sampled_from([PIECE, PIECE, (0, 5)])


@st.composite
def drawn_views(draw: st.DrawFn) -> View:
    def one() -> View:
        primary, *copies = draw(st.lists(st.sampled_from(LIVES), min_size=2, max_size=4))
        epoch = draw(st.integers(1, 6))
        return View(primary, draw(st.integers(1, 3)), epoch, (draw(PIECES),), tuple(copies))

    view = one()
    return replace(view, settled=one().as_settled()) if draw(st.booleans()) else view


def stood_for(view: View) -> View:
    before = view.settled and view.settled.within(view.intervals)
    return before if before and has_piece(before, PIECE) else view


def dumb_put_back(evidence: list[Evidence], begun: list[View]) -> set[int]:
    """Everybody in every view, against everything that anybody said."""
    known = [*(one.view for one in evidence), *begun]
    last = max((stood_for(one).epoch for one in known), default=0)
    return {
        one.id
        for view in known
        if view.is_brief and not stood_for(view).is_brief and stood_for(view).epoch == last
        for one in view.holders
        if one.id in stood_for(view).holder_ids
        and (its := [
            said.view.epoch for said in evidence
            if (said.contact.id, said.contact.address) == (one.id, one.address)
            and said.contact.incarnation > one.incarnation
        ])
        and max(its) < last
    }  # fmt: skip


@given(
    st.lists(st.builds(Evidence, st.sampled_from(LIVES), drawn_views(), st.just(False))),
    st.lists(drawn_views(), max_size=2),
)
def test_it_is_as_looking_at_everybody_in_every_view(
    evidence: list[Evidence], begun: list[View]
) -> None:
    assert put_back(PIECE, evidence, begun) == dumb_put_back(evidence, begun)


def is_kept(overlay: Overlay, peer: SimPeer) -> bool:
    """Whether all that a peer has is with others, and all that it answers for with two of them."""
    up = {one.contact for one in overlay.living}
    parts = current_parts(overlay.living)
    parts.pop(peer, None)
    return not subtract(EVERYTHING, merge(*parts.values())) and all(
        len(up.intersection(view.copies)) == 2 for view in peer.core.views.own.values()
    )


def fall_and_come_back(overlay: Overlay, seed: int) -> None:
    """One of six peers, that was started again since its journal was kept, after two others."""
    drawn, disk = random.Random(seed * 31), overlay.disk
    assert isinstance(disk, SimDisk)
    kept = set(store_some(overlay, overlay.client(), drawn, 12))
    assert_whole_within(overlay)
    first = drawn.choice(overlay.peers[1:])
    disk.back_up(first.address)
    crash(first)
    overlay.run_for(2.0)
    one = overlay.run(overlay.restart(first))
    assert_whole_within(overlay)
    overlay.run_for(4.0)
    kept |= set(store_some(overlay, overlay.client(), drawn, 12))
    (view, *_) = one.core.views.own.values()
    beside = [peer for peer in overlay.peers[1:] if peer is not one]
    copy = drawn.choice([peer for peer in beside if view.has_copy(peer.contact.id)])
    crash(copy, drawn.choice([peer for peer in beside if peer is not copy]))
    overlay.run_for(drawn.uniform(0, 0.5))
    while not is_kept(overlay, one):
        overlay.run_for(0.01)
    crash(one)
    assert disk.go_back(one.address, 0.0)
    overlay.run_for(drawn.uniform(0, BACK_S_MAX))
    overlay.run(overlay.restart(one))
    assert_whole_within(overlay, 60)
    assert ask(overlay, overlay.client()) == (kept, True)


@pytest.mark.parametrize("seed", seeds(4, 20))
def test_everything_is_found_with_everybody_back(seed: int) -> None:
    fall_and_come_back(build(seed, 6, disk_s=0.002), seed)
