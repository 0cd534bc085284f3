"""A record as the journal has it: a front, of fixed places, and behind it the record as it travels.

Law of this file: forms, no decisions.  The front holds what a restart needs of every record before
anybody asks for it: when it ends, where it lives, how it is told apart, and its plain profile by
column.  Numpy takes each of these from all rows at once, and the record itself is decoded when it
is asked for.  A record that has no plain profile, a tombstone, and what an earlier release wrote
have no front: their first byte is the wire version's.
"""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from typing import Final

import msgspec
import numpy as np

from arms import DATA, INTEREST, WATCH, plain_form
from meteor.wire import codec
from meteor.wire.operations import Carried
from squid import HilbertCurve

FORM: Final = 0xC1
"""The first byte of a row with a front: msgpack never uses it, and no wire version will be it."""
KINDS: Final = (DATA, INTEREST, WATCH)
"""Their places here are what the rows have."""
IS_POINT: Final = 1
IS_HIDDEN: Final = 2
HEAD: Final = np.dtype(
    [
        ("form", "u1"), ("kind", "u1"), ("flags", "u1"), ("dimensions", "u1"), ("bits", "u1"),
        ("shape_bytes", "<u2"), ("ends_bytes", "<u2"), ("shape_sum", "<u4"),
        ("ttl_ms", "<i8"), ("number", "<i8"), ("fingerprint", "<u8"),
    ]
)  # fmt: skip
"""Behind it stand the lowest index, the shape and the ends of the profile, then the record."""
_HEAD: Final = struct.Struct("<BBBBBHHIqqQ")
assert _HEAD.size == HEAD.itemsize, "what is written is what is read"
_WORD_BITS: Final = 64
_MOST_SHAPE: Final = (1 << 16) - 1


class _Inside(msgspec.Struct, array_like=True, gc=False):
    """The beginning of a document."""

    action: msgspec.Raw
    profile: bytes


_DOCUMENT: Final = msgspec.msgpack.Decoder(tuple[str, _Inside])


def index_words(curve: HilbertCurve) -> int:
    """How many words of 64 bits an index has here, the highest first."""
    return -(-curve.index_bits // _WORD_BITS)


def front(
    carried: Carried, curve: HilbertCurve, lowest: int, fingerprint: int, *, is_point: bool
) -> bytes:
    """The front of a record that lives from `lowest` on; empty where it has none."""
    packed = profile_in(carried.blob)
    form = None if packed is None else plain_form(packed)
    if form is None or carried.kind not in KINDS or (size := len(form.shape)) > _MOST_SHAPE:
        return b""
    head = _HEAD.pack(
        FORM, KINDS.index(carried.kind),
        is_point * IS_POINT | bool(carried.visible_to) * IS_HIDDEN,
        curve.dimensions, curve.bits, size, len(form.ends), zlib.crc32(form.shape),
        carried.ttl_ms, carried.number, fingerprint,
    )  # fmt: skip
    return head + lowest.to_bytes(8 * index_words(curve)) + form.shape + form.ends


def carried_in(value: bytes) -> object:
    """The record behind the front, if there is one; raises `MeteorError` for what is none."""
    if value[:1] != bytes((FORM,)):
        return codec.decode(value)
    if len(value) < _HEAD.size:
        raise codec.MalformedFrame("a row that ends within its front")
    head = _HEAD.unpack_from(value)
    words = -(-head[3] * head[4] // _WORD_BITS)
    return codec.decode(value[_HEAD.size + 8 * words + head[5] + head[6] :])


def curve_in(value: bytes) -> HilbertCurve:
    """That of a row with a front."""
    return _curve(value[3], value[4])


def profile_in(blob: bytes) -> bytes | None:
    """The packed profile of a document, by a look at nothing behind it; None where there is
    none."""
    if not blob or blob[0] != codec.WIRE_VERSION:
        return None
    try:
        _, inside = _DOCUMENT.decode(memoryview(blob)[1:])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return inside.profile


@lru_cache(maxsize=8)
def _curve(dimensions: int, bits: int) -> HilbertCurve:
    return HilbertCurve(dimensions, bits)
