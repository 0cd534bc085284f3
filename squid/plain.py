"""Texts and numbers as nothing but that.

Law of this file: pure.  The members of an enumeration, and numpy's texts and floats, are equal to
plain ones and write themselves otherwise: what is kept, compared by its bytes or sent is plain.
"""

from __future__ import annotations


def plain_text(text: str) -> str:
    """The same characters, whatever kind of text they came as."""
    return str.__str__(text)  # str() of some says their member's name


def plain_number(number: float) -> float:
    """The same number, whatever kind of integer or float it came as."""
    return int(number) if isinstance(number, int) else float(number)
