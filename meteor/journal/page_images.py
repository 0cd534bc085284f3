"""SQLite's pages, many at once: their bytes beside each other, and the leaves of a table.

Law of this file: as `meteor.journal.sqlite_pages`, of which it is the quick way: bytes in, places
out, and an `Unreadable` for what is not as usual.  Nothing is mapped into memory: pages that change
later, or a file that is cut, must not change what was read.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import BinaryIO, Final

import numpy as np

from meteor.journal.sqlite_pages import TABLE_INTERIOR, TABLE_LEAF, Pages, Unreadable
from meteor.journal.stretches import Bytes, Slots, lines_of
from meteor.journal.write_ahead_log import PAGE_BYTES

IN_ONE_GO: Final = 960
"""Pages: not quite four megabytes, which stay in the processor's memory while they are looked at;
from four on numpy asks for large pages, which are seldom those that were in use a moment ago."""
SPARE_BYTES: Final = 64
"""Behind the last page: who looks at the beginning of a cell looks at no less."""
_SKIPPED: Final = 8
"""Pages in between that are read along: a call for each stretch of a dozen would take longer."""
_MOST_PARTS: Final = 1 << 10
"""Of one call, by the system's limit."""
_MOST_LEVELS: Final = 20
"""SQLite's own limit of the depth of a tree."""


class BulkPages(Pages):
    """The newest image of every page, many at once."""

    def __init__(self, file: BinaryIO, newest: Mapping[int, bytes]) -> None:
        super().__init__(file, newest)
        self._descriptor, self._latest = file.fileno(), newest
        self._in_file = os.fstat(self._descriptor).st_size // PAGE_BYTES
        self._is_new = np.zeros(self.count + 1, bool)
        self._is_new[list(newest)] = True

    def images(self, numbers: Slots) -> Bytes:
        """These pages one behind the other, and spare bytes behind the last; raises `Unreadable`
        and `OSError`."""
        if int(numbers.min()) < 1 or int(numbers.max()) > self.count:
            raise Unreadable("a page is none of the file")
        images = np.empty(len(numbers) * PAGE_BYTES + SPARE_BYTES, np.uint8)
        images[-SPARE_BYTES:] = 0
        memory = images.data
        is_new = self._is_new[numbers]
        if bool((numbers[~is_new] > self._in_file).any()):
            raise Unreadable("a page is behind the end of the file")
        cuts = np.flatnonzero((np.diff(numbers) != 1) | (is_new[1:] != is_new[:-1])) + 1
        in_file: list[tuple[int, memoryview]] = []
        for low, high in pairwise([0, *cuts.tolist(), len(numbers)]):
            part = memory[low * PAGE_BYTES : high * PAGE_BYTES]
            if is_new[low]:
                part[:] = b"".join([self._latest[each] for each in numbers[low:high].tolist()])
            else:
                in_file.append((int(numbers[low]) - 1, part))
        for first, parts in _in_few_calls(in_file):
            size = sum(map(len, parts))
            if os.preadv(self._descriptor, parts, first * PAGE_BYTES) != size:
                raise Unreadable("the file is cut")
        return images


def _in_few_calls(
    stretches: Sequence[tuple[int, memoryview]],
) -> Iterator[tuple[int, list[memoryview]]]:
    """Where a call begins to read, and into what: stretches of pages that lie behind each other,
    with few in between, which are read into memory that nobody looks at."""
    spare = memoryview(bytearray(_SKIPPED * PAGE_BYTES))
    first = next_page = 0
    parts: list[memoryview] = []
    for page, part in stretches:
        between = page - next_page
        if not 0 <= between <= _SKIPPED or len(parts) + 2 > _MOST_PARTS:
            if parts:
                yield first, parts
            first, parts = page, []
        elif between and parts:
            parts.append(spare[: between * PAGE_BYTES])
        elif not parts:
            first = page
        parts.append(part)
        next_page = page + len(part) // PAGE_BYTES
    if parts:
        yield first, parts


def images_ahead(pages: BulkPages, numbers: Slots) -> Generator[tuple[int, Bytes], None, None]:
    """The images of these pages, some at a time, and how many they are; raises `Unreadable` and
    `OSError`.  Read in a thread of its own, one step ahead: the system's copies and fresh memory
    for them take a quarter of the time, and need nobody's lock.  To be closed before the file."""
    some = [numbers[first : first + IN_ONE_GO] for first in range(0, len(numbers), IN_ONE_GO)]
    with ThreadPoolExecutor(1, "meteor-journal-pages") as thread:
        coming = thread.submit(pages.images, some[0])
        for each, following in zip(some, [*some[1:], None], strict=True):
            images = coming.result()
            if following is not None:
                coming = thread.submit(pages.images, following)
            yield len(each), images


def leaves_of(pages: BulkPages, root: int) -> Slots:
    """The leaves of a table in its order; raises `Unreadable` and `OSError`.  They may be none:
    whoever reads them looks."""
    level: Slots = np.array([root], np.intp)
    for _ in range(_MOST_LEVELS):
        if pages.image(int(level[0]))[0] == TABLE_LEAF:
            return level
        level = np.concatenate([
            _children(pages.images(level[first : first + IN_ONE_GO]))
            for first in range(0, len(level), IN_ONE_GO)
        ])  # fmt: skip
        if len(level) > pages.count:
            raise Unreadable("a tree has more branches than the file has pages")
    raise Unreadable("a tree is too deep")


def _children(buffer: Bytes) -> Slots:
    """The children of branches, in the order of the tree."""
    found: list[Slots] = []
    for start in range(0, len(buffer) - SPARE_BYTES, PAGE_BYTES):
        image = buffer[start : start + PAGE_BYTES]
        count = int.from_bytes(image[3:5].tobytes())
        behind = 12 + 2 * count
        if image[0] != TABLE_INTERIOR or behind > PAGE_BYTES:
            raise Unreadable("a page is no branch of a table")
        cells = image[12:behind].view(">u2").astype(np.intp)
        if bool(((cells < behind) | (cells > PAGE_BYTES - 4)).any()):
            raise Unreadable("a cell begins outside of the page's room for cells")
        children = lines_of(image, cells, 4).view(">u4")[:, 0]
        found.append(np.concatenate([children, image[8:12].view(">u4")]).astype(np.intp))
    return np.concatenate(found)
