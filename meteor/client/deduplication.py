"""Which notifications a client has seen: at least once on the wire, exactly once in its hands.

Law of this file: pure; takes `now`.  A key is kept at least while the record that it speaks of
can live, and longer while there is room, as records are renewed; the number of keys is bounded
(DESIGN section 4).
"""

from __future__ import annotations

from typing import Final

KEYS_KEPT: Final = 65_536
"""Up to here a key stays also after its record's announced end: renewals prolong it silently."""
KEYS_MAX: Final = 262_144
"""Never more than these, whatever lives: about 40 MB for one interest."""


class Deduplicator:
    """Remembers what came."""

    def __init__(self, keys_kept: int = KEYS_KEPT, keys_max: int = KEYS_MAX) -> None:
        self._ends: dict[str, float] = {}
        self._keys_kept, self._keys_max = keys_kept, keys_max

    def __len__(self) -> int:
        return len(self._ends)

    def __contains__(self, key: str) -> bool:
        return key in self._ends

    def add(self, key: str, ends_s: float, now: float) -> bool:
        """Note a key whose record lives until `ends_s`; False if it was known."""
        if key in self._ends:
            return False
        self._ends[key] = ends_s
        while len(self._ends) > self._keys_kept:
            oldest = next(iter(self._ends))
            if self._ends[oldest] > now and len(self._ends) <= self._keys_max:
                break
            del self._ends[oldest]
        return True
