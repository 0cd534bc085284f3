"""What an heir was told of one interval, and by whom.

Law of this file: a plain record; what follows from it is `meteor.copies.takeover`'s.  Who went to
another place of the ring speaks for what it had under the identifier of then (DESIGN section 2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from chord import Contact
from meteor.copies.evidence import Evidence
from meteor.copies.footing import Kept
from meteor.copies.takeover import Step
from meteor.keeping.holdings import Intervals
from meteor.wire.operations import HeardOf
from meteor.wire.view import ViewKey
from squid import Interval


@dataclass(slots=True)
class Found:
    """What asking for an interval brought."""

    interval: Interval
    holders: list[tuple[Contact, Intervals]] = field(default_factory=list)
    """Who answers for some of it."""
    lost: Intervals = ()
    """Of what of it these do not know the past."""
    kept: Kept = None
    """What the asker kept for others as it asked."""
    evidence: list[Evidence] = field(default_factory=list)
    gifts: dict[ViewKey, Contact] = field(default_factory=dict)
    """Views that begin by what a peer gave that does not know of it: by whom."""
    answered: dict[int, Contact] = field(default_factory=dict)
    """By identifier."""
    forgetful: set[int] = field(default_factory=set)
    """Whose journal has lost something."""
    born: dict[int, int] = field(default_factory=dict)
    """Which of their incarnations began it."""
    heard: dict[Contact, tuple[HeardOf, ...]] = field(default_factory=dict)
    """How late an epoch those who answered have heard of."""
    awaited: Intervals = ()
    """What others are just taking over."""
    tried: set[tuple[ViewKey, int]] = field(default_factory=set)
    """Views, and in which epochs of theirs, that never began, as their primaries say themselves."""
    passed_over: set[tuple[ViewKey, int]] = field(default_factory=set)
    """The same of next epochs of what these primaries had."""
    refused: set[int] = field(default_factory=set)
    everybody: bool = True
    """Whether everybody asked either answered, or is dead."""
    conclusive: bool = True
    """Whether everybody asked either answered, having all of its own arc, or is dead."""
    names: dict[int, Contact] = field(default_factory=dict)
    """Identifiers that peers had at other places of the ring, and these peers."""
    is_twins: bool = False
    """Whether somebody knows of a later life of the asker at another address: what that has is not
    to be taken over, nor is what was before it the last word (`chord.making_way`)."""

    def note_names(self, contact: Contact, remembering: Iterable[Contact]) -> None:
        """A peer answers for itself as it was, under names of which it remembers something, where
        nobody does who has one of these identifiers now.  That it remembers nothing under another
        one says nothing: it laid that down as it left."""
        for one in remembering:
            if one.id not in self.answered:
                self.answered[one.id], self.names[one.id] = one, contact
                self.born[one.id] = self.born[contact.id]
                self.forgetful |= {one.id} if contact.id in self.forgetful else set()

    def without_names(self, steps: Iterable[Step]) -> list[Step]:
        """The same steps, with sources as they are to be asked now."""
        return [
            replace(step, sources=tuple(dict.fromkeys(self._now(one) for one in step.sources)))
            for step in steps
        ]

    def dead(self, others: Iterable[int]) -> set[int]:
        """Who refused the dial, and these others; nobody who answers under another identifier."""
        return (self.refused | set(others)) - self.names.keys()

    def _now(self, source: Contact) -> Contact:
        named = self.names.get(source.id)
        return named if named is not None and named.address == source.address else source
