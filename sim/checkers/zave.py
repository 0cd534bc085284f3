"""What must be true of a ring at every moment: Zave's invariant and what follows from it.

Law of this file: pure functions of a snapshot; they share no code with the protocol.  A snapshot
gives each living member its successor list as identifiers; shorter lists stand for padded ones, as
a placeholder right behind the last entry names nobody and skips nobody.  literature.md section 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

Snapshot = Mapping[int, Sequence[int]]
"""Living member → the identifiers in its successor list, nearest first, dead ones included."""


def between(after: int, key: int, before: int) -> bool:
    """Strictly between, clockwise; everything but `after` where both ends are equal."""
    if after < before:
        return after < key < before
    return key > after or key < before


def best_successors(snapshot: Snapshot) -> dict[int, int | None]:
    """The first living entry of each member's list; None where there is none."""
    return {
        member: next((entry for entry in entries if entry in snapshot), None)
        for member, entries in snapshot.items()
    }


def principals(snapshot: Snapshot) -> set[int]:
    """The members that no adjacent pair of any member's extended list skips."""
    candidates = set(snapshot)
    for member, entries in snapshot.items():
        extended = [member, *entries]
        for left, right in pairwise(extended):
            candidates -= {one for one in candidates if between(left, one, right)}
    return candidates


def ring_members(best: Mapping[int, int | None]) -> set[int]:
    """The members that come back to themselves by best successors."""
    return {member for member in best if member in _path(member, best)[1:]}


def violations(snapshot: Snapshot, successor_count: int) -> list[str]:
    """Which parts of the invariant, and which of its seven consequences, do not hold."""
    best = best_successors(snapshot)
    ring = ring_members(best)
    sound = principals(snapshot)
    found = [f"{m:x} has no living successor" for m, b in sorted(best.items()) if b is None]
    if len(sound) < successor_count + 1:
        found.append(f"{len(sound)} principals, {successor_count + 1} are needed")
    found += _list_violations(snapshot)
    found += [f"(c) principal {p:x} is not on the ring" for p in sorted(sound - ring)]
    found += _ring_violations(best, ring)
    found += [
        f"(g) {member:x} does not reach the ring"
        for member in sorted(set(snapshot) - ring)
        if not ring.intersection(_path(member, best))
    ]
    return found


def _list_violations(snapshot: Snapshot) -> list[str]:
    """(a) lists are ordered, (b) without duplicates."""
    found = []
    for member, entries in sorted(snapshot.items()):
        extended = [member, *entries]
        if len(set(extended)) < len(extended):
            found.append(f"(b) the list of {member:x} has duplicates")
        triples = (
            (extended[i], extended[j], extended[k])
            for i in range(len(extended))
            for j in range(i + 1, len(extended))
            for k in range(j + 1, len(extended))
        )
        if not all(between(*triple) for triple in triples):
            found.append(f"(a) the list of {member:x} is not in order")
    return found


def _ring_violations(best: Mapping[int, int | None], ring: set[int]) -> list[str]:
    """(d) there is a ring, (e) only one, (f) and nobody on it is passed over."""
    if not ring:
        return ["(d) there is no ring"] if best else []
    found = []
    first = min(ring)
    if not ring <= {first, *_path(first, best)}:
        found.append("(e) there is more than one ring")
    for member in sorted(ring):
        successor = best[member]
        if successor is not None and any(between(member, one, successor) for one in ring):
            found.append(f"(f) {member:x} passes over a member of the ring")
    return found


def _path(start: int, best: Mapping[int, int | None]) -> list[int]:
    """The members met from `start` by best successors, until one repeats or there is none."""
    path = [start]
    while True:
        step = best[path[-1]]
        if step is None:
            return path
        if step in path:
            return [*path, step]
        path.append(step)
