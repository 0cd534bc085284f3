"""What was replaced lately and lives elsewhere now.

Law of this file: pure.  A query that passed the new region before a record came there, and the old
one after it left, would find it nowhere although it lived all the time.  So its old place says
where it went, for as long as such a query may be under way, and the query's origin asks there
again: found by the new content, not by the old, never by neither (SPEC section 4).  Told is only
who may see it: others would ask again for nothing, and count twice what else lies there.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from chord import replace
from meteor.errors import ProfileError
from meteor.wire.operations import Carried
from meteor.wire.record_id import split_id
from squid import Box, HilbertCurve

KEPT_S: Final = 10.0
"""How long a move is spoken of: as long as a query with the usual time-out may be under way."""
KEPT_MAX: Final = 4096
"""So many moves are known at most; the oldest are forgotten first."""
TOLD_MAX: Final = 256
"""So many are told to one query by one peer."""


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


class Moves:
    """The moves away from one peer."""

    def __init__(self, curve: HilbertCurve) -> None:
        self._curve = curve
        self._moves: OrderedDict[str, tuple[float, str, Carried]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._moves)

    def note(self, old_id: str, new_id: str, carried: Carried, now: float) -> None:
        """A record is about to leave its old region: both are full ids; `carried` says whose it is
        and who may see it where it goes."""
        self._forget(now)
        self._moves[old_id] = now, new_id, replace(carried, blob=b"", route=None)
        self._moves.move_to_end(old_id)
        while len(self._moves) > KEPT_MAX:
            self._moves.popitem(last=False)

    def between(self, box: Box, now: float, sees: Callable[[Carried], bool]) -> tuple[str, ...]:
        """The new ids of what moved lately from one place of a query's box to another, and its
        sender `sees`."""
        self._forget(now)
        told = []
        for old_id, (_, new_id, carried) in reversed(self._moves.items()):
            if self._meets(old_id, box) and self._meets(new_id, box) and sees(carried):
                told.append(new_id)
                if len(told) == TOLD_MAX:
                    break
        return tuple(told)

    def _meets(self, full_id: str, box: Box) -> bool:
        _, region = split_id(full_id, self._curve)
        return region.intersection(box) is not None

    def _forget(self, now: float) -> None:
        while self._moves:
            at_s, _, _ = next(iter(self._moves.values()))
            if now - at_s <= KEPT_S:
                break
            self._moves.popitem(last=False)
