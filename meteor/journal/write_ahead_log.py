"""SQLite's write-ahead log, read without SQLite: which frames are whole, also behind damage.

Law of this file: bytes in, frames out; nothing is written.  SQLite uses a log up to the first frame
that does not fit its running checksum and forgets the rest; here each frame is judged by the frame
before it, so that one flipped bit costs one frame.  The format: sqlite.org/fileformat2.html,
section 4.  The checksum is linear in the words of a frame, so numpy sums all frames at once.
"""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

PAGE_BYTES: Final = 4096
"""The page size of every journal file."""

LOG_HEADER_BYTES: Final = 32
FRAME_HEADER_BYTES: Final = 24
FRAME_BYTES: Final = FRAME_HEADER_BYTES + PAGE_BYTES

_MAGIC: Final = 0x377F0682
"""With the lowest bit set, checksums take their input as big-endian words."""
_MASK: Final = 0xFFFFFFFF

_Sum = tuple[int, int]
_Words = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Frame:
    """The new content of one page; `commit` marks the last one of a transaction."""

    page: int
    commit: bool
    image: bytes


@dataclass(frozen=True, slots=True)
class Log:
    """What is whole in a log.

    `frames` are the whole frames of its present generation, in order; SQLite would use the first
    `committed` of them.  `doubtful` are the pages that broken frames speak of and no later
    frame: their newest content is gone.  `commits_behind` counts the
    transactions that end behind the first broken frame."""

    frames: tuple[Frame, ...] = ()
    committed: int = 0
    doubtful: tuple[int, ...] = ()
    commits_behind: int = 0


def read_log(content: bytes) -> Log:
    """Judge every frame of a log file; a part of a frame at its end counts as none."""
    count = (len(content) - LOG_HEADER_BYTES) // FRAME_BYTES
    if count < 1:
        return Log()
    header = _of_header(content[:LOG_HEADER_BYTES])
    body = memoryview(content)[LOG_HEADER_BYTES : LOG_HEADER_BYTES + count * FRAME_BYTES]
    heads = np.frombuffer(body, ">u4").reshape(count, FRAME_BYTES // 4)[:, :6]
    words = np.frombuffer(body, header.order).reshape(count, FRAME_BYTES // 4)
    salts = struct.unpack(">II", content[16:24]) if header.sound else tuple(heads[0, 2:4].tolist())
    whole = _judge(heads, _sums(words), header, salts)
    frames: list[Frame] = []
    doubtful: dict[int, None] = {}
    sound = header.sound
    committed = behind = 0
    for at, (head, fits) in enumerate(zip(heads.tolist(), whole, strict=True)):
        ours = tuple(head[2:4]) == salts
        sound = sound and fits and ours
        if not fits:
            if ours:
                doubtful[head[0]] = None
            continue
        doubtful.pop(head[0], None)
        start = at * FRAME_BYTES + FRAME_HEADER_BYTES
        frames.append(Frame(head[0], head[1] > 0, bytes(body[start : start + PAGE_BYTES])))
        if frames[-1].commit and sound:
            committed = len(frames)
        elif frames[-1].commit:
            behind += 1
    return Log(tuple(frames), committed, tuple(doubtful), behind)


@dataclass(frozen=True, slots=True)
class _Header:
    sums: tuple[_Sum, ...]
    """What the first frame may go on from: the sum as written, and as it should be."""
    order: str
    """How checksums read their input."""
    sound: bool


def _of_header(header: bytes) -> _Header:
    """A log is written in the order of its machine, so a broken header does not hide it."""
    orders = [">u4" if header[3] & 1 else "<u4", "<u4" if sys.byteorder == "little" else ">u4"]
    readings = [_in_order(header, order) for order in orders]
    return readings[0] if readings[0].sound else readings[1]


def _in_order(header: bytes, order: str) -> _Header:
    numbers = struct.unpack(">8I", header)
    first, second = 0, 0
    words = np.frombuffer(header[:24], order).tolist()
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & _MASK
        second = (second + two + first) & _MASK
    written = (numbers[6], numbers[7])
    sound = written == (first, second) and numbers[0] & ~1 == _MAGIC and numbers[2] == PAGE_BYTES
    return _Header((written,) if sound else (written, (first, second)), order, sound)


def _judge(
    heads: NDArray[Any], sums: list[_Sum], header: _Header, salts: tuple[int, ...]
) -> list[bool]:
    """Which frames fit the one before them and belong to the present generation.

    A log is written over from its start: what an earlier generation left behind the present end
    has other salts.  A whole frame whose own salts are broken is known by its place in the chain.
    """
    whole = []
    before, chained = header.sums, True
    for head, own in zip(heads.tolist(), sums, strict=True):
        written = (head[4], head[5])
        reached = [_advance(start, own) for start in before]
        fits = written in reached and (chained or tuple(head[2:4]) == salts)
        whole.append(fits)
        # The sum of a broken frame may be right as it stands, or be the part that is broken.
        before = (written,) if fits else (written, reached[0])
        chained = fits
    return whole


@cache
def _coefficients() -> tuple[_Words, _Words, tuple[int, int, int, int]]:
    """What each word of a frame adds to the two sums, and what becomes of the sums before it.

    A pair (x, y) turns the sums (s, t) into (s + t + x, s + 2t + x + y), so the matrix of a frame
    is a power of [[1, 1], [1, 2]]."""
    pairs = (8 + PAGE_BYTES) // 8
    first, second = np.zeros(2 * pairs, np.uint32), np.zeros(2 * pairs, np.uint32)
    a, b, c, d = 1, 0, 0, 1
    for at in reversed(range(pairs)):
        first[2 * at], first[2 * at + 1] = (a + b) & _MASK, b
        second[2 * at], second[2 * at + 1] = (c + d) & _MASK, d
        a, b, c, d = (a + b) & _MASK, (a + 2 * b) & _MASK, (c + d) & _MASK, (c + 2 * d) & _MASK
    return first, second, (a, b, c, d)


def _sums(words: NDArray[Any]) -> list[_Sum]:
    """What each frame alone adds: its page number, its size field and its page."""
    first, second, _ = _coefficients()
    head, page = words[:, :2].astype(np.uint32), words[:, 6:].astype(np.uint32, copy=False)
    columns = [head @ part[:2] + page @ part[2:] for part in (first, second)]
    return list(zip(columns[0].tolist(), columns[1].tolist(), strict=True))


def _advance(before: _Sum, own: _Sum) -> _Sum:
    a, b, c, d = _coefficients()[2]
    return (
        (a * before[0] + b * before[1] + own[0]) & _MASK,
        (c * before[0] + d * before[1] + own[1]) & _MASK,
    )
