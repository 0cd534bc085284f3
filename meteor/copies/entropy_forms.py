"""The forms in which a comparison travels, and what of them is refused.

Law of this file: pure.  What another peer sent becomes values that can be relied on, or `Malformed`
says what is wrong with it: spans lie in what is compared, pieces tile their span, lists are no
longer than was agreed.  So no answer makes a comparison go back, or leave its intervals.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from sys import byteorder
from typing import Final

from chord import MeteorError
from meteor.keeping.fingerprints import Section, Span
from meteor.keeping.key_tree import Digest, Piece
from meteor.keeping.placement import MOVED, Key
from meteor.keeping.standing import FINGERPRINT_BITS, Standing, fingerprint, standing_of
from meteor.wire.entropy_messages import RecordState, WirePiece, WireSpan
from meteor.wire.operations import Carried
from meteor.wire.record_id import split_id, stem_of
from squid import HilbertCurve, Interval, Intervals, merge

INTERVALS_MAX: Final = 64
"""In one comparison."""
SPANS_MAX: Final = 64
"""In one message: with the next two its answer has at most 64 KiB."""
LISTED_MAX: Final = 64
"""Records of a span that are listed; above, it is cut into pieces."""
PIECES_MAX: Final = 16
STATES_MAX: Final = 256
"""Records that are described, or asked for, in one message."""

_FINGERPRINT_BYTES: Final = FINGERPRINT_BITS // 8


class Malformed(MeteorError):
    """What another peer said of its records cannot be."""


class PositionForm:
    """Positions of a section as bytes: the first ones, without the zeros at the end."""

    def __init__(self, curve: HilbertCurve) -> None:
        self._bits = curve.index_bits + FINGERPRINT_BITS + 1
        self._width = (self._bits + 7) // 8
        self._spare = 8 * self._width - self._bits

    def pack(self, position: int) -> bytes:
        """The bytes of a position; none of the first, and none of what is after the last."""
        if position >> self._bits:
            return b""
        return (position << self._spare).to_bytes(self._width, "big").rstrip(b"\0")

    def read(self, packed: bytes) -> int:
        """The position; raises `Malformed`."""
        if len(packed) > self._width:
            raise Malformed(f"a position has at most {self._width} bytes, not {len(packed)}")
        whole = int.from_bytes(packed.ljust(self._width, b"\0"), "big")
        if whole & (1 << self._spare) - 1:
            raise Malformed(f"a position has {self._bits} bits, and zeros behind them")
        return whole >> self._spare

    def pack_span(self, span: Span) -> WireSpan:
        """A span as it travels."""
        return WireSpan(self.pack(span[0]), self.pack(span[1]))

    def read_span(self, packed: WireSpan) -> Span:
        """The span, wherever it lies; raises `Malformed`."""
        return self.read(packed.first), self.read(packed.end) or 1 << self._bits

    def pack_piece(self, piece: Piece) -> WirePiece:
        """A piece as it travels."""
        return WirePiece(self.pack(piece.first), piece.digest.records, piece.digest.total)

    def read_pieces(self, span: Span, packed: Sequence[WirePiece]) -> list[Piece]:
        """The pieces that tile a span; raises `Malformed` when they do not."""
        if not 2 <= len(packed) <= PIECES_MAX:
            raise Malformed(f"a span is cut into 2 to {PIECES_MAX} pieces, not {len(packed)}")
        borders = [*(self.read(piece.first) for piece in packed), span[1]]
        if borders[0] != span[0] or any(low >= high for low, high in pairwise(borders)):
            raise Malformed("the pieces of a span do not follow one another from its first on")
        return [
            Piece(low, high, Digest(piece.records, piece.total))
            for (low, high), piece in zip(pairwise(borders), packed, strict=True)
        ]


def checked_intervals(intervals: Sequence[Interval], curve: HilbertCurve) -> Intervals:
    """The intervals themselves; raises `Malformed` unless they are some, in order, on the curve."""
    normal = merge(intervals)
    if not 1 <= len(intervals) <= INTERVALS_MAX or normal != tuple(intervals):
        raise Malformed(f"1 to {INTERVALS_MAX} intervals are compared, in order and apart")
    if normal[0][0] < 0 or normal[-1][1] >= curve.size:
        raise Malformed("the intervals lie outside the curve")
    return normal


def checked_span(span: Span, section: Section) -> Span:
    """The span itself; raises `Malformed` unless it lies in a section."""
    if not section.contains(span):
        raise Malformed("a span lies outside the intervals that are compared")
    return span


def pack_fingerprints(some: Iterable[int]) -> bytes:
    """Fingerprints as they travel."""
    packed = array("Q", some)
    if byteorder == "little":
        packed.byteswap()
    return packed.tobytes()


def read_fingerprints(packed: bytes, most: int) -> list[int]:
    """The fingerprints; raises `Malformed` for more than `most`, or parts of one."""
    if len(packed) % _FINGERPRINT_BYTES or len(packed) > most * _FINGERPRINT_BYTES:
        raise Malformed(f"{len(packed)} bytes are not up to {most} fingerprints")
    some = array("Q", packed)
    if byteorder == "little":
        some.byteswap()
    return some.tolist()


def state_of(carried: Carried) -> RecordState:
    """What is said of a record instead of sending it."""
    standing = standing_of(carried)
    return RecordState(carried.owner, carried.id, standing.kind, standing.version, standing.renewed)


def key_of_state(state: RecordState) -> Key:
    """The identity of what is described."""
    return state.owner, state.id if state.kind == MOVED else stem_of(state.id)


def standing_of_state(state: RecordState) -> Standing:
    """Where what is described stands."""
    return Standing(state.kind, state.version, state.renewed)


def fingerprint_of_state(state: RecordState) -> int:
    """The fingerprint of what is described."""
    return fingerprint(state.owner, state.id, standing_of_state(state))


def belongs(carried: Carried, section: Section, curve: HilbertCurve) -> bool:
    """Whether a record that came lives in what is compared; False for what cannot be read."""
    try:
        _, box = split_id(carried.id, curve)
    except MeteorError:
        return False
    return section.holds(box)
