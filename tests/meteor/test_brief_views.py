"""What an heir makes of views that began as many fell, and of what these stand for: whatever that
had lost, or names beside itself, stays named, and no word of before hides what somebody has whole.
"""

from __future__ import annotations

import pytest

from chord import Contact, replace
from meteor.copies.evidence import Evidence
from meteor.copies.takeover import Asked, Step, plan
from meteor.keeping.chronicle import Chronicle
from meteor.keeping.views import Views
from meteor.wire.view import RIVALS_MAX, Ended, Rival, View
from squid import Intervals
from tests.meteor.test_rivals import AnsweredBeside

LOW, HIGH = (0, 4), (5, 9)
PIECE = (0, 9)
ANN, BOB, CLARA, DORA = (Contact(one, f"10.0.0.{one}:1") for one in (1, 2, 3, 4))
RIVAL = Rival((LOW,), 4, (Contact(5, "10.0.0.5:1"),))
LAST = View(ANN, 5, 5, (PIECE,), (BOB, CLARA))
CUTS = View(ANN, 3, 3, (HIGH,), ())
"""It began before all that is asked about, and only cuts this in two."""


SETTLED = LAST.as_settled()


def brief(before: View) -> View:
    return replace(before, epoch=8, copies=(DORA,), settled=before.as_settled())


def back(contact: Contact) -> Contact:
    return Contact(contact.id, contact.address, 1)


def planned(*evidence: Evidence, begun: tuple[View, ...] = (CUTS,)) -> list[Step]:
    """While Ann is dead."""
    asked = Asked([one.contact for one in evidence], (ANN.id,), patient=True, begun=begun)
    return plan((PIECE,), evidence, asked, orphaned=True)


def test_what_was_lost_before_stays_named_in_every_part() -> None:
    """Dora is the heir, and her own word comes first."""
    last = replace(LAST, lost=(LOW,), rivals=(RIVAL,))
    had = (DORA, brief(last)), (BOB, last), (CLARA, last)
    (step,) = planned(*(Evidence(back(who), view, False) for who, view in had))
    assert (step.kind, step.piece) == ("adopt", (PIECE,))
    assert step.view is not None
    assert (step.view.lost, step.view.rivals) == ((LOW,), (RIVAL,))
    assert step.view.intervals == (PIECE,)


def test_parts_of_one_epoch_name_what_either_does() -> None:
    """Bob and Clara kept what was left of it as another part of it ended; each knows of one."""
    low = View(ANN, 5, 5, (LOW,), (BOB,), lost=(LOW,))
    high = replace(low, intervals=(HIGH,), lost=(), rivals=(replace(RIVAL, intervals=(HIGH,)),))
    (step,) = planned(Evidence(BOB, low, True), Evidence(BOB, high, True))
    assert (step.kind, step.piece) == ("adopt", (PIECE,))
    assert step.view is not None
    assert (step.view.lost, step.view.rivals) == ((LOW,), high.rivals)


def test_what_is_brief_stands_for_nothing_that_the_view_before_was_not_of() -> None:
    """It is not as if Dora had never had a word of that."""
    narrow = brief(replace(LAST, intervals=(HIGH,)))
    dora = Evidence(back(DORA), replace(narrow, intervals=(PIECE,)), False)
    before = replace(LAST, number=4, epoch=4)
    others = [Evidence(back(who), before, False) for who in (BOB, CLARA)]
    kinds = {piece: step.kind for step in planned(dora, *others) for piece in step.piece}
    assert kinds[PIECE] == "lost"


EARLIER = replace(LAST, copies=(BOB, DORA))
LATER = replace(EARLIER, epoch=8, copies=(CLARA, BOB))
WHOLE = Evidence(CLARA, LATER, True)


def adopted(*evidence: Evidence) -> int | None:
    (step,) = planned(*evidence)
    return None if step.view is None else step.view.epoch


def test_a_journal_from_before_is_no_word_against_who_has_it_whole() -> None:
    """Bob's was put back from a backup, and Clara lived all the time."""
    had = [Evidence(back(who), EARLIER, False) for who in (BOB, DORA)]
    assert adopted(*had, WHOLE) == LATER.epoch
    assert adopted(Evidence(BOB, EARLIER, True), had[1], WHOLE) == EARLIER.epoch, "as Bob lived"


def test_who_went_over_from_an_epoch_has_taken_it() -> None:
    """Bob still has what he offers from a former life, and went over to one that never began."""
    bob = Evidence(back(BOB), EARLIER, False, taken_in=(Ended(ANN.id, LATER.epoch, (PIECE,)),))
    dora = Evidence(back(DORA), EARLIER, False)
    clara = replace(WHOLE, contact=back(CLARA), fresh=False)
    assert adopted(bob, dora, clara) != EARLIER.epoch
    assert adopted(replace(bob, taken_in=()), dora, clara) == EARLIER.epoch


def test_what_is_heard_as_a_brief_view_ends_is_named_by_what_it_stands_for() -> None:
    world = AnsweredBeside()
    (view,) = world.peer.core.views.own.values()
    part: Intervals = (world.interval,)
    rivals = world.peer.core._handoff.rivals
    for epoch in range(1, RIVALS_MAX + 2):
        rivals.note(Rival(part, epoch, (world.stranger.contact,)))
    known = rivals._with_heard(replace(view, settled=view.as_settled()))
    assert known.settled is not None, "nothing may be kept under it yet"
    assert (known.settled.rivals, known.settled.lost) == (known.rivals, known.lost)
    assert (len(known.rivals), known.lost) == (RIVALS_MAX, part)


@pytest.mark.parametrize("adopted", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_a_brief_view_beside_ones_own_is_no_rival_where_what_it_stands_for_is_here(
    adopted: bool, whole: bool
) -> None:
    """A primary fell as it recruited: the recruit had a view that nobody kept anything under, and
    was named until somebody would show what that had.  `ring-that-loses-nothing`, seed 102."""
    world = AnsweredBeside()
    first, last = world.interval
    middle = (first + last) // 2
    of = world.interval if whole else (first, middle)
    epoch = world.adopted if adopted else world.adopted + 1
    world.say(copies=(), settled=replace(SETTLED, epoch=epoch, intervals=(of,)))
    left = () if whole else ((middle + 1, last),)
    assert world.unknown == (left if adopted else (world.interval,))


def test_who_has_all_of_a_brief_view_has_what_it_stands_for_as_well() -> None:
    """So a recruit's word of it is no rival of what an heir took over from a brief view before:
    `ring-that-loses-nothing`, seed 31."""
    views = Views()
    narrow = replace(brief(replace(LAST, intervals=(HIGH,))), primary=BOB)
    views.take_in(replace(narrow, intervals=(PIECE,)), (PIECE,))
    assert views.taken_in.of(narrow.primary.id, narrow.epoch) == (PIECE,)
    assert narrow.settled is not None
    assert views.taken_in.of(ANN.id, narrow.settled.epoch) == (HIGH,)


def test_what_somebody_says_that_it_stands_for_is_not_remembered_of_what_began() -> None:
    chronicle = Chronicle()
    chronicle.note(brief(LAST))
    assert [one.settled for one in chronicle.written()] == [None]


def test_tending_settles_nothing_while_what_was_given_has_not_begun() -> None:
    """A client does not wait for that."""
    world = AnsweredBeside()
    replication = world.peer.core.replication
    (view,) = world.peer.core.views.own.values()
    world.peer.core.views.own[view.number] = replace(view, settled=view.as_settled())
    asked: list[bool] = []

    async def change(_: int, *, settled: bool, patient: bool) -> bool:
        asked.append(settled and patient)
        return False

    settling = replication.settling
    settling._change = change
    settling._config = replace(settling._config, falling_s=0.0)
    world.overlay.run(settling.look())
    world.overlay.run(settling.settle([view]))
    assert asked == [True, False]
