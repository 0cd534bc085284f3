"""The origin's ledger: which indexes of a query have been answered for, by reports that may come
late, twice, in any order, or not at all.

Law of this file: pure, no clock and no messages.  A report counts once all its result frames are
in.  The answer is complete exactly when no index that is not covered has its cell in the box
(DESIGN section 3; Squid leaves completeness to the reader).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from squid.hilbert import HilbertCurve
from squid.intervals import Intervals, intersect, merge, subtract
from squid.region import Box, Interval


@dataclass(slots=True)
class _Account:
    """What is known of one peer's one attempt."""

    frames_seen: set[int] = field(default_factory=set)
    frames: int | None = None
    """How many frames the report names; None until it comes."""
    covered: Intervals = ()
    missing: Intervals = ()
    closed: bool = False


class Ledger:
    """The account of one operation: `job` is what has to be covered, `box` what it asks for.

    Only indexes with a match matter: what has none is never open, and never missing."""

    __slots__ = ("_accounts", "_box", "_covered", "_curve", "_open", "_repeated", "_reported")

    def __init__(self, curve: HilbertCurve, box: Box, job: Iterable[Interval]) -> None:
        self._curve, self._box = curve, box
        self._accounts: dict[tuple[Hashable, int], _Account] = {}
        self._open: list[Interval] = []
        for first, last in merge(job):
            self._open.extend(self._with_match(first, last))
        self._covered: list[Interval] = []
        self._repeated: Intervals = ()
        self._reported: Intervals = ()

    def report(
        self,
        peer_key: Hashable,
        attempt: int,
        covered: Iterable[Interval],
        missing: Iterable[Interval],
        frames: int,
    ) -> Intervals:
        """A peer says what it answered for, what it could not, and in how many frames.

        `peer_key` and `attempt` name one report: a peer that works on two shares of an attempt
        needs a key for each.  The same report again changes nothing.  Returns the indexes that
        count from now on: empty while frames are out, and without what counted already."""
        account = self._account(peer_key, attempt)
        if account.frames is None:
            account.frames = frames
            account.covered, account.missing = merge(covered), merge(missing)
        return self._close(account)

    def frame(self, peer_key: Hashable, attempt: int, number: int) -> Intervals:
        """A result frame is in; the frames of a report are numbered from 0.  It may come before
        the report.  Returns the indexes that count from now on, as `report` does."""
        account = self._account(peer_key, attempt)
        if account.closed:
            return ()
        account.frames_seen.add(number)
        return self._close(account)

    @property
    def complete(self) -> bool:
        """Whether every index with a match is covered."""
        return not self._open

    @property
    def settled(self) -> bool:
        """Whether nothing more is to be waited for: all is covered or reported missing."""
        return not self._open or not self.gaps()

    def gaps(self) -> Intervals:
        """What nobody has answered for, neither as covered nor as missing: to be issued again.
        Each interval begins with an index that has a match."""
        if not self._reported:
            return tuple(self._open)
        silent = subtract(self._open, self._reported)
        return tuple(gap for first, last in silent for gap in self._with_match(first, last))

    @property
    def missing(self) -> Intervals:
        """What is not covered, whether reported missing or not answered for at all.  Each interval
        begins with an index that has a match."""
        return tuple(self._open)

    @property
    def covered(self) -> Intervals:
        """What has been answered for."""
        return tuple(self._covered)

    @property
    def reported(self) -> Intervals:
        """What has been reported missing by reports whose frames are all in."""
        return self._reported

    @property
    def counts_twice(self) -> Intervals:
        """What more than one report covered; it counted once."""
        return self._repeated

    def _account(self, peer_key: Hashable, attempt: int) -> _Account:
        return self._accounts.setdefault((peer_key, attempt), _Account())

    def _close(self, account: _Account) -> Intervals:
        """Let a report count if all its frames are in."""
        if account.closed or account.frames is None:
            return ()
        seen = account.frames_seen
        if len(seen) < account.frames or not seen.issuperset(range(account.frames)):
            return ()
        account.closed = True
        seen.clear()
        fresh = self._cover(account.covered)
        self._reported = merge(self._reported, account.missing)
        return fresh

    def _cover(self, covered: Intervals) -> Intervals:
        """Enter what is covered; returns the part of it that was not."""
        if not self._covered and list(covered) == self._open:  # all of it, at once: most often
            self._covered, self._open = self._open, []
            return covered
        fresh: list[Interval] = []
        for first, last in covered:
            start, end = self._touched(first, last)
            before = self._covered[start:end]
            fresh.extend(subtract(((first, last),), before))
            self._repeated = merge(self._repeated, intersect(((first, last),), before))
            self._covered[start:end] = merge(before, ((first, last),))
        for first, last in fresh:
            self._narrow(first, last)
        return merge(fresh)

    def _touched(self, first: int, last: int) -> tuple[int, int]:
        """Which of the covered intervals overlap or touch `first` to `last`."""
        start = bisect_left(self._covered, first - 1, key=_last)
        end = bisect_left(self._covered, last + 2, key=_first)
        return start, end

    def _narrow(self, first: int, last: int) -> None:
        """Take `first` to `last` from what is open."""
        start = bisect_left(self._open, first, key=_last)
        end = bisect_left(self._open, last + 1, key=_first)
        left: list[Interval] = []
        for gap in subtract(self._open[start:end], ((first, last),)):
            left.extend(self._with_match(*gap))
        self._open[start:end] = left

    def _with_match(self, first: int, last: int) -> list[Interval]:
        """The interval from its first match on; nothing when it has none."""
        match = self._curve.next_match(self._box, first)
        return [] if match is None or match > last else [(match, last)]


def _first(interval: Interval) -> int:
    return interval[0]


def _last(interval: Interval) -> int:
    return interval[1]
