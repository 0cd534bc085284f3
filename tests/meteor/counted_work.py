"""The work of one peer, counted by the turn of virtual time in which it is done."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

import pytest

from arms import Profile, Store
from meteor.keeping.placement_table import PlacementTable
from meteor.keeping.shelf import Shelf
from meteor.rendezvous import reactions
from sim.overlay import Overlay

AT_ONCE, SWEPT_AT_ONCE, BURIED_AT_ONCE = 20, 7, 9
"""In place of hundreds, so that little is much."""
STORED = 4 * AT_ONCE + 7


class _Turns(deque[Any]):
    """The kernel's queue of turns, which counts them."""

    number = 0

    def popleft(self) -> Any:
        self.number += 1
        return super().popleft()


class Work:
    """What one peer did in each turn."""

    def __init__(self, overlay: Overlay, monkeypatch: pytest.MonkeyPatch) -> None:
        self._turns = overlay.kernel._ready
        assert isinstance(self._turns, _Turns)
        self.done: Counter[tuple[str, int]] = Counter()
        self._count(monkeypatch, Shelf, "lowest_common")
        self._count(monkeypatch, Shelf, "lives_in")
        self._count(monkeypatch, PlacementTable, "__getitem__")
        self._count(monkeypatch, Store, "remove")
        self._count(monkeypatch, Store, "holds")
        self._count(monkeypatch, Profile, "matches")
        real = reactions._in_part

        def looked_through(records: Sequence[Any], *args: Any) -> Any:
            self.done["looked through", self._turns.number] += len(records)
            return real(records, *args)

        monkeypatch.setattr(reactions, "_in_part", looked_through)

    def _count(self, monkeypatch: pytest.MonkeyPatch, kind: type, name: str) -> None:
        real = getattr(kind, name)

        def counted(*args: Any) -> Any:
            self.done[name, self._turns.number] += 1
            return real(*args)

        monkeypatch.setattr(kind, name, counted)

    @property
    def turn(self) -> int:
        """The number of the present one."""
        return self._turns.number

    def most(self, name: str) -> int:
        """The most that was done in one turn, of all since this was asked last."""
        counts = [count for (what, _), count in self.done.items() if what == name]
        total = sum(counts)
        assert total > STORED // 2, f"{name} was counted {total} times only"
        self.done.clear()
        return max(counts)
