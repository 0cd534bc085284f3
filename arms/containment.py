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

from typing import Final

from arms.tree import Node
from arms.values import NONE, covers
from arms.written import GROUP

MOST_STEPS: Final = 7_000
"""Tests held against an element, and elements taken apart: half a microsecond to one each.  Two
profiles of the most elements take 4,225 as they are, so that only choices are ever cut short."""


def contains(selector: Node, stored: Node, *, as_selector: bool = False) -> bool:
    """Whether all that `stored` may stand for lies within the selector: what a delete removes.

    `as_selector` says that it is an interest, which may be met in several ways; exact, unless
    that takes more than `MOST_STEPS`: then False."""
    if not as_selector:
        return _Containment(as_selector=False).level(selector, stored)
    asked = _Containment(as_selector=True)
    if selector.any_of or len(selector.children) < 2:
        return _in_every_alternative(asked, selector, stored)
    return all(
        _in_every_alternative(asked, selector._replace(children=(test,)), stored)
        for test in selector.children
    )


def _in_every_alternative(asked: _Containment, selector: Node, stored: Node) -> bool:
    names, size = _names(selector), _size(stored)
    waiting = [stored]
    while waiting:
        tree = waiting.pop()
        if asked.level(selector, tree):
            continue
        asked.steps += size
        choices = _choices(tree, names)
        if not choices or asked.steps > MOST_STEPS:
            return False
        asked.keep(choices)
        waiting += choices
    return True


def _choices(node: Node, names: frozenset[str]) -> list[Node]:
    """The trees in which the first `or` that names one of these is decided; none without one."""
    if node.any_of and len(node.children) > 1 and not names.isdisjoint(_names(node)):
        return [node._replace(children=(child,), any_of=False) for child in node.children]
    for at, child in enumerate(node.children):
        below = _choices(child, names)
        if below:
            before, after = node.children[:at], node.children[at + 1 :]
            return [node._replace(children=(*before, choice, *after)) for choice in below]
    return []


def _names(node: Node) -> frozenset[str]:
    """The names of all elements below."""
    below = (_names(child) | {child.name} for child in node.children)
    return frozenset[str]().union(*below) - {GROUP}


def _size(node: Node) -> int:
    """How many elements lie here and below."""
    return 1 + sum(map(_size, node.children))


class _Containment:
    """Verdicts about the tests of one selector."""

    def __init__(self, *, as_selector: bool) -> None:
        self._as_selector = as_selector
        self._verdicts: dict[tuple[int, int], bool] = {}
        self._kept: list[list[Node]] = []
        self.steps = 0
        """How much was looked at."""

    def keep(self, trees: list[Node]) -> None:
        """Trees that are asked about later: an id says who it is only as long as somebody lives."""
        self._kept.append(trees)

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
        parts = (self._is_within(test, part) for part in stored.children)
        return all(parts) if stored.any_of and self._as_selector else any(parts)

    def _is_within(self, test: Node, part: Node) -> bool:
        """What a stored interest seeks anywhere (`//`) is surely found only by a test that looks
        anywhere too."""
        self.steps += 1
        if part.name == GROUP:
            return self._holds(test, part)
        if (
            part.name == test.name
            and (test.descendant or not part.descendant)
            and (test.value.axis == NONE or covers(test.value, part.value))
            and self.level(test, part)
        ):
            return True
        return test.descendant and self._holds(test, part)
