"""The systems of the study: each a number of peers, the profiles that they keep, and a placement.

Law of this file: plain values, no Spark.  With proportional profiles a smaller system keeps the
first of them, as many a peer as the largest does (report chapter 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.spark.growth import PLACEMENTS, Placement
from sim.spark.rings import Numbers, Rings
from sim.spark.visits import Flags


@dataclass(frozen=True, slots=True)
class System:
    """One ring and what it keeps."""

    number: int
    peers: int
    profiles: int
    placement: Placement


def systems_of(peers: Sequence[int], profiles: int, *, fixed_profiles: bool) -> list[System]:
    """Both placements of each size.  Raises ValueError for sizes that are none, or too few
    profiles for the smallest."""
    sizes = sorted(set(peers))
    if not sizes or sizes[0] < 1:
        raise ValueError(f"peers are {list(peers)}: at least 1 each is wanted")
    found: list[System] = []
    for size in sizes:
        stored = profiles if fixed_profiles else profiles * size // sizes[-1]
        if stored < 1:
            raise ValueError(f"{profiles:,} profiles are none for a ring of {size:,} peers")
        for placement in PLACEMENTS:
            found.append(System(len(found), size, stored, placement))
    return found


@dataclass(frozen=True, slots=True)
class Overlay:
    """What a kernel needs to know of all systems: their rings, and how far their profiles go."""

    rings: Rings
    """By system's number."""
    limits: Numbers
    """By system: the draw behind its last profile."""

    def stored(self, system: int, drawn: Numbers) -> Flags:
        """Which of some profiles a system keeps."""
        kept: Flags = drawn < self.limits[system]
        return kept

    def places(self, system: int, indexes: Numbers) -> Numbers:
        """Which peer of a system owns each index, by its place in the ring."""
        places: Numbers = self.rings.owners_in(system, indexes) - self.rings.begins[system]
        return places
