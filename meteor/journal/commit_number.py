"""How many transactions of a journal were acknowledged, noted beside the journal.

Law of this file: the number is written after its transaction is durable and before anybody is told
so.  A journal whose last transaction has a lower number has therefore lost acknowledged ones; one
with a higher number ends with transactions that nobody was told of.  The number is not synced with
every write (that would double what a commit costs): a killed process leaves it exact, after a power
cut it may be some seconds old and then tells of a loss up to there.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Final

_DIGITS: Final = 20
_SIZE: Final = _DIGITS + 10


class CommitNumber:
    """The number in its file, open for writing; made when missing."""

    def __init__(self, path: Path, *, of_new: bool = False) -> None:
        """Of a journal that is begun just now the file says 0.  Else it says nothing before the
        first `write`: should this start fail, the next one is to see that the number was gone."""
        was_there = path.exists()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        os.ftruncate(self._file, _SIZE)
        if not was_there:
            if of_new:
                self.write(0)
            os.fsync(self._file)
            sync_directory(path.parent)

    def write(self, number: int) -> None:
        """Note that transaction `number` is durable.  Raises `OSError`."""
        os.pwrite(self._file, _line(number), 0)

    def close(self) -> None:
        """Bring the number to disk; harmless when done twice."""
        if self._file >= 0:
            os.fsync(self._file)
            os.close(self._file)
            self._file = -1


def read_commit_number(path: Path) -> int | None:
    """The number in a file; None where there is none that can be trusted.  Raises `OSError`."""
    try:
        line = path.read_bytes()
    except FileNotFoundError:
        return None
    digits = line[:_DIGITS]
    return int(digits) if digits.isdigit() and line == _line(int(digits)) else None


def sync_directory(path: Path) -> None:
    """Make what was made, renamed and removed in a directory durable.  Raises `OSError`."""
    directory = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _line(number: int) -> bytes:
    digits = b"%0*d" % (_DIGITS, number)
    return digits + b" %08x\n" % zlib.crc32(digits)
