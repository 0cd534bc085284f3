"""A dictionary in parts.

Law of this file: what Python's dictionary is, but never made anew as a whole: one of a hundred
thousand entries that grows takes ten megabytes of fresh memory in one step, and holds the peer for
as long as that takes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, MutableMapping
from typing import Final, TypeVar, overload

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
T = TypeVar("T")

_PARTS: Final = 64


class Parted(MutableMapping[K, V]):
    """Values by key, the keys in no order that means anything."""

    __slots__ = ("_parts", "_size")

    def __init__(self) -> None:
        self._parts: tuple[dict[K, V], ...] = tuple({} for _ in range(_PARTS))
        self._size = 0

    def __getitem__(self, key: K) -> V:
        return self._parts[hash(key) % _PARTS][key]

    def __setitem__(self, key: K, value: V) -> None:
        part = self._parts[hash(key) % _PARTS]
        self._size += key not in part
        part[key] = value

    def __delitem__(self, key: K) -> None:
        del self._parts[hash(key) % _PARTS][key]
        self._size -= 1

    def __contains__(self, key: object) -> bool:
        return key in self._parts[hash(key) % _PARTS]

    @overload
    def get(self, key: K, /) -> V | None: ...

    @overload
    def get(self, key: K, default: V | T, /) -> V | T: ...

    def get(self, key: K, default: V | T | None = None, /) -> V | T | None:
        """The value of a key, in less time than by the way over an error."""
        return self._parts[hash(key) % _PARTS].get(key, default)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[K]:
        for part in self._parts:
            yield from part
