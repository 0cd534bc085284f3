"""What can still be read of a damaged journal file.

Law of this file: every row that comes back is one that was written, whole (its checksum covers its
place in the order of writes too), and is the newest one known of its key; it reads and never
writes.  The table and its index tell the same twice: a row that is gone is named by the index, and
a row that stands outside of the table's tree counts when the index knows it.

What cannot be told: a row that was removed in a page whose newest image is lost may come back, and
a row whose traces in table and index are both lost is not named.  So a journal that had to be
salvaged says that it is incomplete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from meteor.journal import sqlite_pages
from meteor.journal.rows import COMMIT, FILE, INDEX_ROOT, TABLE_ROOT, Row
from meteor.journal.sqlite_pages import Pages, Tree, Unreadable
from meteor.journal.write_ahead_log import PAGE_BYTES, Frame, Log

_Place = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Salvage:
    """The rows that are whole, in the order of their writes; the places of rows that are known to
    be gone; and the number of the newest transaction seen, 0 for none."""

    rows: tuple[Row, ...]
    lost: tuple[_Place, ...]
    number: int


def newest_number(file: BinaryIO | None, log: Log) -> int | None:
    """The number of the last transaction that SQLite would find; None when it cannot be read."""
    return _last_number(Pages(file, _images(log.frames[: log.committed])))


def salvage(file: BinaryIO | None, log: Log, *, unfinished: bool) -> Salvage:
    """Read what is whole; `unfinished` also takes the frames behind the last whole transaction,
    which the caller does when it knows that they were acknowledged.

    A log that was cut after all of it had gone into the file is older than the file: then it says
    nothing."""
    last = max((at for at, frame in enumerate(log.frames, 1) if frame.commit), default=0)
    frames = log.frames if unfinished else log.frames[:last]
    newest, alone = Pages(file, _images(frames)), Pages(file, {})
    committed = Pages(file, _images(log.frames[: log.committed]))
    if (_last_number(alone) or 0) > max(_last_number(pages) or 0 for pages in (newest, committed)):
        return _Search(alone).run(())
    search = _Search(newest)
    if unfinished:
        search.doubtful = set(log.doubtful)
        search.torn = len(frames) > last or bool(search.doubtful)
    # Where newer pages of one change are broken and others are not, older ones have what is missing
    return search.run((committed,))


def _images(frames: Sequence[Frame]) -> dict[int, bytes]:
    return {frame.page: frame.image for frame in frames}


def _last_number(pages: Pages) -> int | None:
    """Its row is the last of the table: every transaction writes it anew, behind all others."""
    number = TABLE_ROOT
    try:
        for _ in range(pages.count):
            image = pages.image(number)
            if image[0] == sqlite_pages.TABLE_LEAF:
                row = _row(pages, image, sqlite_pages.pointers(image)[-1])
                return _commit_number(row) if row.fits else None
            number = int.from_bytes(image[8:12])
    except (Unreadable, IndexError):
        return None
    return None


@dataclass(slots=True)
class _Search:
    pages: Pages
    doubtful: set[int] = field(default_factory=set)
    """Pages that may have had a newer image."""
    torn: bool = False
    """Whether pages may be of different times."""
    sure: dict[int, Row] = field(default_factory=dict)
    """Rows where the table says that they are, by sequence."""
    known: dict[int, _Place] = field(default_factory=dict)
    """What the index knows: sequence -> place."""

    def run(self, older: Sequence[Pages]) -> Salvage:
        table, index = self._trees()
        self._read_table(table)
        whole = self._read_index(index) and not self.torn
        if not table.whole or self.torn or not self.known.keys() <= self.sure.keys():
            passed = {*table.interior, *index.interior, *index.leaves}
            for number in range(1, self.pages.count + 1):
                if number not in passed:
                    self._adopt((row for _, row in self._rows(number, spare=True)), whole)
            for pages in older:
                search = _Search(pages)
                search._read_table(search._trees()[0])
                self._adopt(search.sure.values(), whole)
        return self._result()

    def _trees(self) -> tuple[Tree, Tree]:
        table = sqlite_pages.walk(
            self.pages, TABLE_ROOT,
            interior=sqlite_pages.TABLE_INTERIOR, leaf=sqlite_pages.TABLE_LEAF,
        )  # fmt: skip
        index = sqlite_pages.walk(
            self.pages, INDEX_ROOT,
            interior=sqlite_pages.INDEX_INTERIOR, leaf=sqlite_pages.INDEX_LEAF,
        )  # fmt: skip
        return table, index

    def _adopt(self, rows: Iterable[Row], index_is_whole: bool) -> None:
        """Take rows that the table's tree does not lead to, or that a page's header denies.

        Such a page may have been given back long ago: only what the index knows is alive.  Where
        the index is broken too, a row counts that has no newer one."""
        living = {(row.journal, row.key): row.sequence for row in self.sure.values()}
        for row in rows:
            unknown = not index_is_whole and living.get((row.journal, row.key), 0) < row.sequence
            if row.sequence in self.known or unknown:
                self.sure[row.sequence] = row

    def _read_table(self, table: Tree) -> None:
        for number in table.leaves:
            if number in self.doubtful:
                continue
            for at, row in self._rows(number, spare=False):
                if at is not None:
                    self.sure[row.sequence] = row

    def _read_index(self, index: Tree) -> bool:
        """Whether all of the index could be read."""
        whole = index.whole
        for number in (*index.interior, *index.leaves):
            image = self.pages.image(number)
            try:
                cells = sqlite_pages.pointers(image)
            except Unreadable:
                whole = False
                continue
            for at in cells:
                try:
                    journal, key, sequence = sqlite_pages.index_cell(self.pages, image, at)
                    place = (_text(journal), _blob(key))
                except ValueError:  # Unreadable, or not three columns
                    whole = False
                    continue
                if isinstance(sequence, int):
                    self.known[sequence] = place
        return whole

    def _rows(self, number: int, *, spare: bool) -> Iterator[tuple[int | None, Row]]:
        """The whole rows of a page, and where they begin; None for where with `spare`."""
        try:
            image = self.pages.image(number)
        except Unreadable:
            return
        try:
            cells = sqlite_pages.pointers(image)
        except Unreadable:
            cells = ()
        lowest = PAGE_BYTES
        for at in cells:
            row = self._whole_row(image, at)
            if row is not None:
                lowest = min(lowest, at)
                yield at, row
        if spare:
            for at in sqlite_pages.spare_pointers(image, lowest):
                row = self._whole_row(image, at)
                if row is not None:
                    yield None, row

    def _whole_row(self, image: bytes, at: int) -> Row | None:
        try:
            row = _row(self.pages, image, at)
        except Unreadable:
            return None
        return row if row.fits else None

    def _result(self) -> Salvage:
        newest = {place: sequence for sequence, place in sorted(self.known.items())}
        living = {(row.journal, row.key): row for _, row in sorted(self.sure.items())}
        lost = {
            place: None
            for place, sequence in newest.items()
            if place not in living or living[place].sequence < sequence
        }
        marker = living.get((FILE, COMMIT))
        return Salvage(
            tuple(row for place, row in living.items() if row.journal and place not in lost),
            tuple(place for place in lost if place[0] != FILE),
            0 if marker is None else _commit_number(marker) or 0,
        )


def _row(pages: Pages, image: bytes, at: int) -> Row:
    sequence, columns = sqlite_pages.table_cell(pages, image, at)
    if len(columns) != 5 or not isinstance(columns[4], int):
        raise Unreadable("this is no record of a journal")
    return Row(sequence, _text(columns[1]), _blob(columns[2]), _blob(columns[3]), columns[4])


def _commit_number(row: Row) -> int | None:
    return int.from_bytes(row.value) if (row.journal, row.key) == (FILE, COMMIT) else None


def _text(column: object) -> str:
    try:
        return _blob(column).decode()
    except UnicodeDecodeError as error:
        raise Unreadable("the name of a journal is no text") from error


def _blob(column: object) -> bytes:
    if not isinstance(column, bytes):
        raise Unreadable("a column is of another kind")
    return column
