"""Wrong values: told from right ones, and as errors repeat them.

Law of this file: pure.  Whatever somebody gave, saying so is short and never fails.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Final, TypeGuard

import numpy as np

SAID_MAX: Final = 80
"""Characters of a wrong value that an error repeats."""
SAID_BITS: Final = 256
"""A longer integer is said in base 16: Python writes none of some thousand decimal digits."""

NUMBER_MAX: Final = 1 << 53
"""The largest number of a configuration: event loops fail with times that are much longer."""


def said(value: object) -> str:
    """The value as one writes it in code, cut where it is long."""
    is_long = isinstance(value, int) and value.bit_length() > SAID_BITS
    text = f"{value:#x}" if is_long else repr(value)
    return text if len(text) <= SAID_MAX else f"{text[:SAID_MAX]}..."


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a real number of any kind, numpy's too; truth is none."""
    return isinstance(value, Real) and not isinstance(value, bool)


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


def check_path(name: str, value: object) -> None:
    """Raises `TypeError` for what is no path, `ValueError` for one that no file can have: empty
    text would be taken for the directory that one is in."""
    if not isinstance(value, str | Path):
        raise TypeError(f"{name}: give a path, not {said(value)}")
    if not value or "\0" in str(value):
        raise ValueError(f"{name}: {said(value)} is no path of a file or directory")


def checked_number(name: str, value: object, *, may_be_zero: bool = True) -> float:
    """The number, of any kind; raises `TypeError` for what is none, and `ValueError` for one that
    is below 0, or 0 where that may not be, or beyond `NUMBER_MAX`."""
    if not is_number(value):
        raise TypeError(f"{name} is a number, not {said(value)}")
    is_enough = value > 0 or (value == 0 and may_be_zero)
    if not (is_enough and value <= NUMBER_MAX):
        least = "from" if may_be_zero else "above"
        raise ValueError(f"{name}: {said(value)} is not {least} 0 and at most 2**53")
    return float(value)


def check_numbers(of: Any, may_be_zero: Collection[str]) -> None:
    """Look at all the numbers of a dataclass: raises `TypeError` for a field that holds none, and
    `ValueError` for one that is below 0, or 0 and not among these names, or beyond `NUMBER_MAX`.

    A pause of 0 that is doubled each time stays one, and nobody rests."""
    for field in fields(of):
        name, value = field.name, getattr(of, field.name)
        if field.type == "int":
            checked_whole(name, value)
        elif field.type != "float":
            continue
        checked_number(name, value, may_be_zero=name in may_be_zero)
