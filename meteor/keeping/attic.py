"""The attic: what a peer had of an interval before its past was lost, kept off the shelf.

Law of this file: bookkeeping, no clock and no journal of its own.  Nothing here is matched,
answered or compared.  The content of each former view is a lot: whoever proves that the view was
the last one before the loss gets exactly that, and nothing older that lay beside it.  Shown at
once, it would bring back what was deleted under a tombstone that died with its holders (DESIGN
section 5).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import Final

from meteor.journal.journal import Entry
from meteor.keeping.placement import Key, journal_key, key_of
from meteor.wire import codec
from meteor.wire.operations import Carried, PulledPage
from meteor.wire.record_id import split_id
from squid import HilbertCurve, Interval

PREFIX: Final = b"a:"
"""How the journal's keys begin that are the attic's."""
_LOT_BYTES: Final = 8
PAGE_BYTES: Final = 64 * 1024
LOOKED_AT: Final = 1024
"""Records that are looked at for one page, some 4 microseconds each: few of them may live in the
interval."""


class Attic:
    """Lots of records and tombstones, by number."""

    def __init__(
        self,
        curve: HilbertCurve,
        as_written: Callable[[Sequence[Carried]], Sequence[Carried]] = tuple,
    ) -> None:
        """`as_written` gives records with their expiry by the wall clock, as the journal has it."""
        self._curve, self._as_written = curve, as_written
        self._lots: dict[int, list[tuple[int, Carried]]] = {}
        """Each record with the number of its coming here, which ascend."""
        self._newest_lot = self._newest = 0
        self._unwritten: list[Entry] = []

    def __len__(self) -> int:
        return sum(len(lot) for lot in self._lots.values())

    def put(self, carried: Iterable[Carried]) -> int:
        """Keep records as they were on the shelf; the number of their lot.  `unwritten` is to be
        made durable before anything else takes their place in the journal."""
        self._newest_lot += 1
        lot = {key_of(one): one for one in carried}
        for one in lot.values():
            self._place(self._newest_lot, one)
        self._unwritten += self._entries_of(self._newest_lot, lot)
        return self._newest_lot

    def restore(self, key: bytes, carried: Carried) -> None:
        """A record comes out of the journal, where it lay under `key`."""
        lot = int.from_bytes(key[len(PREFIX) : len(PREFIX) + _LOT_BYTES])
        self._newest_lot = max(self._newest_lot, lot)
        self._place(lot, carried)

    def _place(self, lot: int, carried: Carried) -> None:
        self._newest += 1
        self._lots.setdefault(lot, []).append((self._newest, carried))

    def keep_only(self, lots: Collection[int]) -> None:
        """Nobody speaks for the other lots any more."""
        for lot in [number for number in self._lots if number not in lots]:
            gone = [key_of(one) for _, one in self._lots.pop(lot)]
            self._unwritten += [Entry(_journal_key(lot, key), None) for key in gone]

    def unwritten(self) -> list[Entry]:
        """What the journal does not know yet; the caller writes it."""
        entries, self._unwritten = self._unwritten, []
        return entries

    def entries(self) -> list[Entry]:
        """All that is here, for a journal that is begun anew."""
        self._unwritten.clear()
        return [
            entry
            for lot, records in self._lots.items()
            for entry in self._entries_of(lot, {key_of(one): one for _, one in records})
        ]

    def _entries_of(self, lot: int, records: Mapping[Key, Carried]) -> list[Entry]:
        written = self._as_written(list(records.values()))
        return [
            Entry(_journal_key(lot, key), codec.encode(one))
            for key, one in zip(records, written, strict=True)
        ]

    def page(
        self,
        lots: Collection[int],
        interval: Interval,
        cursor: int,
        outgoing: Callable[[Carried], Carried],
    ) -> PulledPage:
        """The records of an interval that came to these lots after `cursor`, oldest first, as they
        travel."""
        carried: list[Carried] = []
        size = 0
        for looked_at, (number, one) in enumerate(self._after(lots, cursor)):
            if size >= PAGE_BYTES or looked_at == LOOKED_AT:
                return PulledPage(tuple(carried), cursor, more=True)
            cursor = number
            _, box = split_id(one.id, self._curve)
            travels = outgoing(one)
            if travels.ttl_ms > 0 and self._curve.has_match(box, *interval):
                carried.append(travels)
                size += len(one.blob) + 200
        return PulledPage(tuple(carried), cursor, more=False)

    def _after(self, lots: Collection[int], cursor: int) -> Iterator[tuple[int, Carried]]:
        """In turn, and no further than they are asked for."""
        found = [self._lots[lot] for lot in sorted(lots) if lot in self._lots]
        return merge(*(_from(lot, cursor) for lot in found), key=_by_number)


def _from(lot: Sequence[tuple[int, Carried]], cursor: int) -> Iterator[tuple[int, Carried]]:
    first = bisect_right(lot, cursor, key=_by_number)
    return map(lot.__getitem__, range(first, len(lot)))


def _by_number(placed: tuple[int, Carried]) -> int:
    return placed[0]


def _journal_key(lot: int, key: Key) -> bytes:
    return PREFIX + lot.to_bytes(_LOT_BYTES) + journal_key(key)
