"""An operation at its origin: what has been reported on it, and what it comes to.

Law of this file: pure.  The ledger decides what counts; a report that only repeats what counted
already adds nothing, so that side effects told of twice are counted once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

from chord import Contact, dataclass, replace
from squid.hilbert import HilbertCurve
from squid.intervals import Intervals, intersect, merge, subtract
from squid.ledger import Ledger
from squid.messages import Report, ResultFrame
from squid.region import Box, Interval

Wanted = Callable[[], Awaitable[bool]]
"""Whether somebody still waits for what an operation comes to; asked before it is tried again."""


PARTS_MAX: Final = 4096
"""Parts of one attempt or another that one peer may speak of: far more than it is ever given."""
PAGES_MAX: Final = 65_536
"""Pages that one peer may send in all: some gigabytes, which nobody waits for."""

_Part = tuple[int, int, int]
"""What a report is about: its sender, in which of its lives, and by which count of its own."""


def _part(sender: Contact, word: Report | ResultFrame) -> _Part:
    # Who is started anew counts from the first part again: a page of before is none of these.
    return sender.id, sender.incarnation, word.part


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an operation came to at its origin."""

    complete: bool
    missing: tuple[Interval, ...]
    summaries: tuple[tuple[Contact, bytes], ...]
    """One a counted report."""
    peers: int
    """Peers that processed a part."""
    hops: int
    """The longest chain of hand-ons."""
    messages: int = 0
    """Shares handed on, as reported."""
    is_outlived: bool = False
    """Whether something is missing because the question is older than what a peer can speak of:
    one that begins now misses nothing of it."""

    @classmethod
    def alone(cls, contact: Contact, summary: bytes) -> Outcome:
        """Of what the origin answered itself, all of it."""
        return cls(complete=True, missing=(), summaries=((contact, summary),), peers=1, hops=0)


class OriginatedOperation:
    """The origin's side of one operation in flight."""

    def __init__(
        self,
        curve: HilbertCurve,
        box: Box,
        job: tuple[Interval, ...],
        on_frame: Callable[[Contact, bytes], None] | None,
        began_s: float = 0.0,
        is_wanted: Wanted | None = None,
    ) -> None:
        self.is_wanted = is_wanted
        self._began_s = began_s
        self._outlived: Intervals = ()
        self._curve, self._box, self._on_frame = curve, box, on_frame
        self._ledger = Ledger(curve, box, job)
        self._waiting: dict[tuple[_Part, int], Report] = {}
        """Reports that do not count yet, by part and attempt."""
        self._parts: dict[int, set[tuple[_Part, int]]] = {}
        """Of which parts and attempts each peer has spoken."""
        self._pages: Counter[int] = Counter()
        """How many pages each peer has sent."""
        self._summaries: list[tuple[Contact, bytes]] = []
        self._too_late: list[tuple[Intervals, tuple[Contact, bytes]]] = []
        """Summaries of these by peers that could not speak of all that was asked."""
        self._peers: set[int] = set()
        self._hops = self._messages = 0
        self._attempt = 0

    def begin(self, attempt: int) -> None:
        """What is still open is issued again."""
        self._attempt = attempt

    @property
    def settled(self) -> bool:
        """Whether nothing more is to be waited for."""
        return self._ledger.settled

    def gaps(self) -> tuple[Interval, ...]:
        """What nobody has answered for: to be issued again."""
        return self._ledger.gaps()

    def take_frame(self, sender: Contact, frame: ResultFrame) -> None:
        """A page of results is in."""
        if not self._is_believed(sender, frame) or self._pages[sender.id] == PAGES_MAX:
            return
        self._pages[sender.id] += 1
        if self._on_frame is not None:
            self._on_frame(sender, frame.body)
        key = _part(sender, frame)
        before = self._ledger.reported
        fresh = self._ledger.frame(key, frame.attempt, frame.number)
        report = self._waiting.get((key, frame.attempt))
        if report is not None and (fresh or self._ledger.reported != before):
            self._count(sender, report)

    def take_report(self, sender: Contact, report: Report, now: float = 0.0) -> None:
        """A peer has done a part; it counts once all its frames are in, and says something new.
        What was missing for an earlier attempt is being asked for again: it may be there now.  An
        answer that does not reach back to where the question began is none: how long it was on its
        way counts, as nobody knows how old the question was there."""
        if not self._is_believed(sender, report):
            return
        is_outlived = report.speaks_for_s is not None and report.speaks_for_s < now - self._began_s
        if is_outlived:
            self._outlived = merge(self._outlived, report.covered)
            missing = merge(report.missing, report.covered)
            report = replace(report, covered=(), missing=missing)
        if report.missing and report.attempt < self._attempt:
            report = replace(report, missing=())
        key = _part(sender, report)
        self._messages += report.handed
        self._waiting[key, report.attempt] = report
        before = self._ledger.reported
        fresh = self._ledger.report(
            key, report.attempt, report.covered, report.missing, report.frames
        )
        if fresh or self._ledger.reported != before:
            self._count(sender, report)
            if is_outlived:
                self._too_late.append((merge(report.missing), self._summaries[-1]))

    def _is_believed(self, sender: Contact, word: Report | ResultFrame) -> bool:
        """Whether account is kept of a part: nobody can invent more of them than it may have."""
        parts, part = self._parts.setdefault(sender.id, set()), (_part(sender, word), word.attempt)
        if len(parts) < PARTS_MAX:
            parts.add(part)
        return part in parts

    def outcome(self) -> Outcome:
        """What it has come to so far."""
        return Outcome(
            is_outlived=bool(intersect(self._outlived, self._ledger.missing)),
            complete=self._ledger.complete,
            missing=tuple(self._up_to_last_match(gap) for gap in self._ledger.missing),
            summaries=tuple(self._summaries),
            peers=len(self._peers),
            hops=self._hops,
            messages=self._messages,
        )

    def _count(self, sender: Contact, report: Report) -> None:
        del self._waiting[_part(sender, report), report.attempt]
        if self._too_late:
            self._drop_what_is_in(merge(report.covered))
        self._summaries.append((sender, report.body))
        self._peers.add(sender.id)
        self._hops = max(self._hops, report.hops)

    def _drop_what_is_in(self, covered: Intervals) -> None:
        """Whoever took a part in while a delete was out says again what the one before took there:
        that one's word counts for all of it, once it is here."""
        for late in [one for one in self._too_late if not subtract(one[0], covered)]:
            self._too_late.remove(late)
            self._summaries.remove(late[1])

    def _up_to_last_match(self, interval: Interval) -> Interval:
        """An open interval cut behind its last match: what lies beyond is nobody's fault."""
        first, last = interval
        low, high = first, last
        while low < high:
            middle = (low + high + 1) // 2
            if self._curve.has_match(self._box, middle, last):
                low = middle
            else:
                high = middle - 1
        return first, low
