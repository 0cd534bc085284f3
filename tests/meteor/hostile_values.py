"""Values that nobody should give, and what becomes of them at a door: taken for what they say, or
refused in words that name the parameter."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

import meteor


class Whole(enum.IntEnum):
    ONE = 1


class Named(str, enum.Enum):  # noqa: UP042 - a StrEnum writes itself as its text
    """Members equal to a text whose `str` is another one, with a dot in it."""

    LAMP = "lamp"


VALUES: Final[dict[str, Any]] = {
    "none": None,
    "true": True,
    "minus one": -1,
    "zero": 0,
    "one": 1,
    "no number": math.nan,
    "endless": math.inf,
    "larger than a float": 10**400,
    "smaller than a float": -(10**400),
    "more digits than Python writes": 10**5000,
    "complex": 1j,
    "no text": "",
    "text": "a",
    "half a character": "\ud800",
    "two lines": "a\r\nb: c",
    "long text": "a" * 2_000_000,
    "no bytes": b"",
    "bytes": b"x",
    "object": object(),
    "list": [],
    "list of a number": [1],
    "mapping": {},
    "mapping of half a character": {"a": "\ud800"},
    "member": Named.LAMP,
    "numpy's text": np.str_("lamp"),
    "whole": Whole.ONE,
    "numpy's float": np.float64(5),
    "numpy's short float": np.float32(5),
    "numpy's integer": np.int64(5),
    "numpy's truth": np.True_,
    "numpy's no number": np.float64("nan"),
    "array": np.array([1, 2]),
    "decimal": Decimal(5),
    "no decimal": Decimal("sNaN"),
    "fraction": Fraction(1, 2),
    "span of time": timedelta(seconds=5),
    "function": len,
}


def refused(name: str, attempt: Callable[[], Any]) -> bool:
    """Whether it is refused well; fails for a refusal from deep inside."""
    try:
        attempt()
    except (meteor.MeteorError, ValueError, TypeError) as error:
        kind, said = type(error), str(error)
    else:
        return False
    assert issubclass(kind, meteor.MeteorError) or name in said, f"{kind}: {said[:200]}"
    assert 0 < len(said) < 1000, f"{len(said)} characters"
    return True


def check(name: str, taken: set[str], attempt: Callable[[Any], Any]) -> None:
    """Every value that says nothing is refused well, and no other one."""
    wrong = []
    for label, value in VALUES.items():
        try:
            if refused(name, lambda value=value: attempt(value)) is (label in taken):
                wrong.append(f"{label}: {'refused' if label in taken else 'accepted'}")
        except Exception as error:
            wrong.append(f"{label}: {type(error).__name__}: {str(error)[:200].splitlines()[0]}")
    assert not wrong, "\n".join(wrong)
