"""SQLite's pages, many at once: their bytes beside each other, and the leaves of a table.

Law of this file: as `meteor.journal.sqlite_pages`, of which it is the quick way: bytes in, places
out, and an `Unreadable` for what is not as usual.  Nothing is mapped into memory: pages that change
later, or a file that is cut, must not change what was read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from typing import BinaryIO, Final

import numpy as np

from meteor.journal.sqlite_pages import TABLE_INTERIOR, TABLE_LEAF, Pages, Unreadable
from meteor.journal.stretches import Bytes, Slots, lines_of
from meteor.journal.write_ahead_log import PAGE_BYTES

IN_ONE_GO: Final = 512
"""Pages: two megabytes, which stay in the processor's memory while they are looked at."""
SPARE_BYTES: Final = 64
"""Behind the last page: who looks at the beginning of a cell looks at no less."""
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
        images = np.zeros(len(numbers) * PAGE_BYTES + SPARE_BYTES, np.uint8)
        memory = images.data
        is_new = self._is_new[numbers]
        if bool((numbers[~is_new] > self._in_file).any()):
            raise Unreadable("a page is behind the end of the file")
        cuts = np.flatnonzero((np.diff(numbers) != 1) | (is_new[1:] != is_new[:-1])) + 1
        bounds = [0, *cuts.tolist(), len(numbers)]
        for low, high in pairwise(bounds):
            part = memory[low * PAGE_BYTES : high * PAGE_BYTES]
            if is_new[low]:
                part[:] = b"".join([self._latest[each] for each in numbers[low:high].tolist()])
            elif os.preadv(self._descriptor, [part], (int(numbers[low]) - 1) * PAGE_BYTES) != len(
                part
            ):
                raise Unreadable("the file is cut")
        return images


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
