"""Repeats: the same signed request once more, at the peer that carried it out.

Law of this file: pure, takes `now`.  Whoever reads along may send what another has signed again,
by way of another peer, for as long as its issue time is taken.  It changes nothing a second time,
and gets the first receipt; what is signed anew, a moment later, is another request.  Remembered for
longer than an issue time is taken, by this peer alone, and bounded; `recall.py` has since when.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from meteor.keeping.holdings import Intervals
from meteor.wire.operations import Operation, Summary
from squid import Box, HilbertCurve, covers, merge, subtract

REMEMBERED_S: Final = 660.0
"""Both sides of the window of issue times (`verifying.WINDOW_S`), and a minute."""
REMEMBERED_MAX: Final = 32_768
"""Requests that are remembered, some 400 bytes each; the oldest are forgotten first."""

_Name = tuple[str, str, str, int]


@dataclass(slots=True)
class _Done:
    """What one request did here."""

    operation_id: bytes
    issued_ms: int
    at_s: float
    part: Intervals = ()
    summaries: tuple[tuple[Intervals, Summary], ...] = ()
    """By the part that each speaks for."""


class Repeats:
    """The signed requests that one peer has carried out lately."""

    def __init__(self, forgot: Callable[[float], None] = lambda _: None) -> None:
        self._done: OrderedDict[_Name, _Done] = OrderedDict()
        self._forgot = forgot
        """Told how many seconds ago something was done that is forgotten too early."""

    def __len__(self) -> int:
        return len(self._done)

    def first_summary(
        self,
        operation: Operation,
        operation_id: bytes,
        part: Intervals,
        lowest_in: Callable[[Intervals], int | None],
    ) -> Summary | None:
        """What was said of it the first time, when this is a repeat; None for whatever is to be
        carried out.  The router's own second try of one operation is no repeat.

        `lowest_in` a part says where the operation has something to do there, None for nowhere: by
        way of another peer it comes in other pieces, and is the same where its region is.  What was
        counted in one piece counts where the region begins in it.
        """
        done = self._done.get(_name(operation))
        if not operation.issued_ms or done is None or done.operation_id == operation_id:
            return None
        if operation.issued_ms > done.issued_ms:
            return None
        others = subtract(part, done.part)
        if others and lowest_in(others) is not None:
            return None
        begins = [(lowest_in(where), one.matches) for where, one in done.summaries]
        matches = sum(count for at, count in begins if at is not None and covers(part, at))
        last = done.summaries[-1][1]
        return replace(last, matches=matches, repeated=True)

    def note(
        self,
        operation: Operation,
        operation_id: bytes,
        part: Intervals,
        summary: Summary,
        now: float,
    ) -> None:
        """It was carried out in this part."""
        if not operation.issued_ms or summary.refused:
            return
        name = _name(operation)
        done = self._done.get(name)
        if done is None or done.operation_id != operation_id:
            done = _Done(operation_id, operation.issued_ms, now)
        kept = tuple(one for one in done.summaries if subtract(one[0], part))
        done.part = merge(done.part, part)
        done.summaries = (*kept, (part, summary))
        done.at_s = now
        self._done[name] = done
        self._done.move_to_end(name)
        self._forget(now)

    def _forget(self, now: float) -> None:
        while self._done:
            oldest = next(iter(self._done.values()))
            ago_s = now - oldest.at_s
            if len(self._done) <= REMEMBERED_MAX and ago_s <= REMEMBERED_S:
                return
            self._done.popitem(last=False)
            if ago_s <= REMEMBERED_S:
                self._forgot(ago_s)


def begins_in(curve: HilbertCurve, box: Box, part: Intervals) -> int | None:
    """Where a box begins in a part; None where it is not in it."""
    found = (curve.next_match(box, first) for first, _ in part)
    return next((at for at in found if at is not None and covers(part, at)), None)


class Ran:
    """The signed requests for an application's action that one peer has run lately: what a run did
    is the application's, so that a repeat of one is not run, instead of being answered alike."""

    def __init__(self, forgot: Callable[[float], None] = lambda _: None) -> None:
        self._ran: OrderedDict[tuple[str, str, int], float] = OrderedDict()
        self._forgot = forgot

    def __len__(self) -> int:
        return len(self._ran)

    def begin(self, owner: str, stem: str, version: int, now: float) -> bool:
        """Whether this is to run; not where it did.  What nobody signed is no repeat of anything:
        its poster may say the same again."""
        if not owner:
            return True
        while self._ran:
            ago_s = now - next(iter(self._ran.values()))
            if len(self._ran) < REMEMBERED_MAX and ago_s <= REMEMBERED_S:
                break
            self._ran.popitem(last=False)
            if ago_s <= REMEMBERED_S:
                self._forgot(ago_s)
        name = (owner, stem, version)
        if name in self._ran:
            return False
        self._ran[name] = now
        return True


def _name(operation: Operation) -> _Name:
    return operation.verb, operation.owner, operation.id, operation.version
