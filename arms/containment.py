"""Containment: whether all that a stored profile may stand for lies within a selector.

Law of this file: never wrongly true, and never dear.  A stored interest lies within when each of
its alternatives does.  That is decided on the tree itself, where whatever an `or` offers must be
within; only where this says no although the `or` matters is one of them taken apart, and each
choice asked anew.  Verdicts are remembered by test and element, so that a choice costs what it
changes.  To ask of two arbitrary and/or trees whether one implies the other has no quick way: after
`MOST_STEPS` the answer is no, and a delete leaves the interest where it is (`mode="overlap"` takes
it).  Steps are counted, not trees or verdicts: a verdict about a wide level costs its width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from arms.budget import Budget, OverBudget
from arms.tree import Node
from arms.values import NONE, Value, covers
from arms.written import GROUP

MOST_STEPS: Final = 7_000
"""Tests held against an element, and elements taken apart: half a microsecond to one each.  Two
profiles of the most elements take 4,225 as they are, so that only choices are ever cut short."""

Relation = Callable[[Value, Value], bool]


def contains(selector: Node, stored: Node, *, as_selector: bool = False) -> bool:
    """Whether all that `stored` may stand for lies within the selector: what a delete removes.

    `as_selector` says that it is an interest, which may be met in several ways; exact, unless
    that takes more than `MOST_STEPS`: then False."""
    try:
        return Containment(Budget(MOST_STEPS), as_selector=as_selector).within(selector, stored)
    except OverBudget:
        return False


def names_below(node: Node) -> frozenset[str]:
    """The names of all elements below."""
    below = (names_below(child) | {child.name} for child in node.children)
    return frozenset[str]().union(*below) - {GROUP}


def _choices(node: Node, names: frozenset[str]) -> list[Node]:
    """The trees in which the first `or` that names one of these is decided; none without one."""
    if _is_choice(node) and not names.isdisjoint(names_below(node)):
        return [node._replace(children=(child,), any_of=False) for child in node.children]
    for at, child in enumerate(node.children):
        below = _choices(child, names)
        if below:
            before, after = node.children[:at], node.children[at + 1 :]
            return [node._replace(children=(*before, choice, *after)) for choice in below]
    return []


def _is_choice(node: Node) -> bool:
    return node.any_of and len(node.children) > 1


def _names_in_choices(node: Node) -> frozenset[str]:
    """What some `or` here or below names."""
    if _is_choice(node):
        return names_below(node)
    return frozenset[str]().union(*map(_names_in_choices, node.children))


def _size(node: Node) -> int:
    """How many elements lie here and below."""
    return 1 + sum(map(_size, node.children))


class Containment:
    """Verdicts about the tests of one selector."""

    def __init__(self, budget: Budget, *, as_selector: bool, relation: Relation = covers) -> None:
        """`relation` says when the value of an element is in that of a test."""
        self._budget, self._as_selector, self._relation = budget, as_selector, relation
        self._is_containment = relation is covers
        self._verdicts: dict[tuple[int, int], bool] = {}
        self._in_choices: dict[int, frozenset[str]] = {}
        self._kept: list[Sequence[Node]] = []

    def keep(self, trees: Sequence[Node]) -> None:
        """Trees that are asked about later: an id says who it is only as long as somebody lives."""
        self._kept.append(trees)

    def within(self, selector: Node, stored: Node) -> bool:
        """Whether `stored` is within the tests below `selector`; raises `OverBudget`."""
        if not self._as_selector:
            return self.level(selector, stored)
        if selector.any_of or len(selector.children) < 2:
            return self._in_every_alternative(selector, selector, stored)
        return all(
            self._in_every_alternative(selector._replace(children=(test,)), test, stored)
            for test in selector.children
        )

    def _in_every_alternative(self, selector: Node, named: Node, stored: Node) -> bool:
        """`named` is what the names of the selector are known by."""
        if self.level(selector, stored):
            return True
        names = self._names_of(selector, named)
        if names.isdisjoint(self._names_in_choices(stored)):
            return False
        size, waiting = _size(stored), [stored]
        while waiting:
            tree = waiting.pop()
            if self.level(selector, tree):
                continue
            self._budget.take(size)
            choices = _choices(tree, names)
            if not choices:
                return False
            self.keep(choices)
            waiting += choices
        return True

    def _names_of(self, selector: Node, _named: Node) -> frozenset[str]:
        return names_below(selector)

    def _names_in_choices(self, stored: Node) -> frozenset[str]:
        names = self._in_choices.get(id(stored))
        if names is None:
            names = self._in_choices[id(stored)] = _names_in_choices(stored)
        return names

    def level(self, selector: Node, stored: Node) -> bool:
        """Whether `stored` is surely within the tests below `selector`."""
        if not selector.children:
            return True
        test = any if selector.any_of else all
        return test(self._holds(child, stored) for child in selector.children)

    def _holds(self, test: Node, stored: Node) -> bool:
        key = (id(test), id(stored))
        verdict = self._verdicts.get(key)
        if verdict is None:
            if test.name == GROUP:
                verdict = self.level(test, stored)
            else:
                verdict = self._is_found(test, stored)
            self._verdicts[key] = verdict
        return verdict

    def _is_found(self, test: Node, stored: Node) -> bool:
        """Whether some element below `stored` surely is within the test; of an `or` any may be the
        one that is there, so all must have one.  A subject has all its elements."""
        if not stored.children:
            return False
        if self._budget.left < 0:
            raise OverBudget(self._budget.steps)
        parts = (self._is_within(test, part) for part in stored.children)
        return all(parts) if stored.any_of and self._as_selector else any(parts)

    def _is_within(self, test: Node, part: Node) -> bool:
        """What a stored interest seeks anywhere (`//`) is surely found only by a test that looks
        anywhere too."""
        self._budget.left -= 1
        if part.name == GROUP:
            return self._holds(test, part)
        if (
            part.name == test.name
            and (test.descendant or not part.descendant or not self._is_containment)
            and (test.value.axis == NONE or self._relation(test.value, part.value))
            and self.level(test, part)
        ):
            return True
        return test.descendant and self._holds(test, part)
