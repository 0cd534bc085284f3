"""The ideal ring of given contacts: what every ring becomes when nothing happens any more.

Law of this file: pure; by sorting alone, sharing no code with the protocol, so that it can be its
oracle and can start large rings at once.  literature.md section 3.3, "ideal".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chord.contact import Contact
from chord.finger_table import Finger


@dataclass(frozen=True, slots=True)
class IdealPlace:
    """The pointers of one member, as `ChordNode.install` takes them."""

    contact: Contact
    predecessor: Contact | None
    successors: tuple[Contact, ...]
    fingers: tuple[Finger, ...]


def ideal_ring(contacts: Iterable[Contact], successor_count: int) -> list[IdealPlace]:
    """The place of each contact, by rising identifier.

    Raises ValueError where two have the same identifier."""
    members = sorted(contacts, key=lambda contact: contact.id)
    count = len(members)
    if len({member.id for member in members}) != count:
        raise ValueError("ideal ring: two contacts have the same identifier")
    places = []
    for at, member in enumerate(members):
        successors = tuple(
            members[(at + step) % count] for step in range(1, min(successor_count, count - 1) + 1)
        )
        fingers = tuple(
            Finger(members[(at + 2**level) % count], members[(at + 2**level - 1) % count].id)
            for level in range(1, (count - 1).bit_length())
        )
        predecessor = members[at - 1] if count > 1 else None
        places.append(IdealPlace(member, predecessor, successors, fingers))
    return places
