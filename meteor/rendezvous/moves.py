"""What was replaced lately and lives elsewhere now.

Law of this file: pure.  A query that passed the new region before a record came there, and the old
one after it left, would find it nowhere although it lived all the time.  So its old place says
where it went, for as long as such a query may be under way, and the query's origin asks there
again: found by the new content, not by the old, never by neither (SPEC section 4).  What it cannot
tell any more, or never knew, it admits: it says since when it knows all.  Wherever it went is told,
as who asks a part once more, where something went, is to hear that it went on from there to another
part of what was asked for at first.  Told is only who may see it: others would ask again for
nothing, and count twice what else lies there.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from chord import replace
from meteor.errors import ProfileError
from meteor.keeping.holdings import Intervals
from meteor.rendezvous.box_rows import BoxRows
from meteor.rendezvous.known_since import AT_ONCE_S, KnownSince
from meteor.wire.operations import Carried
from meteor.wire.record_id import split_id
from meteor.wire.went import Went
from squid import Box, HilbertCurve, Outcome

KEPT_S: Final = 10.0
"""How long a move is spoken of: as long as a query with the usual time-out may be under way."""
KEPT_MAX: Final = 4096
"""So many moves are known at most; the oldest are forgotten first."""
MISSING_RUNS: Final = 16
"""In so many intervals a region is named where something may be that was not met."""
TOLD_MAX: Final = 256
"""So many are told to one query by one peer, the last to move, and since when these are all: of
fewer than a query takes, which is some milliseconds.  To tell all in several messages was not
taken: who has to hear of thousands has to ask again for everything."""


def region_of(full_ids: Sequence[str], box: Box, curve: HilbertCurve) -> Box | None:
    """The part of a query's box in which all these ids may live; None when there is none.

    Ids that cannot be read are passed over: other peers have named them."""
    parts = []
    for full_id in full_ids:
        with suppress(ProfileError):
            part = split_id(full_id, curve)[1].intersection(box)
            parts += [] if part is None else [part]
    if not parts:
        return None
    low = tuple(map(min, *(part.low for part in parts), parts[0].low))
    high = tuple(map(max, *(part.high for part in parts), parts[0].high))
    return Box(low, high)


def runs_of(full_ids: Iterable[str], box: Box, curve: HilbertCurve) -> Intervals:
    """The same as intervals of the curve: where something may be that moved on each time."""
    region = region_of(sorted(full_ids), box, curve)
    return () if region is None else tuple(curve.clusters(region, MISSING_RUNS))


def with_missing(outcome: Outcome, missing: Intervals) -> Outcome:
    """An outcome without these intervals."""
    complete = outcome.complete and not missing
    return replace(outcome, complete=complete, missing=outcome.missing + missing)


class _Move(NamedTuple):
    """One record that left its place."""

    at_s: float
    new_id: str
    carried: Carried
    is_data: bool | None
    row: int


class Told(NamedTuple):
    """What one query is told."""

    went: list[Went]
    since_s: float
    """All that left since then are these, if its sender may see them."""


class Moves:
    """The moves away from one peer."""

    def __init__(self, curve: HilbertCurve, started_s: float = 0.0) -> None:
        self._curve = curve
        self.known = KnownSince(started_s)
        """From when on these are all."""
        self._moves: OrderedDict[str, _Move] = OrderedDict()
        """By the full id at the old place."""
        self._rows = BoxRows[str](curve.dimensions)
        """The full ids by the old places."""

    def __len__(self) -> int:
        return len(self._moves)

    def note(
        self, old_id: str, new_id: str, carried: Carried, now: float, *, is_data: bool | None
    ) -> None:
        """A record is about to leave its old region: both are full ids; `carried` says whose it is
        and who may see it where it goes.  `is_data` is None where only its word is known."""
        self._forget(now)
        place = split_id(old_id, self._curve)[1]
        self._drop(old_id)
        if len(self._moves) == KEPT_MAX:
            self._forget_first()
        carried = replace(carried, blob=b"", route=None)
        row = self._rows.put(old_id, place)
        self._moves[old_id] = _Move(now, new_id, carried, is_data, row)

    def from_within(
        self,
        box: Box,
        part: Intervals,
        now: float,
        sees: Callable[[Carried], bool],
        *,
        is_data: bool,
    ) -> Told:
        """Where the data, or the interests, went that moved lately from a place in a query's box,
        the last to move first, and its sender `sees`; of `part` this peer speaks."""
        self._forget(now)
        went, since_s = list[Went](), self.known.of(part, now)
        for old_id in self._rows.within(box) if self._moves else ():
            move = self._moves[old_id]
            if move.is_data in {None, is_data} and sees(move.carried):
                if len(went) == TOLD_MAX:
                    return Told(went, max(since_s, move.at_s + AT_ONCE_S))
                went.append(Went(move.carried.version, move.new_id, move.carried.owner))
        return Told(went, since_s)

    def _drop(self, old_id: str) -> None:
        move = self._moves.pop(old_id, None)
        if move is not None:
            self._rows.take(move.row)

    def _forget(self, now: float) -> None:
        while self._moves and now - next(iter(self._moves.values())).at_s > KEPT_S:
            self._forget_first()

    def _forget_first(self) -> None:
        old_id, move = next(iter(self._moves.items()))
        self.known.forgot(move.at_s)
        self._drop(old_id)
