"""What somebody makes of a journal's content while the file is still being checked.

Law of this file: nobody has it before the check has found nothing.  A check of a hundred thousand
records takes SQLite as long as Python takes to read them; one after the other, a restart would wait
for the sum of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from meteor.journal.journal import Scan

MadeT = TypeVar("MadeT")


@dataclass(slots=True)
class FirstLook(Generic[MadeT]):
    """Asked for when a journal is opened; without an effect where its file is open already."""

    make: Callable[[Scan], MadeT]
    """Pure; called in a thread of its own."""
    made: MadeT | None = None
    """What it made of what the journal holds.  None where nobody looked, or the file is damaged:
    then `Journal.scan` tells."""
