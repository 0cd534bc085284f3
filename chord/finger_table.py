"""Fingers by node distance: entry i is 2^i peers away, wherever the peers sit on the circle.

Law of this file: finger[0] is the successor and finger[i] is finger[i−1] of the peer at
finger[i−1], so one question to one peer fills one entry.  Fingers make lookups short, never right:
nothing here takes part in correctness.  Chord# (Schütt et al. 2008); literature.md section 2.4.
"""

from __future__ import annotations

from dataclasses import dataclass

from chord.contact import Contact, WideInt

LEVELS_MAX = 64
"""No ring has more than 2^64 peers; bounds what a hostile answer can make us keep."""


@dataclass(frozen=True, slots=True)
class Finger:
    """A far contact, and the identifier of its predecessor as last heard: what it owns."""

    contact: Contact
    predecessor_id: WideInt | None = None


class FingerTable:
    """The fingers of one peer from level 1 up; level 0 is its successor list's first entry."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[int, Finger] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> tuple[Finger, ...]:
        """The fingers known, nearest first."""
        return tuple(self._entries[level] for level in sorted(self._entries))

    def get(self, level: int) -> Finger | None:
        """The finger of a level, None while unknown."""
        return self._entries.get(level)

    def put(self, level: int, finger: Finger) -> bool:
        """Set one level (1 to 63); whether another contact stood there."""
        if not 1 <= level < LEVELS_MAX:
            raise ValueError(f"finger level {level}: 1 to {LEVELS_MAX - 1} are possible")
        old = self._entries.get(level)
        self._entries[level] = finger
        return old is None or old.contact != finger.contact

    def note_predecessor(self, level: int, predecessor_id: int | None) -> None:
        """Remember what the finger of a level said of its own predecessor."""
        entry = self._entries.get(level)
        if entry is not None:
            self._entries[level] = Finger(entry.contact, predecessor_id)

    def cut(self, level: int) -> bool:
        """Forget that level and all above; whether there were any."""
        above = [known for known in self._entries if known >= level]
        for known in above:
            del self._entries[known]
        return bool(above)

    def drop(self, contact: Contact) -> bool:
        """Lose a dead or departed contact; whether it stood in the table."""
        levels = [n for n, entry in self._entries.items() if entry.contact.ended_with(contact)]
        for level in levels:
            del self._entries[level]
        return bool(levels)

    def install(self, fingers: tuple[Finger, ...]) -> None:
        """Become these fingers, of levels 1, 2 and so on."""
        self._entries = dict(enumerate(fingers[: LEVELS_MAX - 1], start=1))
