"""Objects at rest: made in bulk from what a journal has, looked into when somebody asks.

Law of this file: nobody can tell.  An object at rest is one whose slots are empty but for those
that are known without looking; the first question for another one fills all of them, and from then
on it is as any other.  So a hundred thousand records are back after a restart in the time that it
takes to make as many empty objects, and few of them are ever looked into.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class AtRest(ABC):
    """A class of objects with slots, which may rest."""

    __slots__ = ("rest",)
    rest: Any
    """What it is made from when it wakes; gone then."""

    @abstractmethod
    def _awake(self) -> Mapping[str, object]:
        """All slots that are empty as long as it rests."""

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Only called for a slot that is empty."""
            if name not in type(self).__slots__:
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            for field, value in self._awake().items():
                object.__setattr__(self, field, value)
            object.__delattr__(self, "rest")
            return object.__getattribute__(self, name)


def at_rest(kind: type[T], /, **slots: object) -> T:
    """One object of a class of `AtRest`, of which these slots are set: `rest` and what is known
    without looking."""
    made = object.__new__(kind)
    for name, value in slots.items():
        object.__setattr__(made, name, value)
    return made


def made_in_bulk(kind: type[T], count: int, /, **slots: Iterable[object]) -> list[T]:
    """So many objects of a class with slots, of which these are set, each from its own values; of
    a class of `AtRest` that is `rest` and what is known without looking."""
    made = list(map(object.__new__, repeat(kind, count)))
    for name, values in slots.items():
        # At the speed of C: no line of Python for each.
        deque(map(getattr(kind, name).__set__, made, values), maxlen=0)
    return made
