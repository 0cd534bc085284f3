"""Two pieces of work at once, so that what one leaves idle the other has.

Law of this file: a thread that waits for Spark, and nothing else; a piece of work that fails is
told of when the other has ended.  One thread serves the whole process: each that talks to the JVM
has a connection of its own, which a thread that ends leaves for the garbage collector to close.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Final, TypeVar

First = TypeVar("First")
Second = TypeVar("Second")
_BESIDE: Final = ThreadPoolExecutor(1, "study")


def together(first: Callable[[], First], second: Callable[[], Second]) -> tuple[First, Second]:
    """What both come to.  While the driver plans the queries of one, tasks of the other run.
    Not to be called by a piece of work."""
    other = _BESIDE.submit(second)
    try:
        mine = first()
    finally:
        wait([other])
    return mine, other.result()
