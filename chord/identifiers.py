"""The identifier circle: arithmetic modulo 2^bits, arcs, and names hashed to identifiers.

Law of this file: plain integers in, plain values out; nothing here knows a peer.  Chord (ToN 2003)
section IV-B; `between` is that of Zave's corrected Chord.

    >>> between(12, 1, 3), 1 in Arc(12, 3), 12 in Arc(12, 3)
    (True, True, False)
"""

from __future__ import annotations

import hashlib
from typing import Final

from chord.contact import WideInt
from chord.frozen import dataclass

HASH_BITS: Final = 256
"""The width of the hash; identifiers are its leading bits."""


def identifier(name: str | bytes, bits: int = 160) -> int:
    """The identifier of a name: the leading `bits` of its SHA-256.

    Raises ValueError unless 1 ≤ bits ≤ 256."""
    if not 1 <= bits <= HASH_BITS:
        raise ValueError(f"identifier of {bits} bits: 1 to {HASH_BITS} are possible")
    data = name.encode() if isinstance(name, str) else name
    return int.from_bytes(hashlib.sha256(data).digest(), "big") >> (HASH_BITS - bits)


def between(after: int, key: int, before: int) -> bool:
    """Whether `key` lies strictly between the two, clockwise.

    `between(a, key, a)` holds for every key but a."""
    if after < before:
        return after < key < before
    return key > after or key < before


def distance(start: int, end: int, bits: int) -> int:
    """How far `end` lies clockwise from `start`: 0 to 2^bits − 1."""
    return (end - start) & ((1 << bits) - 1)


@dataclass(frozen=True, slots=True)
class Arc:
    """The identifiers clockwise from `after`, without it, to `last`, with it.

    Where both are equal the arc is the whole circle: that of a peer alone in its ring."""

    after: WideInt
    last: WideInt

    def __contains__(self, key: int) -> bool:
        if self.after < self.last:
            return self.after < key <= self.last
        return key > self.after or key <= self.last

    @property
    def is_whole(self) -> bool:
        """Whether every identifier belongs to it."""
        return self.after == self.last

    def length(self, bits: int) -> int:
        """How many identifiers it has: 1 to 2^bits."""
        return distance(self.after, self.last, bits) or 1 << bits

    def overlaps(self, other: Arc) -> bool:
        """Whether some identifier belongs to both."""
        return self.last in other or other.last in self

    def segments(self, bits: int) -> tuple[tuple[int, int], ...]:
        """The same identifiers as closed intervals `(first, last)` in rising order, one or two
        (the arc over 0)."""
        top = (1 << bits) - 1
        if self.is_whole:
            return ((0, top),)
        if self.after < self.last:
            return ((self.after + 1, self.last),)
        upper = ((self.after + 1, top),) if self.after < top else ()
        return ((0, self.last), *upper)

    def __str__(self) -> str:
        return "the whole ring" if self.is_whole else f"({self.after:x}, {self.last:x}]"
