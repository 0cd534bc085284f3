"""Who is silent and who is gone: the evidence on which ring pointers may change.

Law of this file: pure, bounded, and `now` is given.  A refused dial is proof at once; silence is
proof only after several misses and some time, as a pointer changed in error moves ownership.
Soft suspicion, which steers routing and no more, is the link's (`chord.link`).  DESIGN section 2.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from chord.contact import Contact

IN_A_ROW_S: Final = 180.0
"""Misses farther apart than this are not in a row: most contacts are asked by something else
meanwhile, and whoever closed an idle link does not know any more what came over it.  Even fingers
are asked more often."""
SILENT_MAX: Final = 1024
"""Contacts whose misses are counted: of a ring whose peers come and go for years, most are never
asked again."""


class Silence:
    """Counts the calls that a contact left unanswered in a row."""

    __slots__ = ("_misses_max", "_silence_s", "misses")

    def __init__(self, misses_max: int, silence_s: float) -> None:
        self._misses_max = misses_max
        self._silence_s = silence_s
        self.misses: dict[Contact, tuple[float, int, float]] = {}
        """Since when, how many, and when the last was asked, which is the order; empty while
        everybody answers."""

    def missed(
        self, contact: Contact, asked_s: float, now: float, heard_s: float = float("-inf")
    ) -> bool:
        """Count a call made at `asked_s` that brought nothing; whether that makes the contact
        dead: enough misses, and enough time since the first of them was asked.  Those before a
        frame that came from it at `heard_s`, whatever it said, do not count any more."""
        since, count, last_s = self.misses.pop(contact, (asked_s, 0, asked_s))
        if heard_s > since or asked_s - last_s > IN_A_ROW_S:
            since, count = asked_s, 0
        self.misses[contact] = (since, count + 1, asked_s)
        if len(self.misses) > SILENT_MAX:
            del self.misses[next(iter(self.misses))]
        return count + 1 >= self._misses_max and now - since >= self._silence_s

    def heard(self, contact: Contact) -> None:
        """Forget the misses of a contact that answered, or that is no longer asked."""
        self.misses.pop(contact, None)


class Departed:
    """Contacts that died or left lately: neighbours may still name them for a while."""

    __slots__ = ("_limit", "_memory_s", "since")

    def __init__(self, limit: int, memory_s: float) -> None:
        self._limit = limit
        self._memory_s = memory_s
        self.since: OrderedDict[Contact, float] = OrderedDict()
        """When each was last found gone; empty while nobody is."""

    def add(self, contact: Contact, now: float) -> None:
        """Remember it, instead of the one remembered longest when there are too many."""
        self.since[contact] = now
        self.since.move_to_end(contact)
        if len(self.since) > self._limit:
            self.since.popitem(last=False)

    def discard(self, contact: Contact) -> None:
        """It was heard again."""
        self.since.pop(contact, None)

    def expire(self, now: float) -> None:
        """Forget those that have been gone for longer than the memory."""
        while self.since:
            contact, since = next(iter(self.since.items()))
            if now - since < self._memory_s:
                return
            del self.since[contact]

    def __contains__(self, contact: object) -> bool:
        return contact in self.since

    def __iter__(self) -> Iterator[Contact]:
        return iter(self.since)

    def __len__(self) -> int:
        return len(self.since)
