"""What an heir decides where peers went over to what never began, or to other places."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from meteor.copies.evidence import Evidence, names_what_was_before
from meteor.copies.found import Found
from meteor.copies.other_places import as_named
from meteor.copies.takeover import Asked, Step, plan
from meteor.keeping.known_views import HAD_MAX
from meteor.wire.view import Ended, View
from tests.meteor.copies_world import assert_whole_within, build
from tests.meteor.takeover_twin import PEERS


def test_a_copy_of_its_primarys_next_epoch_that_never_began_has_not_moved_on() -> None:
    """It went over from that to a view of an heir that never began either; the primary has the
    epoch before as its last, and says so."""
    whole = ((0, 9),)
    last = View(PEERS[0], 1, 5, whole, (PEERS[1],))
    heirs = View(PEERS[2], 7, 9, whole, (PEERS[1],))
    again = replace(PEERS[2], incarnation=1)
    came_before = View(PEERS[0], 1, 3, whole, (PEERS[1], PEERS[2]))
    both = (Ended(PEERS[0].id, 6, whole), Ended(PEERS[0].id, 5, whole))
    copy = Evidence(PEERS[1], heirs, fresh=True, taken_in=both)
    evidence = [
        Evidence(PEERS[0], last, fresh=False), copy, Evidence(again, came_before, fresh=False)
    ]  # fmt: skip
    asked = Asked([*PEERS[:2], again], [], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view) == ("adopt", last)
    (step,) = plan(((2, 3),), evidence, replace(asked, begun=(heirs,)), orphaned=True)
    assert step.kind == "lost", "the heir's began"
    later_alone = replace(copy, taken_in=(Ended(PEERS[0].id, 6, whole, since=6),))
    without = [evidence[0], later_alone, evidence[2]]
    (step,) = plan(((2, 3),), without, asked, orphaned=True)
    assert step.kind == "lost", "it does not show to have had the last one"


def test_a_copy_of_what_never_began_hides_nothing_that_it_names_beside_it() -> None:
    """All who had the epoch before were started again, one of them became a copy of an heir that
    did not begin, and stays one: the past was unknown for good, though all named it (a ring
    of twelve that lost power, 10 of 109).  What it had in between it would hide."""
    before = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    heirs = View(PEERS[3], 7, 9, ((2, 7),), (PEERS[1],))
    had = Evidence(PEERS[1], before, fresh=False)
    copy = Evidence(PEERS[1], heirs, fresh=True, taken_in=(Ended(PEERS[1].id, 4, ((0, 9),)),))
    assert names_what_was_before(copy, [copy, had])
    assert not names_what_was_before(copy, [copy])
    assert not names_what_was_before(copy, [copy, replace(had, damaged=True)])
    assert not names_what_was_before(copy, [copy, replace(had, contact=PEERS[2])])
    in_part = replace(had, view=replace(before, intervals=((0, 5),)))
    assert not names_what_was_before(copy, [copy, in_part])
    later = replace(copy, taken_in=(Ended(PEERS[2].id, 6, ((0, 9),)),))
    assert not names_what_was_before(later, [later, had])


VIEW = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
MOVED = replace(PEERS[3], address=PEERS[1].address, incarnation=1)
"""Who was the first copy of it, at another place of the ring."""
AS_IT_WAS = replace(MOVED, id=PEERS[1].id)


def test_a_copy_that_went_to_another_place_is_one_of_those_who_have_it() -> None:
    """It says that it had that identifier; with the primary these are most of three.  One that is
    at that address without having had it, has lost something, or remembers another view, is not."""
    its_own = Evidence(PEERS[0], VIEW, fresh=False)

    def step_by(other: Evidence) -> Step:
        found = Found((2, 3), answered={one.id: one for one in (PEERS[0], MOVED)})
        found.born = {PEERS[0].id: 0, MOVED.id: 0}
        found.note_names(MOVED, [other.contact] if not other.damaged else [])
        asked = Asked(found.answered.values(), found.dead([1, 2]), patient=True)
        (step,) = found.without_names(plan(((2, 3),), [its_own, other], asked, orphaned=True))
        return step

    step = step_by(Evidence(AS_IT_WAS, VIEW, fresh=False))
    assert (step.kind, step.sources) == ("adopt", (PEERS[0], MOVED)), "asked as it is now"
    assert step_by(Evidence(MOVED, VIEW, fresh=False)).kind == "lost"
    assert step_by(Evidence(AS_IT_WAS, VIEW, fresh=False, damaged=True)).kind == "lost"
    of_another = Evidence(AS_IT_WAS, replace(VIEW, number=2, epoch=4), fresh=False)
    assert step_by(of_another).kind == "lost", "it may have been evicted since"


def test_a_peer_is_named_as_it_was_at_its_address_alone() -> None:
    had = [PEERS[1].id]
    assert as_named(MOVED, VIEW, had) == AS_IT_WAS
    assert as_named(MOVED, VIEW, []) == MOVED, "another one has that address since"
    elsewhere = replace(MOVED, address="10.9.9.9:1")
    assert as_named(elsewhere, VIEW, had) == elsewhere
    assert as_named(PEERS[2], VIEW, had) == PEERS[2], "it has its own name there"
    assert as_named(MOVED, VIEW, [*had, *range(100, 100 + HAD_MAX)]) == MOVED, "too long ago"


def test_who_has_an_identifier_now_answers_for_it() -> None:
    found = Found((2, 3), answered={MOVED.id: MOVED}, born={MOVED.id: 7}, forgetful={MOVED.id})
    found.note_names(MOVED, [AS_IT_WAS, MOVED])
    assert found.names == {AS_IT_WAS.id: MOVED}
    assert (found.born[AS_IT_WAS.id], AS_IT_WAS.id in found.forgetful) == (7, True)
    found.refused.add(AS_IT_WAS.id)
    assert found.dead([2]) == {2}, "it refused under that name, and answered under its own"
    granted = replace(PEERS[1], address="10.9.9.9:1")
    found = Found((2, 3), answered={MOVED.id: MOVED, granted.id: granted}, born={MOVED.id: 0})
    found.note_names(MOVED, [AS_IT_WAS])
    assert (found.answered[granted.id], found.names) == (granted, {})


@pytest.mark.parametrize("seed", [1, 2])
def test_a_peer_remembers_which_identifiers_it_had(seed: int) -> None:
    """Over its restarts, in its journal."""
    overlay = build(seed, 5, disk_s=0.001)
    assert_whole_within(overlay, 30)
    peer, drawn = overlay.peers[2], random.Random(seed + 1000)
    ids = [peer.contact.id]
    for _ in range(2):
        peer = overlay.run(overlay.move(peer, drawn.getrandbits(160)))
        overlay.run_for(5.0)
        assert peer.core.views.had == tuple(ids)
        ids.append(peer.contact.id)
    peer.crash()
    peer = overlay.run(overlay.restart(peer))
    assert peer.core.views.had == tuple(ids[:2])
    overlay.run_for(5.0)
    back = overlay.run(overlay.move(peer, ids[0]))
    assert back.core.views.had == tuple(ids[1:]), "it has the first one again"
