"""How long what is posted lives, by action.

Law of this file: pure; seconds.  A lifetime is finite, not negative and at most 30 days: more
would outlive the tombstones that keep a deleted profile deleted (SPEC section 4, DESIGN section 4).
"""

from __future__ import annotations

import math
from typing import Final

from meteor.wrong_values import is_number, said
from squid import LimitExceeded

DATA_TTL_S: Final = 3600.0
INTEREST_TTL_S: Final = 300.0
"""Of interests and watches; renewed at a third of it while the client lives."""
TIMEOUT_S_MAX: Final = 86_400.0
"""The longest that a caller may wait for one answer."""

TTL_S_MAX: Final = 30 * 86_400.0

_DEFAULTS: Final = {
    "store": DATA_TTL_S,
    "notify_data": INTEREST_TTL_S,
    "notify_interest": INTEREST_TTL_S,
}


class DurationRefused(LimitExceeded):
    """A ttl or a timeout that is not a number of seconds from 0 (a timeout: above it) to its
    limit."""

    def __str__(self) -> str:
        return (
            f"{self.name}: {said(self.value)} is not between 0 and {self.limit} seconds "
            f"({_LIMITS.get(self.name, 'the limit')}); give "
            "seconds, or leave it out for the default"
        )


_LIMITS: Final = {"ttl": "30 days", "timeout": "a day"}


def default_ttl_s(action: str) -> float:
    """The lifetime of an action's profile when its poster names none; 0 is: answered, not kept."""
    return _DEFAULTS.get(action, 0.0)


def checked_ttl_s(action: str, ttl: float | None) -> float:
    """The lifetime in seconds that a post asks for; raises `LimitExceeded`."""
    if ttl is None:
        return default_ttl_s(action)
    return _checked_s("ttl", ttl, TTL_S_MAX)


def checked_timeout_s(timeout: float) -> float:
    """The seconds that a caller is willing to wait; raises `LimitExceeded`."""
    seconds = _checked_s("timeout", timeout, TIMEOUT_S_MAX)
    if seconds == 0:
        raise DurationRefused("timeout", timeout, round(TIMEOUT_S_MAX))
    return seconds


def check_wait_s(timeout: object) -> None:
    """Raises `ValueError` for what is no number of seconds to wait, which may be any, or none at
    all: a deadline that is not a number compares with no other one, and would hold up those."""
    if timeout is None:
        return
    try:
        is_wait = is_number(timeout) and not math.isnan(timeout)
    except OverflowError:  # an integer that is larger than any deadline
        is_wait = False
    if not is_wait:
        raise ValueError(f"timeout: {said(timeout)} is no number of seconds; None waits for good")


def _checked_s(name: str, value: object, limit_s: float) -> float:
    if not (is_number(value) and 0 <= value <= limit_s):
        raise DurationRefused(name, value, round(limit_s))
    return float(value)
