"""The id of a record: `<stem>.<region>`, an identity and the way to where it lives.

Law of this file: pure.  The stem is the identity (versions, de-duplication, tombstones go by it);
the region is the box of the curve that the record was kept under, so that an id routes by itself,
also after arcs have moved (DESIGN section 4).  A region is lower-case base32 without padding of:
byte 0, then the curve index in ceil(d*b/8) bytes; or byte 1, then low and high of each dimension,
b bits each, packed.  Every other form is refused, so that one region has one text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random

from arms import ProfileError
from meteor.wrong_values import said
from squid import Box, HilbertCurve, plain_text

STEM = re.compile(r"[A-Za-z0-9_-]{1,64}")
_POINT, _BOX = 0, 1
_BASE32 = re.compile(r"[a-z2-7]+")
_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
_AS_INT_READS = str.maketrans(_DIGITS, "0123456789abcdefghijklmnopqrstuv")
"""From the digits of RFC 4648, which ids have, to those of `int(text, 32)`."""


_PAIRS = tuple(first + second for first in _DIGITS for second in _DIGITS)
"""Every ten bits as text."""


def new_stem(random: Random) -> str:
    """128 random bits as 26 characters of lower-case base32."""
    return _base32(random.randbytes(16))


def check_stem(stem: str) -> str:
    """The stem as plain text; raises `ProfileError` for what is none."""
    if not isinstance(stem, str) or STEM.fullmatch(stem) is None:
        raise ProfileError(
            f"{said(stem)} is no id: give 1 to 64 letters, digits, '_' or '-', without the region"
        )
    return plain_text(stem)


def make_id(stem: str, box: Box, curve: HilbertCurve) -> str:
    """The full id of a record that lives under `box`."""
    return f"{stem}.{_base32(_pack(box, curve))}"


def split_id(full_id: str, curve: HilbertCurve) -> tuple[str, Box]:
    """Stem and box of a full id; raises `ProfileError` for malformed or non-canonical ones."""
    if not isinstance(full_id, str):
        raise _no_full_id(full_id)
    stem, box, _ = place_of(full_id, curve)
    return stem, box


@lru_cache(maxsize=4096)
def place_of(full_id: str, curve: HilbertCurve) -> tuple[str, Box, int | None]:
    """The same, and of a point its curve index, which the id says; raises as `split_id`.

    Cached: one operation asks for the same id several times."""
    stem, dot, region = full_id.partition(".")
    if not dot:
        raise _no_full_id(full_id)
    check_stem(stem)
    place = _unpack(region, curve) if len(region) <= _text_length_max(curve) else None
    if place is None:
        raise ProfileError(f"the region of id {said(full_id)} is not one of this keyword space")
    return stem, *place


def _no_full_id(given: object) -> ProfileError:
    return ProfileError(
        f"{said(given)} is no full id: give the whole id that the post returned (receipt.id), "
        "with the dot and what follows it"
    )


def notice_id(interest: str, owner: str, stem: str, version: int) -> str:
    """The id of the notice that tells an interest of a record, whoever sends it: its owner is a
    part of it, so that nobody takes the place of another's record."""
    return f"{interest}:{stem}:{version}" + (f":{owner}" if owner else "")


def stem_of(full_id: str) -> str:
    """The part before the dot."""
    return full_id.partition(".")[0]


def _base32(raw: bytes) -> str:
    """Ten bits at once; `base64` takes twice as long."""
    spare = -8 * len(raw) % 5
    number, digits = int.from_bytes(raw, "big") << spare, (8 * len(raw) + spare) // 5
    pairs = [_PAIRS[number >> shift & 1023] for shift in range(10 * ((digits - 1) // 2), -1, -10)]
    return "".join(pairs)[digits % 2 :]


def _text_length_max(curve: HilbertCurve) -> int:
    return 2 * (2 + 2 * curve.index_bits // 8 + 1)


def _pack(box: Box, curve: HilbertCurve) -> bytes:
    if box.is_point:
        index = curve.encode(box.low)
        return bytes([_POINT]) + index.to_bytes((curve.index_bits + 7) // 8, "big")
    packed = 0
    for low, high in zip(box.low, box.high, strict=True):
        packed = ((packed << curve.bits) | low) << curve.bits | high
    return bytes([_BOX]) + packed.to_bytes((2 * curve.index_bits + 7) // 8, "big")


@lru_cache(maxsize=4096)
def _unpack(text: str, curve: HilbertCurve) -> tuple[Box, int | None] | None:
    """The box of a region's one text, and of a point its index; None for every other text.

    Read as one number of base 32, as peers that are restarted read a hundred thousand of them;
    cached, as who senses posts from one place again and again."""
    size, spare = divmod(5 * len(text), 8)
    if spare >= 5 or size < 2 or _BASE32.fullmatch(text) is None:
        return None
    number = int(text.translate(_AS_INT_READS), 32)
    if number & ((1 << spare) - 1):
        return None
    number >>= spare
    kind, number = number >> 8 * (size - 1), number & ((1 << 8 * (size - 1)) - 1)
    if kind == _POINT and size == 1 + (curve.index_bits + 7) // 8 and number < curve.size:
        point = curve.decode(number)
        return Box(point, point), number
    if kind == _BOX and size == 1 + (2 * curve.index_bits + 7) // 8:
        box = _unpack_box(number, curve)
        return None if box is None or box.is_point else (box, None)
    return None


def _unpack_box(number: int, curve: HilbertCurve) -> Box | None:
    mask = curve.side - 1
    if number >> (2 * curve.index_bits):
        return None
    low: list[int] = []
    high: list[int] = []
    for _ in range(curve.dimensions):
        high.append(number & mask)
        low.append(number >> curve.bits & mask)
        number >>= 2 * curve.bits
    if any(a > z for a, z in zip(low, high, strict=True)):
        return None
    return Box(tuple(reversed(low)), tuple(reversed(high)))
