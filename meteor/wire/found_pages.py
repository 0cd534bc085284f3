"""Pages of matches: packed where records are kept, read by whoever asked, untouched in between.

Law of this file: pure, and no step of Python's for every match where one for a page will do: ten
thousand of them pass here for one question.  The bytes are those of a `FoundPage`, so that whoever
has only the codec reads them too.  Pages grow: the first of an answer is small, and there at once
(DESIGN section 4).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Annotated, Final, cast

import msgspec
import numpy as np

from arms import Record
from meteor.errors import MeteorError
from meteor.wire import codec
from meteor.wire.codec import MalformedFrame
from meteor.wire.messages import Found
from meteor.wire.operations import FoundPage
from meteor.wire.packers import COUNT_MAX

PAGE_BYTES: Final = 64 * 1024
FIRST_PAGE_BYTES: Final = 4 * 1024
GROWTH: Final = 4
"""Each page may be so many times as large as the one before it, up to `PAGE_BYTES`."""
_ROW_BYTES: Final = 32
"""What packing a row adds, at most."""

Row = tuple[str, int, str, int, bytes]
"""The fields of a `Found`."""

_HEAD: Final = codec.encode(FoundPage(()))[:-1]
"""How every page begins: behind it comes one list."""
_encode: Final = msgspec.msgpack.Encoder().encode
_ID, _VERSION = attrgetter("id"), attrgetter("version")
_OWNER, _BLOB = attrgetter("owner"), attrgetter("blob")
_EXPIRES: Final = attrgetter("expires_s")


class _PackedFound(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A `Found` as msgspec reads it, which takes a fifth of the time."""

    id: str
    version: int
    owner: str
    ttl_ms: int
    blob: bytes


_decode: Final = msgspec.msgpack.Decoder(
    Annotated[list[_PackedFound], msgspec.Meta(max_length=COUNT_MAX)]
).decode


class Pages:
    """Matches by the page in which they travel.  A page is packed as soon as it is full: the five
    hundred of a hundred thousand matches, all at once, would hold the peer up."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        """What is on no page yet."""
        self._sizes: list[int] = []
        """How much each of them takes, at most."""
        self._size = 0
        self._limit = FIRST_PAGE_BYTES
        """Of the next page."""
        self._full: list[bytes] = []

    def add(self, found: Found) -> None:
        """One more match."""
        self._rows.append((found.id, found.version, found.owner, found.ttl_ms, found.blob))
        self._sizes.append(len(found.id) + len(found.owner) + len(found.blob) + _ROW_BYTES)
        self._size += self._sizes[-1]
        if self._size > self._limit:
            self._pack_full()

    def add_records(self, records: Sequence[Record], now: float) -> None:
        """Many of them, with their payload and what remains of their time at `now`, rounded
        down."""
        if not records:
            return
        left_s = np.fromiter(map(_EXPIRES, records), np.float64, len(records)) - now
        left_ms = np.maximum(left_s * 1000, 0).astype(np.int64).tolist()
        ids, owners = list(map(_ID, records)), list(map(_OWNER, records))
        blobs = list(map(_BLOB, records))
        self._rows += zip(ids, map(_VERSION, records), owners, left_ms, blobs, strict=True)
        beside = max(map(len, ids)) + max(map(len, owners)) + _ROW_BYTES
        sizes = [beside + length for length in map(len, blobs)]
        self._sizes += sizes
        self._size += sum(sizes)
        if self._size > self._limit:
            self._pack_full()

    def all(self) -> list[bytes]:
        """The pages: each of at most `PAGE_BYTES`, unless one match alone is larger."""
        return [*self._full, pack(self._rows)] if self._rows else list(self._full)

    def leave(self) -> list[bytes]:
        """The pages so far, which are sent now; what comes is on later ones."""
        pages = self.all()
        self._full, self._rows, self._sizes, self._size = [], [], [], 0
        return pages

    def _pack_full(self) -> None:
        """Pack until what is left fits the next page, or is one match."""
        ends = [0, *accumulate(self._sizes)]
        begin = 0
        while len(ends) - 2 > begin and ends[-1] - ends[begin] > self._limit:
            end = max(bisect_right(ends, ends[begin] + self._limit) - 1, begin + 1)
            self._full.append(pack(self._rows[begin:end]))
            begin, self._limit = end, min(GROWTH * self._limit, PAGE_BYTES)
        del self._rows[:begin], self._sizes[:begin]
        self._size = ends[-1] - ends[begin]


def pack(rows: Sequence[Row]) -> bytes:
    """One page of them."""
    return _HEAD + _encode(rows)


def unpack(page: bytes) -> Sequence[Found]:
    """The matches of a page; raises `MeteorError` for what is none.

    What comes is read like a `Found`, and equal to its like; only its class is another."""
    if not page.startswith(_HEAD):
        message = codec.decode(page)
        if not isinstance(message, FoundPage):
            raise MalformedFrame(f"a {type(message).__name__} instead of a page of matches")
        return message.found
    try:
        return cast("list[Found]", _decode(memoryview(page)[len(_HEAD) :]))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise MalformedFrame(f"a page of matches cannot be read: {error}") from error


def is_page(body: bytes) -> bool:
    """Whether it looks like one; what it holds is its reader's business."""
    if body.startswith(_HEAD):
        return True
    try:
        return isinstance(codec.decode(body), FoundPage)
    except MeteorError:
        return False


def readable(pages: Iterable[bytes]) -> list[Found]:
    """The matches of all pages; of what is no page of ours none."""
    found: list[Found] = []
    for page in pages:
        try:
            found += unpack(page)
        except MeteorError:
            continue
    return found
