"""What an heir decides where peers went over to what never began, or to other places."""

from __future__ import annotations

from dataclasses import replace

from meteor.copies.evidence import Evidence
from meteor.copies.takeover import Asked, plan
from meteor.wire.view import Ended, View
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


def test_a_copy_that_went_to_another_place_is_one_of_those_who_have_it() -> None:
    """It is at its address under another identifier: with the primary these are most of three.  One
    that is there without any memory of it, or has lost something, is another peer."""
    view = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    moved = replace(PEERS[3], address=PEERS[1].address)
    its_own = Evidence(PEERS[0], view, fresh=False)
    asked = Asked([PEERS[0], moved], [1, 2], patient=True)

    def step_by(*others: Evidence) -> str:
        (step,) = plan(((2, 3),), [its_own, *others], asked, orphaned=True)
        return step.kind

    assert step_by(Evidence(moved, view, fresh=False)) == "adopt"
    assert step_by() == "lost"
    assert step_by(Evidence(moved, view, fresh=False, damaged=True)) == "lost"
    assert step_by(Evidence(PEERS[3], view, fresh=False)) == "lost", "of another address"
    before = Evidence(moved, replace(view, epoch=4), fresh=False)
    assert step_by(before) == "lost", "it may have been evicted since"
