"""The records of a restart, as the rows of their journal: objects are made when somebody asks.

Law of this file: a record has one `Placed` as long as it is here, whoever asks first, and nobody
can tell a row from a record that came one by one.  What a hundred thousand records share lies in
columns; a row that is asked for becomes an object at rest, which is decoded when its content is.
"""

from __future__ import annotations

from arms import Record, at_rest
from meteor.journal.stretches import Stretches
from meteor.keeping.placement import Key, Placed
from meteor.keeping.plain_rows import PlainRows
from meteor.keeping.record_front import KINDS


class RestingRows:
    """Rows by number, in the order in which they were written."""

    __slots__ = ("_clock_s", "_early", "_expiries_ms", "_first", "_hidden", "_keys", "_kinds",
                 "_lowest", "_numbers", "_points", "_rows", "_values")  # fmt: skip

    def __init__(self, rows: PlainRows, first: int) -> None:
        self._first = first
        self._clock_s = 0.0
        self._early: list[Record] | None = []
        """What was asked for before the peer's clock was known."""
        values = rows.values
        self._values = values if isinstance(values, Stretches) else list(values)
        self._rows: list[Placed | None] = [None] * len(rows.keys)
        """What somebody has asked for."""
        self._keys: list[Key | None] = list(rows.keys)
        self._lowest, self._points, self._hidden = rows.lowest, rows.points, rows.hidden
        self._kinds, self._numbers, self._expiries_ms = rows.kinds, rows.numbers, rows.ttl_ms

    def begin(self, clock_s: float) -> None:
        """The peer's clock is ahead of Unix time by so much; nobody has used a record before."""
        for record in self._early or ():
            object.__setattr__(record, "expires_s", record.expires_s + clock_s)
        self._clock_s, self._early = clock_s, None

    def point(self, number: int) -> int | None:
        """The index of a record that lives at one."""
        return self._lowest[number] if self._points[number] else None

    def is_hidden(self, number: int) -> bool:
        """Whether not everybody may see a record."""
        return bool(self._hidden[number])

    def placed(self, number: int) -> Placed:
        """Where a record lives."""
        known = self._rows[number]
        if known is not None:
            return known
        assert self._keys[number] is not None, "what left the shelf is not asked for"
        placed = self._rows[number] = at_rest(
            Placed,
            rest=self._values[number],
            lowest=self._lowest[number],
            number=int(self._numbers[number]),
            change=self._first + number,
            is_point=bool(self._points[number]),
        )
        self._drop(number)
        return placed

    def record(self, number: int) -> Record:
        """The record in the form of the store."""
        key = self._keys[number]
        assert key is not None, "what left the shelf is not asked for"
        # Who counts what everybody may see looks no further.
        public: dict[str, object] = {} if self._hidden[number] else {"visible_to": ()}
        record = at_rest(
            Record,
            rest=self.placed(number),
            kind=KINDS[self._kinds[number]],
            expires_s=int(self._expiries_ms[number]) / 1000 + self._clock_s,
            index=self.point(number),
            owner=key[0],
            stem=key[1],
            **public,
        )
        if self._early is not None:
            self._early.append(record)
        return record

    def forget(self, placed: Placed) -> None:
        """A record left the shelf: whoever has it by now keeps it.  Harmless for others."""
        number = placed.change - self._first
        if 0 <= number < len(self._rows):
            self._rows[number] = self._keys[number] = None
            self._drop(number)

    def _drop(self, number: int) -> None:
        """A row is held by its object, or by nobody."""
        if isinstance(self._values, Stretches):
            self._values.forget(number)
        else:
            self._values[number] = b""
