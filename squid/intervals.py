"""Sets of curve indexes as intervals.

Law of this file: what goes in may be in any order and overlap; what comes out is normal: sorted,
disjoint, with a gap between neighbours.  Pure, and linear in the number of intervals once sorted.
"""

from __future__ import annotations

from collections.abc import Iterable

from squid.region import Interval

__all__ = ["Interval", "Intervals", "count", "covers", "intersect", "merge", "of_arc", "subtract"]

Intervals = tuple[Interval, ...]
"""A set of curve indexes in normal form."""


def merge(*sets: Iterable[Interval]) -> Intervals:
    """The union, in normal form; an interval whose first index is after its last is empty."""
    if len(sets) == 2:  # with nothing beside it, a set is what it is
        if sets[0] == ():
            sets = sets[1:]
        elif sets[1] == ():
            sets = sets[:1]
    if len(sets) == 1 and type(sets[0]) is tuple and _is_normal(sets[0]):
        return sets[0]
    every: list[Interval] = []
    for some in sets:
        every += some
    every.sort()
    merged: list[Interval] = []
    for first, last in every:
        if first > last:
            continue
        if merged and first <= merged[-1][1] + 1:
            if last > merged[-1][1]:
                merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def _normal(intervals: Iterable[Interval]) -> Intervals:
    if type(intervals) is tuple and _is_normal(intervals):
        return intervals
    return merge(intervals)


def _is_normal(intervals: Intervals) -> bool:
    before = -2
    for first, last in intervals:
        if first > last or first <= before + 1:
            return False
        before = last
    return True


def intersect(left: Iterable[Interval], right: Iterable[Interval]) -> Intervals:
    """The indexes that are in both sets."""
    if left == () or right == ():
        return ()
    if type(left) is tuple and len(left) == 1 and type(right) is tuple and len(right) == 1:
        # What most sets are, most of the time; without `max` and `min`, as calls are what it costs.
        ((first, last),), ((start, end),) = left, right
        if start <= first <= last <= end:
            return left
        if first <= start <= end <= last:
            return right
        if first <= start <= last < end:
            return ((start, last),)
        return ((first, end),) if start <= first <= end < last else ()
    ours, theirs = _normal(left), _normal(right)
    common: list[Interval] = []
    i, j, our_count, their_count = 0, 0, len(ours), len(theirs)
    while i < our_count and j < their_count:
        (first, last), (start, end) = ours[i], theirs[j]
        if first < start:  # noqa: PLR1730 - as above
            first = start
        if last < end:
            i += 1
        else:
            last = end
            j += 1
        if first <= last:
            common.append((first, last))
    return tuple(common)


def subtract(whole: Iterable[Interval], part: Iterable[Interval]) -> Intervals:
    """The indexes of `whole` that are not in `part`."""
    if part == () or whole == ():
        return _normal(whole)
    if type(whole) is tuple and len(whole) == 1 and type(part) is tuple and len(part) == 1:
        ((first, last),), ((start, end),) = whole, part
        if start <= first <= last <= end:
            return ()
        if first <= last and start <= end:
            return whole if last < start or end < first else _cut_out(first, last, start, end)
    holes = _normal(part)
    rest: list[Interval] = []
    j, count = 0, len(holes)
    for first, last in _normal(whole):
        while j < count:
            start, end = holes[j]
            if last < start:
                break
            if first <= end:
                if first < start:
                    rest.append((first, start - 1))
                first = end + 1  # noqa: PLW2901 - what is left of this one
                if last < end:
                    break  # it may reach into the next one
            j += 1
        if first <= last:
            rest.append((first, last))
    return tuple(rest)


def _cut_out(first: int, last: int, start: int, end: int) -> Intervals:
    """One interval without another one that reaches into it and does not hold it whole."""
    if start <= first:
        return ((end + 1, last),)
    if last <= end:
        return ((first, start - 1),)
    return ((first, start - 1), (end + 1, last))


def covers(intervals: Iterable[Interval], index: int) -> bool:
    """Whether an index is in the set."""
    for first, last in intervals:  # noqa: SIM110 - a generator takes three times as long
        if first <= index <= last:
            return True
    return False


def count(intervals: Iterable[Interval]) -> int:
    """How many indexes are in the set."""
    return sum(last - first + 1 for first, last in merge(intervals))


def of_arc(after: int, last: int, index_bits: int, id_bits: int) -> Intervals:
    """The curve indexes that a ring arc `(after, last]` owns, two intervals when it runs over 0.

    Index i sits at ring id `i << (id_bits - index_bits)`; `after == last` is the whole ring."""
    shift = id_bits - index_bits
    first, end = (after >> shift) + 1, last >> shift
    if after < last:
        return ((first, end),) if first <= end else ()
    return merge([(0, end), (first, (1 << index_bits) - 1)])
