"""A tree of fingerprints over curve prefixes that sums up any interval in O(log n) steps.

Law of this file: pure, no clock and no messages.  A position is a curve index with the record's
fingerprint behind it, so that many records of one index part as well.  A leaf splits above 64
records where its positions first differ; runs of bits that all share take no node.  The digest of
an interval is the number of its records and the sum of their fingerprints: a sum does not depend
on how a tree is cut, so two peers compare any interval whatever else they hold, and an arc that
splits goes on with the subtrees that it has (DESIGN section 5; comparing sums over ranges: A.
Meyer, Range-Based Set Reconciliation, SRDS 2023).  About 30 bytes a record beside what the shelf
keeps anyway.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from operator import attrgetter
from typing import Final, final

import numpy as np
import numpy.typing as npt

from arms import AtRest, at_rest
from meteor.keeping.placement import Placed
from meteor.keeping.standing import FINGERPRINT_BITS

LEAF_MAX: Final = 64
"""A leaf splits above this ..."""
LEAF_MERGE: Final = 32
"""... and a subtree becomes a leaf again at this, so that it does not do so at every other step."""
_SUM_MASK: Final = (1 << FINGERPRINT_BITS) - 1
_NOTHING: Final = np.zeros(1, np.uint64)
_LOWEST: Final = attrgetter("lowest")


@dataclass(frozen=True, slots=True)
class Digest:
    """What is compared of a set of records: how many, and the sum of their fingerprints."""

    records: int = 0
    total: int = 0
    """Modulo 2^64."""

    def __add__(self, other: Digest) -> Digest:
        return Digest(self.records + other.records, (self.total + other.total) & _SUM_MASK)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an interval of positions: from `first` to before `end`."""

    first: int
    end: int
    digest: Digest


def position_of(fingerprint: int, placed: Placed) -> int:
    """Where a record stands in the order of a tree."""
    return placed.lowest << FINGERPRINT_BITS | fingerprint


class InOrder:
    """Many records in the order of their positions: their fingerprints and numbers, and by number
    where they live; they become objects one by one."""

    __slots__ = ("_lowest", "_numbers", "_placed", "_sums", "fingerprints")

    def __init__(
        self,
        fingerprints: npt.NDArray[np.uint64],
        numbers: npt.NDArray[np.intp],
        lowest: Sequence[int],
        placed: Callable[[int], Placed],
    ) -> None:
        self.fingerprints, self._numbers = fingerprints, numbers
        self._lowest, self._placed = lowest, placed
        self._sums = np.concatenate([_NOTHING, np.cumsum(fingerprints)])

    def position(self, at: int) -> int:
        """Of the record that stands there."""
        return self._lowest[int(self._numbers[at])] << FINGERPRINT_BITS | int(self.fingerprints[at])

    def total(self, low: int, high: int) -> int:
        """The sum of the fingerprints from `low` to before `high`."""
        return (int(self._sums[high]) - int(self._sums[low])) & _SUM_MASK

    def placed(self, low: int, high: int) -> list[Placed]:
        """The records from `low` to before `high`."""
        return list(map(self._placed, self._numbers[low:high].tolist()))


@final  # so that what is none of the two is known by its type: isinstance is slow on these
class _Leaf(AtRest):
    """Up to 64 records, in the order of their positions."""

    __slots__ = ("fingerprints", "placed", "total")
    fingerprints: array[int]
    placed: list[Placed]

    def __init__(self, fingerprints: array[int], placed: list[Placed]) -> None:
        self.fingerprints, self.placed = fingerprints, placed
        self.total: int = sum(fingerprints) & _SUM_MASK

    def _awake(self) -> Mapping[str, object]:
        records: InOrder
        records, low, high = self.rest
        return {
            "fingerprints": array("Q", records.fingerprints[low:high].tolist()),
            "placed": records.placed(low, high),
        }

    @property
    def records(self) -> int:
        return len(self.placed)

    def position(self, at: int) -> int:
        return position_of(self.fingerprints[at], self.placed[at])

    def find(self, position: int) -> int:
        """How many records stand before `position`."""
        index, fingerprint = position >> FINGERPRINT_BITS, position & _SUM_MASK
        placed, count = self.placed, len(self.placed)
        at = bisect_left(placed, index, key=_LOWEST)
        while at < count and placed[at].lowest == index and self.fingerprints[at] < fingerprint:
            at += 1  # few records have one index
        return at

    def holds(self, at: int, position: int) -> bool:
        if at == len(self.placed) or self.fingerprints[at] != position & _SUM_MASK:
            return False
        return self.placed[at].lowest == position >> FINGERPRINT_BITS

    def insert(self, at: int, fingerprint: int, placed: Placed) -> None:
        self.fingerprints.insert(at, fingerprint)
        self.placed.insert(at, placed)
        self.total = (self.total + fingerprint) & _SUM_MASK

    def delete(self, at: int) -> None:
        self.total = (self.total - self.fingerprints[at]) & _SUM_MASK
        del self.fingerprints[at], self.placed[at]

    def within(self, first: int, end: int) -> Digest:
        low = self.find(first)
        high = self.find(end)
        if high - low == len(self.placed):
            return Digest(high, self.total)
        return Digest(high - low, sum(self.fingerprints[low:high]) & _SUM_MASK)


@final
class _Fork(AtRest):
    """All records of one prefix of positions, of which some have the next bit and some have not."""

    __slots__ = ("bit", "high", "low", "prefix", "records", "total")
    bit: int
    prefix: int
    low: _Node
    high: _Node

    def __init__(self, bit: int, low: _Node, high: _Node, prefix: int) -> None:
        self.bit, self.low, self.high, self.prefix = bit, low, high, prefix
        self.records: int = low.records + high.records
        self.total: int = (low.total + high.total) & _SUM_MASK

    def _awake(self) -> Mapping[str, object]:
        records: InOrder
        records, low, high = self.rest
        last = records.position(high - 1)
        bit = (records.position(low) ^ last).bit_length() - 1
        at = bisect_left(range(high), last >> bit << bit, low, high, key=records.position)
        return {
            "bit": bit,
            "prefix": last >> bit + 1,
            "low": _resting(records, low, at),
            "high": _resting(records, at, high),
        }

    @property
    def middle(self) -> int:
        """The first position of the upper half."""
        return (self.prefix << 1 | 1) << self.bit

    def meets(self, position: int) -> bool:
        """Whether a position has this prefix."""
        return position >> self.bit + 1 == self.prefix


_Node = _Leaf | _Fork


class KeyTree:
    """Records in the order of the curve, under fingerprints."""

    __slots__ = ("_root",)

    def __init__(self) -> None:
        self._root: _Node = _Leaf(array("Q"), [])

    def __len__(self) -> int:
        return self._root.records

    # -- changes

    def load(self, records: InOrder) -> None:
        """Take records into the empty tree at once, each under another position; what of the tree
        is not asked for rests."""
        assert not len(self), "loaded before anything else comes"
        self._root = _resting(records, 0, len(records.fingerprints))

    def add(self, fingerprint: int, placed: Placed) -> bool:
        """Take a record in; False when one of this fingerprint stands there already."""
        position = position_of(fingerprint, placed)
        path, node = self._descend(position)
        if type(node) is _Fork:
            alone = _Leaf(array("Q", (fingerprint,)), [placed])
            self._replace(path, node, _joined(node, alone, position))
        else:
            at = node.find(position)
            if node.holds(at, position):
                return False
            node.insert(at, fingerprint, placed)
            if len(node.placed) > LEAF_MAX:
                self._replace(path, node, _split(node))
        for fork in path:
            fork.records += 1
            fork.total = (fork.total + fingerprint) & _SUM_MASK
        return True

    def remove(self, fingerprint: int, placed: Placed) -> bool:
        """Let a record go; False when it is not here."""
        position = position_of(fingerprint, placed)
        path, node = self._descend(position)
        if type(node) is _Fork:
            return False
        at = node.find(position)
        if not node.holds(at, position):
            return False
        node.delete(at)
        for depth, fork in enumerate(path):
            fork.records -= 1
            fork.total = (fork.total - fingerprint) & _SUM_MASK
            if fork.records <= LEAF_MERGE:
                self._replace(path[:depth], fork, _gathered(fork))
                return True
        if path and not node.records:
            parent = path.pop()
            self._replace(path, parent, parent.high if parent.low is node else parent.low)
        return True

    # -- questions

    def holds(self, fingerprint: int, placed: Placed) -> bool:
        """Whether a record stands here."""
        position = position_of(fingerprint, placed)
        _, node = self._descend(position)
        return type(node) is _Leaf and node.holds(node.find(position), position)

    def digest(self, first: int, end: int) -> Digest:
        """Of the records at positions from `first` to before `end`."""
        return _digest(self._root, first, end)

    def entries(self, first: int, end: int) -> Iterator[tuple[int, Placed]]:
        """The records from `first` to before `end` with their fingerprints, in order; the tree
        must not change meanwhile."""
        waiting: list[_Node] = [self._root]
        while waiting:
            node = waiting.pop()
            if type(node) is _Fork:
                waiting += [half for half, _, _ in reversed(_halves(node, first, end))]
                continue
            for at in range(node.find(first), node.find(end)):
                yield node.fingerprints[at], node.placed[at]

    def split(self, first: int, end: int, parts: int) -> list[Piece]:
        """Cut from `first` to before `end` into up to `parts` pieces without a gap, where this
        tree parts, the fullest first."""
        heap: list[tuple[int, int, int, _Node]] = [(-self._root.records, first, end, self._root)]
        done: list[tuple[int, int]] = []
        while heap and len(heap) + len(done) < parts:
            _, start, stop, node = heappop(heap)
            if type(node) is _Leaf:
                done.append((start, stop))
                continue
            for half, low, high in _halves(node, start, stop):
                heappush(heap, (-half.records, low, high, half))
        cuts = sorted(done + [(start, stop) for _, start, stop, _ in heap])
        return [Piece(start, stop, self.digest(start, stop)) for start, stop in cuts]

    # -- the tree

    def _descend(self, position: int) -> tuple[list[_Fork], _Node]:
        """The forks on the way to a position, and the leaf there or the fork that lies aside."""
        path: list[_Fork] = []
        node = self._root
        while type(node) is _Fork and node.meets(position):
            path.append(node)
            node = node.high if position >= node.middle else node.low
        return path, node

    def _replace(self, path: Sequence[_Fork], old: _Node, new: _Node) -> None:
        """Put a node in the place of the one that hangs at the end of `path`."""
        if not path:
            self._root = new
        elif path[-1].low is old:
            path[-1].low = new
        else:
            path[-1].high = new


def _resting(records: InOrder, low: int, high: int) -> _Node:
    """The node of the records from `low` to before `high`."""
    rest, total = (records, low, high), records.total(low, high)
    if high - low <= LEAF_MAX:
        return at_rest(_Leaf, rest=rest, total=total)
    return at_rest(_Fork, rest=rest, total=total, records=high - low)


def _joined(fork: _Fork, alone: _Leaf, position: int) -> _Fork:
    """A fork above a fork and a record that has not its prefix."""
    inside = fork.prefix << fork.bit + 1
    bit = (inside ^ position).bit_length() - 1
    low, high = (alone, fork) if position < inside else (fork, alone)
    return _Fork(bit, low, high, position >> bit + 1)


def _split(leaf: _Leaf) -> _Fork:
    """Two leaves in the place of one: a 64-bit fingerprint behind each index sets them apart."""
    last = leaf.position(leaf.records - 1)
    bit = (leaf.position(0) ^ last).bit_length() - 1
    at = leaf.find(last >> bit << bit)
    low = _Leaf(leaf.fingerprints[:at], leaf.placed[:at])
    high = _Leaf(leaf.fingerprints[at:], leaf.placed[at:])
    return _Fork(bit, low, high, last >> bit + 1)


def _gathered(node: _Node) -> _Leaf:
    """One leaf in the place of a subtree."""
    if type(node) is _Leaf:
        return node
    low, high = _gathered(node.low), _gathered(node.high)
    return _Leaf(low.fingerprints + high.fingerprints, low.placed + high.placed)


def _halves(fork: _Fork, first: int, end: int) -> list[tuple[_Node, int, int]]:
    """The halves of a fork that have some of an interval, and what of it: without a gap, so what
    lies beside the fork's prefix goes to one of them."""
    middle = fork.middle
    if end <= middle:
        return [(fork.low, first, end)]
    if first >= middle:
        return [(fork.high, first, end)]
    return [(fork.low, first, middle), (fork.high, middle, end)]


def _digest(node: _Node, first: int, end: int) -> Digest:
    if type(node) is _Leaf:
        return node.within(first, end)
    if first <= node.prefix << node.bit + 1 and (node.prefix + 1) << node.bit + 1 <= end:
        return Digest(node.records, node.total)
    whole = Digest()
    for half, low, high in _halves(node, first, end):
        whole += _digest(half, low, high)
    return whole
