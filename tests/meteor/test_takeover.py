"""What an heir decides: index by index against a dumb twin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from meteor.copies.evidence import Evidence
from meteor.copies.takeover import Asked, Step, plan
from meteor.wire.view import Ended, View
from squid import Intervals
from tests.meteor.takeover_twin import (
    FEWER,
    PEERS,
    askings,
    decided,
    died_before,
    evidences,
    forgetful,
    indexes,
    of_step,
    parts,
    shows,
    was_not_taken,
)


@given(parts, evidences, askings, st.booleans())
def test_every_index_gets_what_the_twin_decides(
    part: Intervals, evidence: list[Evidence], asked: Asked, orphaned: bool
) -> None:
    steps = plan(part, evidence, asked, orphaned=orphaned)
    found = {index: of_step(step) for step in steps for index in indexes(step.piece)}
    assert found == {index: decided(index, evidence, asked, orphaned) for index in indexes(part)}
    assert sum(len(indexes(step.piece)) for step in steps) == len(found), "an index in two steps"
    assert all(of_step(one) != of_step(other) for one, other in pairwise(steps)), "cut too often"


@FEWER
@given(parts, evidences, askings, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_answers_does_not_matter(
    part: Intervals, evidence: list[Evidence], asked: Asked, orphaned: bool, drawn: object
) -> None:
    steps = plan(part, evidence, asked, orphaned=orphaned)
    drawn.shuffle(evidence)  # type: ignore[attr-defined]
    again = plan(part, evidence, asked, orphaned=orphaned)

    def each(some: list[Step]) -> dict[int, tuple[object, ...]]:
        return {
            index: (kind, view, frozenset(sources))
            for step in some
            for kind, view, sources in (of_step(step),)
            for index in indexes(step.piece)
        }

    assert each(steps) == each(again)


def can_have_begun(index: int, evidence: Sequence[Evidence], asked: Asked) -> list[View]:
    """The views of an index under which something may have been acknowledged: all, but those of
    which their own primary, who answered and remembers something of the index, knows nothing,
    those of which it said that it tried them alone, and those that a copy never took."""
    known = [one for one in evidence if index in indexes(one.view.intervals)]
    answered = {one.id for one in asked.answered} - forgetful(asked)
    remembered = {(one.contact.id, one.view.key) for one in known if one.contact.id in answered}
    telling = {peer for peer, _ in remembered}
    return [
        one.view for one in known
        if (one.view.key, one.view.epoch) in {(told.key, told.epoch) for told in asked.begun}
        or ((one.view.key, one.view.epoch) not in asked.tried
            and not was_not_taken(one.view, known, asked, index)
            and ((one.view.primary.id, one.view.key) in remembered
                 or one.view.primary.id not in telling))
    ]  # fmt: skip


NEVER_BEGUN = View(PEERS[0], 1, 2, ((0, 0),), (PEERS[1],))
BEFORE_IT = View(PEERS[0], 2, 1, ((0, 0),), (PEERS[1],))


@FEWER
@given(parts, evidences, askings, st.booleans())
@example(  # drawn in CI: the primary tried a view of which some copies know, and never began it
    part=((0, 0),),
    evidence=[
        Evidence(PEERS[0], BEFORE_IT, fresh=True), Evidence(PEERS[1], NEVER_BEGUN, fresh=False),
    ],
    asked=Asked(PEERS[:2], set(), patient=False),
    orphaned=False,
)  # fmt: skip
def test_no_content_of_an_epoch_that_has_passed_is_taken_over(
    part: Intervals, evidence: list[Evidence], asked: Asked, orphaned: bool
) -> None:
    for step in plan(part, evidence, asked, orphaned=orphaned):
        if step.kind == "adopt":
            assert step.view is not None
            assert step.sources
            for index in indexes(step.piece):
                begun = can_have_begun(index, evidence, asked)
                known = [one for one in evidence if index in indexes(one.view.intervals)]
                # of a view that died before anything began nobody's memory counts, its own neither
                left = [one for one in known if not died_before(one.view, index, known, asked)]
                later = [view for view in begun if view.epoch > step.view.epoch]
                sources = [one for one in known
                           if one.view == step.view and one.contact in step.sources]  # fmt: skip
                assert all(
                    died_before(view, index, known, asked)
                    or all(shows(one, view, index) for one in sources)
                    for view in later
                )
                begun += can_have_begun(index, left, asked)
                assert step.view.key in {view.key for view in begun}


def test_what_a_primary_tried_and_never_began_hides_nothing_and_gives_nothing() -> None:
    """As long as the primary says so: silent, it may have begun it."""
    evidence = [
        Evidence(PEERS[0], BEFORE_IT, fresh=True), Evidence(PEERS[1], NEVER_BEGUN, fresh=True),
    ]  # fmt: skip
    asked = Asked(PEERS[:2], [], patient=True)
    (step,) = plan(((0, 0),), evidence, asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", BEFORE_IT, (PEERS[0],))
    asked = Asked(PEERS[1:2], [0], patient=True)
    (step,) = plan(((0, 0),), evidence[1:], asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", NEVER_BEGUN, (PEERS[1],))


def test_what_is_known_to_have_gone_on_is_not_taken_over_from() -> None:
    """Neither from restarted copies, nor from one that lived all the time and was cut off: nobody
    who has what came then need be left."""
    before = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    later = View(PEERS[3], 7, 7, ((4, 9),), (PEERS[4], PEERS[5]))
    for fresh in (False, True):
        evidence = [Evidence(PEERS[n], before, fresh) for n in (1, 2)]
        asked = Asked(PEERS[1:3], [0], patient=True, begun=[later])
        known, gone_on = plan(((0, 9),), evidence, asked, orphaned=True)
        assert (known.kind, known.piece) == ("adopt", ((0, 3),))
        assert (gone_on.kind, gone_on.piece, gone_on.sources) == ("lost", ((4, 9),), ())
        asked = replace(asked, begun=[replace(later, epoch=5)])
        (step,) = plan(((0, 9),), evidence, asked, orphaned=True)
        assert step.kind == "adopt"


def test_a_gift_that_began_and_went_on_is_not_taken_back() -> None:
    """The taker evicted its silent giver, acknowledged with the other copy, and both fell."""
    gift = View(PEERS[0], 7, 20, ((0, 9),), (PEERS[1], PEERS[2]))
    later = replace(gift, epoch=21, copies=(PEERS[2],))
    asked = Asked(PEERS[1:2], [0, 2], patient=True, unanswered={gift.key})
    evidence = [Evidence(PEERS[1], gift, fresh=True)]
    (step,) = plan(((0, 9),), evidence, asked, orphaned=True)
    assert step.kind == "adopt"
    (step,) = plan(((0, 9),), evidence, replace(asked, begun=[later]), orphaned=True)
    assert step.kind == "lost"


def test_a_holder_that_never_heard_of_a_view_has_not_moved_on_from_it() -> None:
    """Its giver took the piece from it with a word of its own view, and the taker fell."""
    given = View(PEERS[0], 7, 7, ((0, 9),), (PEERS[1], PEERS[2]))
    giver = Evidence(PEERS[1], given, fresh=True)
    asked = Asked(PEERS[1:3], [0], patient=True, heard={PEERS[2]: [(6, ((0, 9),))]})
    (step,) = plan(((0, 9),), [giver], asked, orphaned=True)
    assert (step.kind, step.sources) == ("adopt", (PEERS[1],))
    for heard_of in ([(7, ((0, 9),))], [(6, ((0, 9),)), (8, ((2, 3),))], []):
        asked = replace(asked, heard={PEERS[2]: heard_of})
        (step,) = plan(((2, 3),), [giver], asked, orphaned=True)
        assert step.kind == "lost", heard_of
    again = replace(PEERS[2], incarnation=1)  # what it heard before, it may have forgotten
    asked = Asked([PEERS[1], again], [0], patient=True, heard={again: [(6, ((0, 9),))]})
    (step,) = plan(((0, 9),), [giver], asked, orphaned=True)
    assert step.kind == "lost"


def test_a_view_that_was_let_go_as_another_had_all_of_it_hides_nothing() -> None:
    """An heir's, in a later epoch, beside that of two who were back first: one of these took it in,
    and its primary let go.  A copy of it, that was down, still spoke of it as the last word."""
    first = View(PEERS[0], 9, 18, ((0, 9),), (PEERS[1],))
    heir = View(PEERS[2], 20, 20, ((0, 9),), (PEERS[3],))
    told = Ended(PEERS[2].id, 20, ((0, 9),))
    evidence = [
        Evidence(PEERS[0], first, fresh=False, taken_in=(told,)),
        Evidence(PEERS[1], first, fresh=False), Evidence(PEERS[3], heir, fresh=False),
    ]  # fmt: skip
    asked = Asked(PEERS[:4], [], patient=True, begun=[heir])
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", first, (PEERS[0],))
    never = replace(first, copies=(PEERS[1], PEERS[4]))  # as its primary knows, a copy of the heir
    known = [
        Evidence(PEERS[0], heir, fresh=False), Evidence(PEERS[1], never, fresh=True),
        Evidence(PEERS[4], never, fresh=True, taken_in=(told,)),
    ]  # fmt: skip
    (step,) = plan(((2, 3),), known, replace(asked, answered=PEERS[:5]), orphaned=True)
    assert step.kind == "lost"
    for wrong in (replace(told, epoch=19), replace(told, intervals=((4, 9),))):
        without = [replace(evidence[0], taken_in=(wrong,)), *evidence[1:]]
        (step,) = plan(((2, 3),), without, asked, orphaned=True)
        assert step.kind == "lost"


def test_who_took_something_in_is_no_proof_for_who_did_not() -> None:
    """The two who have the last of the other views never had it."""
    last = View(PEERS[0], 9, 18, ((0, 9),), (PEERS[1],))
    heir = View(PEERS[2], 20, 20, ((0, 9),), (PEERS[3],))
    third = View(PEERS[4], 5, 5, ((0, 9),), ())
    evidence = [
        Evidence(PEERS[0], last, fresh=False), Evidence(PEERS[1], last, fresh=False),
        Evidence(PEERS[3], heir, fresh=False),
        Evidence(PEERS[4], third, False, taken_in=(Ended(PEERS[2].id, 20, ((0, 9),)),)),
    ]  # fmt: skip
    (step,) = plan(((2, 3),), evidence, Asked(PEERS[:5], [], patient=True), orphaned=True)
    assert step.kind == "lost"


def test_who_lost_records_alone_still_says_that_nothing_began_since() -> None:
    """Of two holders one has everything; the other one's journal is whole but for a record."""
    view = View(PEERS[0], 1, 5, ((0, 0),), (PEERS[1],))
    back = [replace(one, incarnation=1) for one in PEERS[:2]]
    whole = Evidence(back[0], view, False)
    for remembers, kind in ((True, "adopt"), (False, "lost")):
        torn = Evidence(back[1], view, False, damaged=True, remembers=remembers)
        forgetful = set() if remembers else {back[1].id}
        asked = Asked(back, (), patient=True, forgetful=forgetful)
        (step,) = plan(((0, 0),), [whole, torn], asked, orphaned=True)
        assert step.kind == kind
        assert step.sources == ((back[0],) if remembers else ())
        elsewhere = replace(torn, view=replace(view, number=2, epoch=7, primary=PEERS[1]))
        (step,) = plan(((0, 0),), [whole, elsewhere], asked, orphaned=True)
        assert whole.contact not in step.sources, "it went on, and has lost some of it"
