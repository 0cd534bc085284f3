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
    match sets:  # one interval, or nothing: what most sets are, most of the time
        case [((first, last),)] if first <= last:
            return ((first, last),)
        case [()]:
            return ()
        case [only, ()] | [(), only]:
            return merge(only)
        case [tuple() as only] if _is_normal(only):
            return only
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


def _is_normal(intervals: Intervals) -> bool:
    before = -2
    for first, last in intervals:
        if first > last or first <= before + 1:
            return False
        before = last
    return True


def intersect(left: Iterable[Interval], right: Iterable[Interval]) -> Intervals:
    """The indexes that are in both sets."""
    if type(left) is tuple and len(left) == 1 and type(right) is tuple and len(right) == 1:
        # As in `merge`; without `max` and `min`, as calls are what this costs.
        ((first, last),), ((start, end),) = left, right
        if start <= first <= last <= end:
            return left
        if first <= start <= end <= last:
            return right
        first, last = max(start, first), min(end, last)
        return ((first, last),) if first <= last else ()
    if left == () or right == ():
        return ()
    ours, theirs = merge(left), merge(right)
    common: list[Interval] = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        first = max(ours[i][0], theirs[j][0])
        last = min(ours[i][1], theirs[j][1])
        if first <= last:
            common.append((first, last))
        if ours[i][1] < theirs[j][1]:
            i += 1
        else:
            j += 1
    return tuple(common)


def subtract(whole: Iterable[Interval], part: Iterable[Interval]) -> Intervals:
    """The indexes of `whole` that are not in `part`."""
    if part == ():
        return merge(whole)
    if type(whole) is tuple and len(whole) == 1 and type(part) is tuple and len(part) == 1:
        ((first, last),), ((start, end),) = whole, part
        if start <= first <= last <= end:
            return ()
        if first <= last and start <= end:
            return _cut_out(first, last, start, end)
    holes = merge(part)
    if not holes:
        return merge(whole)
    rest: list[Interval] = []
    j = 0
    for start, last in merge(whole):
        first = start
        while j < len(holes) and holes[j][1] < first:
            j += 1
        k = j
        while k < len(holes) and holes[k][0] <= last:
            if first < holes[k][0]:
                rest.append((first, holes[k][0] - 1))
            first = holes[k][1] + 1
            k += 1
        if first <= last:
            rest.append((first, last))
    return tuple(rest)


def _cut_out(first: int, last: int, start: int, end: int) -> Intervals:
    """One interval without another one that does not hold it whole."""
    if last < start or end < first:
        return ((first, last),)
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
