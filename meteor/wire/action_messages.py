"""What peers say about an application's action, and what its poster gets of each run.

Law of this file: only frozen values; new fields are added at the end, with defaults.
"""

from __future__ import annotations

from chord import Contact, dataclass
from meteor.wire.messages import WireInterval


@dataclass(frozen=True, slots=True)
class Willing:
    """The body of a report: the sender answers for these intervals of an action's region."""

    intervals: tuple[WireInterval, ...]


@dataclass(frozen=True, slots=True)
class Perform:
    """Run the action of this document over what you report in these intervals, once.  The reply
    is `Performed`."""

    document: bytes
    stem: str
    version: int
    owner: str
    intervals: tuple[WireInterval, ...]
    issued_ms: int = 0
    """When its sender signed it, by his clock; 0 where nobody did."""


@dataclass(frozen=True, slots=True)
class Performed:
    """What became of `Perform` at one peer."""

    done: tuple[WireInterval, ...]
    """The intervals that the run speaks for: those asked for, without what is not held any more."""
    matches: int = 0
    """Over how many matches it ran."""
    has_result: bool = False
    data: bytes = b""
    trouble: str = ""
    """Why it did not run, or what it raised; empty when all went well."""
    known: tuple[str, ...] | None = None
    """The actions that this peer has, when the one asked for is not among them."""


@dataclass(frozen=True, slots=True)
class ActionResult:
    """One peer's result on its way to the poster, as the blob of a `Found`."""

    peer: Contact
    intervals: tuple[WireInterval, ...]
    matches: int
    data: bytes


MESSAGES: tuple[type, ...] = (Willing, Perform, Performed, ActionResult)
