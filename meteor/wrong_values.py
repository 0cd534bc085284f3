"""Wrong values as errors repeat them.

Law of this file: pure.  Whatever somebody gave, saying so is short and never fails.
"""

from __future__ import annotations

from typing import Final

SAID_MAX: Final = 80
"""Characters of a wrong value that an error repeats."""
SAID_BITS: Final = 256
"""A longer integer is said in base 16: Python writes none of some thousand decimal digits."""


def said(value: object) -> str:
    """The value as one writes it in code, cut where it is long."""
    is_long = isinstance(value, int) and value.bit_length() > SAID_BITS
    text = f"{value:#x}" if is_long else repr(value)
    return text if len(text) <= SAID_MAX else f"{text[:SAID_MAX]}..."
