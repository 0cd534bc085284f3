"""What an heir is to decide, index by index: a dumb twin of `takeover.plan`, and its draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

from hypothesis import settings
from hypothesis import strategies as st

from chord import Contact
from meteor.copies.evidence import Evidence
from meteor.copies.takeover import Asked, Step
from meteor.wire.view import Ended, View
from squid import Interval, merge

FEWER = settings(max_examples=settings().max_examples // 3)
SIZE = 10
PEERS = [Contact(n, f"peer-{n}") for n in range(6)]
IDS = [peer.id for peer in PEERS]

spans = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)).map(
    lambda ends: (min(ends), max(ends))
)
parts = st.lists(spans, min_size=1, max_size=3).map(lambda found: merge(tuple(found)))
peers = st.sampled_from(PEERS)
any_views = st.builds(
    View, peers, st.integers(1, 2), st.integers(1, 3), parts,
    st.lists(peers, max_size=2, unique=True).map(tuple),
)  # fmt: skip
views = any_views.map(
    lambda one: replace(one, copies=tuple(copy for copy in one.copies if copy != one.primary))
)
"""Nobody is a copy of itself."""
ended = st.builds(
    Ended, st.sampled_from(IDS), st.integers(1, 3), parts, st.sampled_from([0, 0, 1, 2, 3])
)
taken_in = st.lists(ended, max_size=2).map(tuple)
evidences = st.lists(
    st.builds(Evidence, peers, views, st.booleans(), st.booleans(), taken_in, st.booleans()),
    max_size=6,
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
    left = [one for one in begun_of(known, asked, index) if one not in ended]
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


def decided_of(index: int, known: Sequence[Evidence], asked: Asked, orphaned: bool) -> Decision:
    """The same of what is known of it, as it is."""
    if index in indexes(asked.awaited) and not asked.patient:
        return ("wait", None, ())
    answered = {one.id for one in asked.answered}
    if not known:
        return ("lost" if orphaned or asked.patient else "wait", None, ())
    said, begun = said_by(known, asked), begun_of(known, asked, index)
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
        have |= {one.contact.id for one in at if one.remembers}
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


def was_not_taken(view: View, known: Sequence[Evidence], asked: Asked, index: int) -> bool:
    """Whether a copy that it names has an earlier epoch of it alone, and nothing to show for this
    one: none begins before all of its copies have it."""
    for copy in view.copies:
        theirs = [one for one in known if one.contact == copy and one.view.key == view.key]
        if theirs and copy.id not in asked.forgetful and all(
            one.view.epoch < view.epoch and not one.damaged and not shows(one, view, index)
            for one in theirs
        ):  # fmt: skip
            return True
    return False


def begun_of(known: Sequence[Evidence], asked: Asked, index: int) -> list[Evidence]:
    """What may have begun as far as its primary and its copies say."""
    said = said_by(known, asked)
    told = {(one.key, one.epoch) for one in asked.begun}
    telling = {peer: keys for peer, keys in said.items() if peer not in forgetful(asked)}
    return [one for one in known
            if (one.view.key, one.view.epoch) in told
            or (one.view.key in telling.get(one.view.primary.id, {one.view.key})
                and (one.view.key, one.view.epoch) not in asked.tried
                and not was_not_taken(one.view, known, asked, index))]  # fmt: skip


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
