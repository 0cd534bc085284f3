"""Wrong values: told from right ones, and as errors repeat them.

Law of this file: pure.  Whatever somebody gave, saying so is short and never fails.
"""

from __future__ import annotations

from numbers import Integral
from typing import Final

import numpy as np

SAID_MAX: Final = 80
"""Characters of a wrong value that an error repeats."""
SAID_BITS: Final = 256
"""A longer integer is said in base 16: Python writes none of some thousand decimal digits."""


def said(value: object) -> str:
    """The value as one writes it in code, cut where it is long."""
    is_long = isinstance(value, int) and value.bit_length() > SAID_BITS
    text = f"{value:#x}" if is_long else repr(value)
    return text if len(text) <= SAID_MAX else f"{text[:SAID_MAX]}..."


def checked_truth(name: str, value: object) -> bool:
    """True or False itself, numpy's too; raises `TypeError`: nobody means by "false" what it is
    worth."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is True or False, not {said(value)}")
    return bool(value)


def checked_whole(name: str, value: object) -> int:
    """The whole number, of any kind; raises `TypeError` for what is none, as truth is none."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} is a whole number, not {said(value)}")
    return int(value)


def check_kind(name: str, value: object, kind: type | tuple[type, ...]) -> None:
    """Raises `TypeError` for what is neither of this kind nor None."""
    if value is not None and not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(one.__name__ for one in kinds)
        raise TypeError(f"{name}: give a {wanted}, or leave it out, not {said(value)}")
