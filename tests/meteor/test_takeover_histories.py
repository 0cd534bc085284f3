"""What an heir decides, against a history of epochs, and in the cases that seeds found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from chord import Contact
from meteor.copies.evidence import Evidence, as_before, went_another_way
from meteor.copies.takeover import Asked, plan
from meteor.wire.view import Ended, View
from tests.meteor.takeover_twin import PEERS, SIZE

HISTORIES = [
    history
    for length in range(1, 4)
    for history in product(("evict first", "evict last", "recruit"), repeat=length)
]
"""What may happen to the three holders of an interval, one epoch after the other."""


def epochs_of(history: Sequence[str]) -> list[View]:
    """The views of a primary, oldest first, each durable at all its holders."""
    copies, spare = [PEERS[1], PEERS[2]], [PEERS[3], PEERS[4], PEERS[5]]
    views = [View(PEERS[0], 1, 1, ((0, SIZE - 1),), tuple(copies))]
    for step in history:
        if step == "recruit":
            copies = [*copies, spare.pop(0)] if len(copies) < 2 else copies
        elif len(copies) > 1:  # a primary that is alone acknowledges nothing
            copies = copies[1:] if step == "evict first" else copies[:-1]
        if tuple(copies) != views[-1].copies:
            views.append(replace(views[-1], epoch=len(views) + 1, copies=tuple(copies)))
    return views


def last_known(epochs: list[View], peer: Contact) -> View | None:
    """The last epoch that a peer was a holder in."""
    had = [view for view in epochs if peer.id in view.holder_ids]
    return had[-1] if had else None


def test_one_survivor_of_the_last_epoch_is_enough_and_nobody_of_an_earlier_one_gives() -> None:
    """Everybody else is dead; who was evicted was told, and remembers it as a former life."""
    for history in HISTORIES:
        epochs = epochs_of(history)
        for answering in ((peer,) for peer in PEERS):
            evidence = [
                Evidence(peer, view, fresh=view.epoch == len(epochs) and peer != PEERS[0])
                for peer in answering
                if (view := last_known(epochs, peer)) is not None
            ]
            dead = [peer.id for peer in PEERS if peer not in answering]
            asked = Asked(answering, dead, patient=True)
            (step,) = plan(epochs[-1].intervals, evidence, asked, orphaned=True)
            survives = answering[0] in epochs[-1].copies
            assert (step.kind == "adopt") == survives, (history, answering)


def test_restarted_holders_take_over_only_what_was_acknowledged_last() -> None:
    """All were restarted and one is missing: whatever may have been evicted meanwhile gives
    nothing, while whoever has everything does."""
    for history in HISTORIES:
        epochs = epochs_of(history)
        for missing in PEERS:
            evidence = [
                Evidence(peer, view, fresh=False)
                for peer in PEERS
                if peer != missing and (view := last_known(epochs, peer)) is not None
            ]
            asked = Asked([one.contact for one in evidence], [], patient=True)
            (step,) = plan(epochs[-1].intervals, evidence, asked, orphaned=True)
            alone = len(epochs[-1].holder_ids) == 2 and missing.id in epochs[-1].holder_ids
            assert (step.kind == "lost") == alone, (history, missing, step)
            if step.kind == "adopt":
                assert step.view == epochs[-1]
                assert {one.id for one in step.sources} == epochs[-1].holder_ids - {missing.id}


def test_a_primary_that_fell_before_it_noted_its_next_epoch_counts_with_the_one_before() -> None:
    """It evicted a copy that had just died, and was down before its own note was durable; what it
    acknowledged it has.  One whose journal lost something, or that is silent, vouches for nothing.
    """
    before = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1],))
    after = replace(before, epoch=6, copies=(PEERS[2],))
    held = [(0, before), (1, before), (2, after)]
    evidence = [Evidence(PEERS[n], view, fresh=False) for n, view in held]
    asked = Asked(PEERS[:3], [], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", after, (PEERS[2],))
    (step,) = plan(((2, 3),), evidence[1:], replace(asked, answered=PEERS[1:3]), orphaned=True)
    assert step.kind == "lost"
    torn = [replace(evidence[0], damaged=True), *evidence[1:]]
    (step,) = plan(((2, 3),), torn, asked, orphaned=True)
    assert step.kind == "lost"


def test_who_has_forgotten_something_says_nothing_by_what_it_does_not_know() -> None:
    """The primary's journal was cut off before its last view: what it acknowledged there was absent
    without a word, as a copy that had been evicted from there counted instead of one that has it.
    """
    before = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    last = View(PEERS[0], 8, 8, ((0, 9),), (PEERS[1], PEERS[3]))
    survivor, evicted = Evidence(PEERS[1], last, True), Evidence(PEERS[2], before, True)
    again = replace(PEERS[0], incarnation=1)
    cut_off = Evidence(again, before, fresh=False, damaged=True)
    asked = Asked([again, *PEERS[1:3]], [3], patient=True)
    evidence = [survivor, evicted, cut_off]
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.view, step.sources) == (before, (PEERS[2],)), "a sound memory counts"
    asked = replace(asked, forgetful=[again.id])
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", last, (PEERS[1],))
    since = [replace(one, view=replace(one.view, primary=again)) for one in evidence]
    (step,) = plan(((2, 3),), since, asked, orphaned=True)
    assert step.sources == (PEERS[2],), "what was since its journal was read, it remembers"
    restarted = [replace(survivor, fresh=False), evicted, cut_off]
    (step,) = plan(((2, 3),), restarted, asked, orphaned=True)
    assert step.kind == "lost", "one restarted copy of three proves nothing"
    both = [restarted[0], replace(restarted[0], contact=PEERS[3]), cut_off]
    asked = replace(asked, answered=[again, *PEERS[1:4]], dead=[])
    (step,) = plan(((2, 3),), both, asked, orphaned=True)
    assert (step.kind, step.sources) == ("adopt", (PEERS[1], PEERS[3]))


def test_a_copy_that_noted_what_its_primary_tried_and_never_began_has_not_moved_on() -> None:
    """Two views were about to be one: the copy knows only that one, the primary only the two."""
    before = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1],))
    tried = View(PEERS[0], 2, 6, ((0, 19),), (PEERS[1],))
    evidence = [Evidence(PEERS[0], before, fresh=False), Evidence(PEERS[1], tried, fresh=False)]
    asked = Asked(PEERS[:2], [], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", before, (PEERS[0],))
    of_another = [evidence[0], replace(evidence[1], view=replace(tried, primary=PEERS[2]))]
    (step,) = plan(((2, 3),), of_another, asked, orphaned=True)
    assert step.kind == "lost", "somebody else took it over, and may have begun"


def test_what_is_left_of_a_view_is_the_same_under_another_number() -> None:
    """Its primary was passed over in part, and went on with the rest under another number, of which
    one copy was told before that was passed over as well; the other was not, and all remember."""
    before = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    left = replace(before, number=6)
    went_on = replace(left, epoch=7)
    evidence = [
        Evidence(PEERS[0], left, fresh=False), Evidence(PEERS[1], went_on, fresh=False),
        Evidence(PEERS[2], before, fresh=False),
    ]  # fmt: skip
    asked = Asked(PEERS[:3], [], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", went_on, (PEERS[1],))
    again = replace(left, primary=replace(PEERS[0], incarnation=1))
    in_another_life = [replace(evidence[0], view=again), *evidence[1:]]
    (step,) = plan(((2, 3),), in_another_life, asked, orphaned=True)
    assert step.kind == "lost", "it may have drawn that epoch twice"
    of_another = [*evidence[:2], replace(evidence[2], view=replace(before, epoch=4))]
    (step,) = plan(((2, 3),), of_another, asked, orphaned=True)
    assert step.kind == "lost", "nobody knows whether that is what is left"


def test_a_copy_that_was_not_told_of_the_last_view_has_not_moved_on_from_it() -> None:
    """Its primary fell while it told its copies: nothing was acknowledged there but what they all
    had before (storm, seed 1).  What was acknowledged beside that view is not there: lost, and
    named, until it is known."""
    heirs_first = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    last = View(PEERS[0], 2, 6, ((0, 9),), (PEERS[2], PEERS[1]))
    told, behind = Evidence(PEERS[1], last, True), Evidence(PEERS[2], heirs_first, True)
    asked = Asked(PEERS[1:4], [0], patient=False)
    (step,) = plan(((2, 3),), [told, behind], asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", last, (PEERS[1],))

    of_another = replace(behind, view=replace(heirs_first, primary=PEERS[4]))
    asked = replace(asked, patient=True)
    (step,) = plan(((2, 3),), [told, of_another], asked, orphaned=True)
    assert step.kind == "lost", "the two may have parted long ago"
    went_over = replace(told, taken_in=(Ended(PEERS[4].id, 5, ((0, 9),)),))
    (step,) = plan(((2, 3),), [went_over, of_another], asked, orphaned=True)
    assert (step.kind, step.sources) == ("adopt", (PEERS[1],))
    of_the_giver = replace(behind, view=replace(heirs_first, primary=PEERS[1]))
    (step,) = plan(((2, 3),), [told, of_the_giver], asked, orphaned=True)
    assert (step.kind, step.sources) == ("adopt", (PEERS[1],))
    restarted = replace(behind, fresh=False)
    (step,) = plan(((2, 3),), [told, restarted], asked, orphaned=True)
    assert step.kind == "lost", "it may have been told of a later one, and have forgotten it"


def test_a_holder_that_is_slow_is_waited_for() -> None:
    view = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    evidence = [Evidence(PEERS[1], view, fresh=True)]
    asked = Asked([PEERS[1]], [0], patient=False)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert step.kind == "wait"
    (step,) = plan(((2, 3),), evidence, replace(asked, dead=[0, 2]), orphaned=True)
    assert step.kind == "adopt"
    (step,) = plan(((2, 3),), evidence, replace(asked, patient=True), orphaned=True)
    assert step.kind == "adopt"


def test_what_a_primary_says_never_began_hides_nothing() -> None:
    """It knows nothing of the piece any more: else it were its memory that spoke against it."""
    view = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    tried = View(PEERS[3], 1, 6, ((0, 9),), (PEERS[4],))
    evidence = [Evidence(peer, view, fresh=False) for peer in PEERS[:3]]
    evidence.append(Evidence(PEERS[4], tried, fresh=False))
    asked = Asked(PEERS[:5], [], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert step.kind == "lost"
    (step,) = plan(((2, 3),), evidence, replace(asked, tried=[(tried.key, 6)]), orphaned=True)
    assert (step.kind, step.view) == ("adopt", view)


def test_who_is_just_taking_it_over_is_waited_for() -> None:
    """The giver fell when it had given, or stood still for it: its other copies know nothing of
    that, and are as it left them."""
    view = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1],))
    evidence = [Evidence(PEERS[1], view, fresh=True)]
    asked = Asked(PEERS[1:4], [0], patient=False, awaited=((0, 5),))
    first, second = plan(((4, 7),), evidence, asked, orphaned=True)
    assert (first.kind, first.piece) == ("wait", ((4, 5),))
    assert (second.kind, second.piece) == ("adopt", ((6, 7),))
    (step,) = plan(((4, 7),), evidence, replace(asked, patient=True), orphaned=True)
    assert step.kind == "adopt"


def test_a_primary_that_is_about_to_begin_is_waited_for() -> None:
    """It answered before its copies did.  Passed over, it would give up what nobody has instead; in
    a later life it has begun nothing."""
    view = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    evidence = [Evidence(peer, view, fresh=True) for peer in PEERS[1:3]]
    asked = Asked(PEERS[:3], [], patient=False)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert step.kind == "wait"
    again = replace(PEERS[0], incarnation=1)
    later = replace(asked, answered=[again, *PEERS[1:3]])
    (step,) = plan(((2, 3),), evidence, later, orphaned=True)
    assert step.kind == "adopt"


def test_what_a_giver_has_of_a_view_that_was_asked_for_it_gave() -> None:
    """Its answer was lost; the copies of the view never heard of it."""
    view = View(PEERS[0], 8, 8, ((0, 9),), (PEERS[1], PEERS[2]))
    evidence = [Evidence(PEERS[1], view, fresh=True)]
    asked = Asked(PEERS[:3], [], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert step.kind == "lost"
    asked = replace(asked, patient=False, unanswered=[view.key])
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", view, (PEERS[1],))


def test_a_view_that_not_all_copies_took_hides_nothing() -> None:
    """Its own primary, which remembers it as something to be filled, asks again."""
    before = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    given_up = View(PEERS[3], 8, 8, ((0, 9),), (PEERS[1], PEERS[4]))
    evidence = [
        Evidence(PEERS[0], before, fresh=False), Evidence(PEERS[2], before, fresh=True),
        Evidence(PEERS[1], given_up, fresh=True),
        Evidence(PEERS[3], given_up, fresh=False, damaged=True),
    ]  # fmt: skip
    asked = Asked(PEERS[:5], [], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert step.kind == "lost"
    evidence = as_before(evidence, {given_up.key: before}, PEERS[3])
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", before, (PEERS[2], PEERS[1]))


def test_who_took_a_view_that_did_not_begin_has_what_it_was_to_take_over() -> None:
    """Else an ancient copy that was never told would be taken for the last (storm, seed 3)."""
    ancient = View(PEERS[0], 1, 4, ((0, 9),), (PEERS[1], PEERS[2]))
    last = View(PEERS[0], 1, 7, ((0, 9),), (PEERS[3], PEERS[4]))
    given_up = View(PEERS[5], 8, 8, ((0, 9),), (PEERS[3], PEERS[4]))
    evidence = [
        Evidence(PEERS[1], ancient, fresh=True), Evidence(PEERS[3], given_up, fresh=True),
        Evidence(PEERS[5], given_up, fresh=False, damaged=True),
    ]  # fmt: skip
    evidence = as_before(evidence, {given_up.key: last}, PEERS[5])
    asked = Asked([PEERS[1], PEERS[3], PEERS[5]], [0, 2, 4], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", last, (PEERS[3],))


def test_a_view_that_its_primary_gave_up_before_it_began_hides_nothing() -> None:
    """One copy had noted it when the primary was refused by the other: both remember the view
    before, of which all have everything."""
    before = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    given_up = View(PEERS[0], 8, 8, ((0, 9),), (PEERS[2], PEERS[1]))
    evidence = [Evidence(peer, before, fresh=False) for peer in PEERS[:3]]
    evidence.append(Evidence(PEERS[1], given_up, fresh=False))
    asked = Asked(PEERS[:3], [], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view) == ("adopt", before)
    began = [*evidence, Evidence(PEERS[0], given_up, fresh=False)]
    (step,) = plan(((2, 3),), began, asked, orphaned=True)
    assert step.view != before


def test_who_was_granted_the_identifier_of_a_dead_holder_is_not_that_holder() -> None:
    """It answers, and knows nothing: that says nothing about the view of the dead, of which one
    copy lives.  The holder itself in a later life would have moved on."""
    view = View(PEERS[0], 1, 5, ((0, 9),), (PEERS[1], PEERS[2]))
    granted, again = replace(PEERS[0], address="new"), replace(PEERS[0], incarnation=1)
    evidence = [Evidence(PEERS[1], view, fresh=True)]
    asked = Asked([granted, PEERS[1]], [2], patient=False)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.sources) == ("adopt", (PEERS[1],))
    asked = Asked([again, PEERS[1]], [2], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert step.kind == "lost"


def test_who_had_an_identifier_before_it_was_granted_anew_says_nothing_of_the_later_one() -> None:
    """It is back, in a later life than that of who had the identifier meanwhile (storm, seed 3)."""
    later = replace(PEERS[0], address="new")
    ancient = View(PEERS[5], 1, 5, ((0, 9),), (PEERS[0], PEERS[1]))
    view = View(later, 7, 9, ((0, 9),), (PEERS[1], PEERS[2]))
    again = replace(PEERS[0], incarnation=1)
    evidence = [Evidence(again, ancient, fresh=False), Evidence(PEERS[1], view, fresh=True)]
    asked = Asked([again, PEERS[1]], [2, 5], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", view, (PEERS[1],))


def test_who_was_given_it_and_fell_before_it_began_has_not_moved_on() -> None:
    """The giver's copies have it, the taker has let go of its copy as it was told that somebody has
    it now, which is itself.  Where that began, as anybody was told, they have an earlier state."""
    before = View(PEERS[0], 1, 5, ((0, 9),), tuple(PEERS[1:4]))
    given = View(PEERS[1], 7, 9, ((0, 9),), (PEERS[0], PEERS[4]))
    again = replace(PEERS[1], incarnation=1)
    with_it = (Ended(PEERS[0].id, 5, ((0, 9),)),)
    evidence = [
        *(Evidence(PEERS[at], before, fresh=False) for at in (0, 2, 3)),
        Evidence(PEERS[0], given, fresh=False, taken_in=with_it),
    ]
    asked = Asked([PEERS[0], again, *PEERS[2:5]], [], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view) == ("adopt", before)
    (step,) = plan(((2, 3),), evidence, replace(asked, begun=(given,)), orphaned=True)
    assert step.kind == "lost"
    without = [replace(one, taken_in=()) for one in evidence]
    (step,) = plan(((2, 3),), without, asked, orphaned=True)
    assert step.kind == "lost", "nobody says that it was given by this very view"


def test_a_copy_of_what_fell_before_it_began_has_not_moved_on() -> None:
    """Not fresh any more, as the heir's past was lost since: it has all that it had before."""
    before = View(PEERS[0], 1, 5, ((0, 9),), tuple(PEERS[1:3]))
    heirs = View(PEERS[3], 7, 9, ((0, 9),), (PEERS[1],))
    again = replace(PEERS[3], incarnation=1)
    evidence = [
        *(Evidence(PEERS[at], before, fresh=False) for at in (0, 2)),
        Evidence(PEERS[1], heirs, fresh=False, taken_in=(Ended(PEERS[0].id, 5, ((0, 9),)),)),
    ]
    asked = Asked([*PEERS[:3], again], [], patient=True)
    (step,) = plan(((2, 3),), evidence, asked, orphaned=True)
    assert (step.kind, step.view) == ("adopt", before)
    without = [replace(one, taken_in=()) for one in evidence]
    (step,) = plan(((2, 3),), without, asked, orphaned=True)
    assert step.kind == "lost", "it had moved on before"
    (step,) = plan(((2, 3),), evidence, replace(asked, begun=(heirs,)), orphaned=True)
    assert step.kind == "lost"


def test_what_one_had_alone_went_another_way_than_what_the_others_have() -> None:
    """Not what they have all of, nor what nobody knows to have come after something they have."""
    whole, last = ((0, 9),), View(PEERS[1], 1, 9, ((0, 9),), (PEERS[2],))
    alone, before = (View(PEERS[0], 1, epoch, whole, ()) for epoch in (7, 5))
    having = Evidence(PEERS[2], last, fresh=False, taken_in=(Ended(PEERS[0].id, 5, whole),))
    others = [Evidence(PEERS[0], before, fresh=False), Evidence(PEERS[3], alone, fresh=False)]
    assert went_another_way(last, [having, *others]) == []
    its_own = Evidence(PEERS[0], alone, fresh=False)
    assert went_another_way(last, [having, *others, its_own]) == [alone]
    assert went_another_way(last, [replace(having, taken_in=()), its_own]) == []
    assert went_another_way(last, [having, replace(its_own, damaged=True)]) == []
