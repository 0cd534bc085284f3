"""Two pieces of work at once, so that what one leaves idle the other has.

Law of this file: threads that wait for Spark, and nothing else; a piece of work that fails is told
of when the other has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

First = TypeVar("First")
Second = TypeVar("Second")


def together(first: Callable[[], First], second: Callable[[], Second]) -> tuple[First, Second]:
    """What both come to.  While the driver plans the queries of one, tasks of the other run."""
    with ThreadPoolExecutor(1, "study") as beside:
        other = beside.submit(second)
        mine = first()
    return mine, other.result()
