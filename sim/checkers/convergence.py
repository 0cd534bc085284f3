"""After healing there is one ideal ring, within `IDEAL_WITHIN_S` (literature.md section 3.3).

Law of this file: pure; the ideal ring is made by sorting (`chord.ideal_ring`), not by the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from chord import Contact, ideal_ring

IDEAL_WITHIN_S: Final = 30.0
"""How long a ring may take to be ideal once nothing disturbs it any more."""


@dataclass(frozen=True, slots=True)
class Pointers:
    """What one member says of its neighbours."""

    predecessor: Contact | None
    successors: tuple[Contact, ...]


def flaws(members: Mapping[Contact, Pointers | None], successor_count: int) -> list[str]:
    """How the pointers differ from the ideal; None stands for a living peer that is no member."""
    found = [f"{who} is no member" for who, pointers in members.items() if pointers is None]
    for place in ideal_ring(members, successor_count):
        pointers = members[place.contact]
        if pointers is None:
            continue
        if pointers.predecessor != place.predecessor:
            found.append(f"{place.contact}: the predecessor is {pointers.predecessor}")
        if pointers.successors != place.successors:
            listed = ", ".join(str(contact) for contact in pointers.successors)
            found.append(f"{place.contact}: the successors are {listed}")
    return found
