"""What an heir decides: index by index against a dumb twin, and against a history of epochs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, product

from hypothesis import example, given, settings
from hypothesis import strategies as st

from chord import Contact
from meteor.copies.evidence import Evidence, as_before
from meteor.copies.takeover import Asked, Step, plan
from meteor.wire.view import Ended, View
from squid import Interval, Intervals, merge

FEWER = settings(max_examples=settings().max_examples // 3)
SIZE = 10
PEERS = [Contact(n, f"peer-{n}") for n in range(6)]
IDS = [peer.id for peer in PEERS]

spans = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)).map(
    lambda ends: (min(ends), max(ends))
)
parts = st.lists(spans, min_size=1, max_size=3).map(lambda found: merge(tuple(found)))
peers = st.sampled_from(PEERS)
views = st.builds(
    View, peers, st.integers(1, 2), st.integers(1, 3), parts,
    st.lists(peers, max_size=2, unique=True).map(tuple),
)  # fmt: skip
ended = st.builds(
    Ended, st.sampled_from(IDS), st.integers(1, 3), parts, st.sampled_from([0, 0, 1, 2, 3])
)
taken_in = st.lists(ended, max_size=2).map(tuple)
evidences = st.lists(
    st.builds(Evidence, peers, views, st.booleans(), st.booleans(), taken_in), max_size=6
)
later_lives = [replace(peer, incarnation=1) for peer in PEERS]
answering = st.lists(
    st.sampled_from([*PEERS, *later_lives]), unique_by=lambda peer: peer.id, max_size=len(PEERS)
)
heard = st.dictionaries(
    peers, st.lists(st.tuples(st.integers(1, 3), parts), min_size=1, max_size=2), max_size=3
)
askings = st.builds(
    Asked, answering, st.sets(st.sampled_from(IDS)), st.booleans(), st.booleans(),
    forgetful=st.sets(st.sampled_from(IDS)), begun=st.lists(views, max_size=1), heard=heard,
    awaited=st.one_of(st.just(()), parts),
    tried=st.sets(
        st.tuples(st.tuples(st.sampled_from(IDS), st.integers(1, 2)), st.integers(1, 3)), max_size=2
    ),
)  # fmt: skip


def ids(view: View) -> list[int]:
    return sorted(view.holder_ids)


def indexes(part: Iterable[Interval]) -> set[int]:
    return {index for first, last in part for index in range(first, last + 1)}


Decision = tuple[str, tuple[int, int, int] | None, tuple[Contact, ...]]


def decided(index: int, evidence: Sequence[Evidence], asked: Asked, orphaned: bool) -> Decision:
    """One index, in plain words: were it lost, then once more without the views whose primary came
    back and knows nothing, if nobody was told that one, or a later one, began; and once more
    without those that others took in, which they have to show."""
    known = [one for one in evidence if index in indexes(one.view.intervals)]
    decision = decided_of(index, known, asked, orphaned)
    left = [one for one in known if not died_before(one.view, index, known, asked)]
    if decision[0] == "lost" and 0 < len(left) < len(known):
        decision = decided_of(index, left, asked, orphaned)
    ended = [one for one in known if taken_in_by_others(one, known, index)]
    left = [one for one in begun_of(known, asked) if one not in ended]
    if decision[0] == "lost" and 0 < len(left) < len(known):
        asked = replace(asked, begun=[*asked.begun, *(one.view for one in ended)])
        decision = decided_of(index, left, asked, orphaned)
    return decision


def taken_in_by_others(one: Evidence, known: Sequence[Evidence], index: int) -> bool:
    """Whether somebody has all of a view with an earlier one, which that one has not with it."""
    others = [other for other in known if other.view.key != one.view.key and not other.damaged
              and other.view.epoch < one.view.epoch]  # fmt: skip
    return any(
        shows(other, one.view, index) and not shows(one, other.view, index) for other in others
    )


def died_before(view: View, index: int, known: Sequence[Evidence], asked: Asked) -> bool:
    """Whether its primary came back and knows nothing, and nobody was told that it, or a later one,
    began."""
    back = {one.id for one in asked.answered if one.incarnation} - forgetful(asked)
    back -= {one.contact.id for one in known}
    told = (v for v in asked.begun if v.epoch >= view.epoch and index in indexes(v.intervals))
    return view.primary.id in back and not any(told)


def decided_of(
    index: int, known: Sequence[Evidence], asked: Asked, orphaned: bool
) -> Decision:
    """The same of what is known of it, as it is."""
    if index in indexes(asked.awaited) and not asked.patient:
        return ("wait", None, ())
    answered = {one.id for one in asked.answered}
    if not known:
        return ("lost" if orphaned or asked.patient else "wait", None, ())
    said, begun = said_by(known, asked), begun_of(known, asked)
    if not begun:
        return ("lost" if asked.patient else "wait", None, ())
    newest = max((one.view for one in begun), key=lambda view: (view.epoch, view.key, ids(view)))
    at = [one for one in known if (one.view.key, one.view.epoch) == (newest.key, newest.epoch)]
    having = [one for one in at if not one.damaged]
    unheard = {one for one in newest.holder_ids if one not in answered}
    if not asked.patient and unheard - set(asked.dead):
        return ("wait", None, ())
    if (
        not asked.patient
        and newest.primary in asked.answered
        and newest.key not in said.get(newest.primary.id, set())
    ):
        return ("wait", None, ())
    survivors = [one.contact for one in having if one.fresh]
    if not survivors and not asked.everybody and not asked.patient:
        return ("wait", None, ())
    names = {newest.key}
    for _, one, other in product(known, known, known):  # often enough to reach all of them
        if one.view.key in names and same_epoch(one.view, other.view):
            names.add(other.view.key)
    heard_of = {one.contact.id for one in known if one.view.key in names}
    tried = [one for one in known
             if one.view.primary == newest.primary and one.view.epoch > newest.epoch]  # fmt: skip
    of_view = [one for one in known if one.view.key in names]
    known_by_primary = [one for one in of_view if one.contact == newest.primary]
    moved_on = newest.holder_ids - unheard - forgetful(asked)
    moved_on -= heard_of | {one.contact.id for one in tried}
    for one in known:
        here = [ended for ended in one.taken_in if index in indexes(ended.intervals)]
        last = max(here, key=lambda ended: ended.epoch, default=None)
        of = None if last is None else (last.primary, last.epoch)
        if one.fresh and one not in begun and of == (newest.primary.id, newest.epoch):
            moved_on -= {one.contact.id}
    earlier = [one for one in known if one.fresh and one.view.epoch < newest.epoch]
    for holder in newest.holders:
        epochs = [epoch for epoch, of in asked.heard.get(holder, ()) if index in indexes(of)]
        if holder in asked.heard and all(epoch < newest.epoch for epoch in epochs):
            moved_on -= {holder.id}

    def is_last(those: Sequence[Evidence]) -> bool:
        fresh = [one for one in those if one.fresh]
        behind = {
            one.contact.id for one in earlier
            if fresh and all(has_all_of(other, one.view, index) for other in fresh)
        }  # fmt: skip
        gone = moved_on - behind
        have = {one.contact.id for one in those} & newest.holder_ids
        if any(not one.damaged for one in known_by_primary):
            have |= {one.contact.id for one in (*of_view, *tried) if not one.damaged}
            have &= newest.holder_ids
        most = len(have) > len(newest.holder_ids) / 2
        silent = len(newest.holder_ids) - len(have) - len(gone)
        if fresh:
            return most or not gone
        return most and not gone and silent <= 1

    later = [v for v in asked.begun if v.epoch > newest.epoch and index in indexes(v.intervals)]
    giving = [one.contact for one in having if (one.fresh or not survivors)
              and all(shows(one, view, index) for view in later)]  # fmt: skip
    name = (*newest.key, newest.epoch)
    if giving and is_last(having):
        return ("adopt", name, tuple(giving))
    if not asked.patient:
        return ("wait", None, ())
    if at and not having and not later and is_last(at):
        return ("lost", name, tuple(one.contact for one in at))
    return ("lost", None, ())


def said_by(known: Sequence[Evidence], asked: Asked) -> dict[int, set[tuple[int, int]]]:
    """Which views everybody who answered has any memory of."""
    answered = {one.id for one in asked.answered}
    return {one.contact.id: {other.view.key for other in known if other.contact == one.contact}
            for one in known if one.contact.id in answered}  # fmt: skip


def begun_of(known: Sequence[Evidence], asked: Asked) -> list[Evidence]:
    """What may have begun as far as its primary says."""
    said = said_by(known, asked)
    telling = {peer: keys for peer, keys in said.items() if peer not in forgetful(asked)}
    return [one for one in known
            if one.view.key in telling.get(one.view.primary.id, {one.view.key})
            and (one.view.key, one.view.epoch) not in asked.tried]  # fmt: skip


def same_epoch(one: View, other: View) -> bool:
    """Whether they are one view, be it under another number."""
    return (one.primary, one.epoch) == (other.primary, other.epoch)


def forgetful(asked: Asked) -> set[int]:
    """Who was restarted since, with a journal that has lost something."""
    return {one.id for one in asked.answered if one.incarnation} & set(asked.forgetful)


def has_all_of(one: Evidence, view: View, index: int) -> bool:
    """Whether a survivor has what was acknowledged under another view."""
    primary = view.primary.id
    return primary in (one.contact.id, one.view.primary.id) or shows(one, view, index)


def shows(one: Evidence, view: View, index: int) -> bool:
    """The same by what it noted alone."""
    said = [of for of in one.taken_in if index in indexes(of.intervals)]
    return view.primary.id in [of.primary for of in said if of.since <= view.epoch <= of.epoch]


def of_step(step: Step) -> Decision:
    view = step.view
    return step.kind, None if view is None else (*view.key, view.epoch), step.sources


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
    which their own primary, who answered and remembers something of the index, knows nothing, and
    those of which it said that it tried them alone."""
    known = [one for one in evidence if index in indexes(one.view.intervals)]
    known = [one for one in known if (one.view.key, one.view.epoch) not in asked.tried]
    answered = {one.id for one in asked.answered} - forgetful(asked)
    remembered = {(one.contact.id, one.view.key) for one in known if one.contact.id in answered}
    telling = {peer for peer, _ in remembered}
    return [
        one.view for one in known
        if (one.view.primary.id, one.view.key) in remembered or one.view.primary.id not in telling
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
                later = [view for view in begun if view.epoch > step.view.epoch]
                sources = [one for one in known
                           if one.view == step.view and one.contact in step.sources]  # fmt: skip
                assert all(
                    died_before(view, index, known, asked)
                    or all(shows(one, view, index) for one in sources)
                    for view in later
                )
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
    (step,) = plan(
        ((2, 3),), evidence, replace(asked, tried=[(tried.key, 6)]), orphaned=True
    )
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
