"""Moments as text and as integer milliseconds since the Unix epoch.

Law of this file: pure arithmetic, no clock is read.  RFC 3339 date-times with their offset, or a
date alone (midnight UTC); a finer fraction of a second is cut off.
"""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction
from math import floor
from typing import Final

from squid.plain import plain_number

_RFC3339: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"  # year, month, day
    r"(?:[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"  # hour, minute, second, fraction
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2})))?"  # UTC, or the offset east of it
)
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_DAY_MS: Final = 86_400_000
_FARTHEST_MS: Final = (1 << 53) - 1
"""Beyond this a double no longer holds every millisecond."""


def milliseconds(moment: str | float) -> int | None:
    """RFC 3339 text or Unix seconds in milliseconds, rounded down; None when it is neither, or too
    far away."""
    if isinstance(moment, str):
        text = moment.strip()
        return _from_seconds(float(text)) if _NUMBER.fullmatch(text) else _from_rfc3339(text)
    return None if isinstance(moment, bool) else _from_seconds(moment)


def _from_seconds(seconds: float) -> int | None:
    if not abs(seconds) <= _FARTHEST_MS / 1000:  # so written that NaN is refused as well
        return None
    # a decimal of seconds is meant as written: 1.001 is 1001 ms, though its double lies below
    return floor(Fraction(repr(plain_number(seconds))) * 1000)


def rfc3339(moment_ms: int) -> str | None:
    """Milliseconds since the epoch as RFC 3339 text in UTC; None outside the years 1 to 9999."""
    days, rest = divmod(moment_ms, _DAY_MS)
    if not 1 <= days + _EPOCH_DAY <= date.max.toordinal():
        return None
    seconds, fraction = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    tail = f".{fraction:03}" if fraction else ""
    day = date.fromordinal(days + _EPOCH_DAY).isoformat()
    return f"{day}T{hour:02}:{minute:02}:{second:02}{tail}Z"


def _from_rfc3339(text: str) -> int | None:
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    fraction, sign, offset_hour, offset_minute = match.groups()[6:]
    east = int(offset_hour or 0) * 60 + int(offset_minute or 0)
    in_range = hour < 24 and minute < 60 and second <= 60  # 60 is a leap second
    if not in_range or int(offset_hour or 0) > 23 or int(offset_minute or 0) > 59:
        return None
    try:
        days = date(year, month, day).toordinal() - _EPOCH_DAY
    except ValueError:
        return None
    minutes = hour * 60 + minute - (-east if sign == "-" else east)
    thousandths = int((fraction or "0")[:3].ljust(3, "0"))
    return days * _DAY_MS + (minutes * 60 + second) * 1000 + thousandths
