"""Many selectors that one profile after the other is held against: the rules of a policy.

Law of this file: pure; made once, and then not changed.  Elements that say the same are one object,
so that whoever remembers a verdict by element asks once.  Of each selector it is known without
which elements nothing meets it, by name and, for a single value, by that value; where there is a
choice, by what the fewest of all ask for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from arms.containment import names_below
from arms.overlap import Places, places_of
from arms.profile import Profile
from arms.tree import Node
from arms.values import NUMBERS, WORDS, Value
from arms.written import GROUP

Point = tuple[str, int, float | str]
"""A name and a single value of an axis."""
Key = Point | str
"""What some element of a profile must be for a selector to hold: this, or only named so."""


def point_of(name: str, value: Value) -> Point | None:
    """The point that a value is; None for a range, a prefix, or none at all."""
    is_point = value.axis in (NUMBERS, WORDS) and value.low == value.high
    return (name, value.axis, value.low) if is_point else None


def elements_below(node: Node) -> Iterator[Node]:
    """All elements, wherever they are; no groups."""
    for child in node.children:
        if child.name != GROUP:
            yield child
        yield from elements_below(child)


class SelectorList:
    """Selectors by their places in a list; None for what selects everything."""

    def __init__(self, selectors: Sequence[Profile | None]) -> None:
        self._pool: dict[tuple[object, ...], Node] = {}
        self.trees: Final = [None if one is None else self._pooled(one.tree) for one in selectors]
        """One for each selector."""
        nodes = self._pool.values()
        self.names: Final = {id(node): names_below(node) for node in nodes}
        """The names below each element."""
        self.places: Final[dict[int, Places]] = {id(node): places_of(node) for node in nodes}
        self._by_key: dict[Key, set[int]] = defaultdict(set)
        self._points_of: dict[str, set[int]] = defaultdict(set)
        self._always: set[int] = set()
        self._enter()

    def __len__(self) -> int:
        return len(self.trees)

    def that_may_hold(self, elements: Iterable[Node]) -> set[int]:
        """The places of all that may select, contain or be contained in a profile of these
        elements: none that does is missing."""
        found, names, points = set(self._always), set[str](), set[Point]()
        spanned = set[str]()
        for element in elements:
            names.add(element.name)
            point = point_of(element.name, element.value)
            if point is not None:
                points.add(point)
            elif element.value.axis:
                spanned.add(element.name)
        keys: set[Key] = {*names, *points}
        return found.union(
            *(self._by_key[key] for key in keys if key in self._by_key),
            *(self._points_of[name] for name in spanned if name in self._points_of),
        )

    def taken_apart(self) -> Iterator[None]:
        """Let go of all that this was made of, a piece a step; it is of no use afterwards."""
        while self.trees:
            self.trees.pop()
            yield
        for made in (self._pool, self.names, self.places, self._by_key, self._points_of):
            while made:
                made.popitem()
                yield

    def _pooled(self, node: Node) -> Node:
        children = tuple(map(self._pooled, node.children))
        ids = tuple(map(id, children))
        key = (node.name, node.value, ids, node.any_of, node.descendant)
        return self._pool.setdefault(key, node._replace(children=children))

    def _enter(self) -> None:
        asked: Counter[Key] = Counter()
        for tree in self.trees:
            if tree is not None:
                asked.update({point for one in elements_below(tree) if (point := _point(one))})
        for at, tree in enumerate(self.trees):
            keys = None if tree is None else _keys(tree, asked, len(self))
            if keys is None:
                self._always.add(at)
                continue
            for key in keys:
                self._by_key[key].add(at)
                if isinstance(key, tuple):
                    self._points_of[key[0]].add(at)


def _point(node: Node) -> Point | None:
    return point_of(node.name, node.value)


def _keys(level: Node, asked: Counter[Key], all_of_them: int) -> frozenset[Key] | None:
    """Of which one must be there for the tests below to hold; None where nothing must be.  A name
    alone is taken to be in every profile."""
    each = [_keys_of(child, asked, all_of_them) for child in level.children]
    if level.any_of:
        some = [keys for keys in each if keys is not None]
        return frozenset[Key]().union(*some) if len(some) == len(each) > 0 else None
    known = [keys for keys in each if keys is not None]

    def how_many(keys: frozenset[Key]) -> int:
        return sum(asked[key] if isinstance(key, tuple) else all_of_them for key in keys)

    return min(known, key=how_many, default=None)


def _keys_of(test: Node, asked: Counter[Key], all_of_them: int) -> frozenset[Key] | None:
    if test.name == GROUP:
        return _keys(test, asked, all_of_them)
    own = frozenset[Key]({_point(test) or test.name})
    below = _keys(test, asked, all_of_them)
    return own if below is None or isinstance(next(iter(own)), tuple) else below
