"""Whether two selectors may select the same content: the question of a rule that denies.

Law of this file: pure, and never wrongly false for content that has each element once: only what
surely excludes one another does, which are two values at one place of the `and` levels.  What
stands in an `or`, in a group or behind `//` excludes nothing.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping

from arms.budget import Budget
from arms.tree import Node
from arms.values import NONE, meets
from arms.written import GROUP

Places = Mapping[str, Node]


def may_meet(one: Node, other: Node) -> bool:
    """Whether something can lie within both, as far as their plain elements tell."""
    return Overlap(Budget(sys.maxsize)).may_meet(one, other)


def places_of(node: Node) -> Places:
    """The plain elements by name; not those of which a selector names several."""
    count = Counter(child.name for child in node.children)
    return {
        child.name: child
        for child in node.children
        if child.name != GROUP and not child.descendant and count[child.name] == 1
    }


class Overlap:
    """Of selectors that live as long as this."""

    def __init__(self, budget: Budget, known: Mapping[int, Places] | None = None) -> None:
        self._budget, self._known = budget, known or {}
        self._places: dict[int, Places] = {}
        self._verdicts: dict[tuple[int, int], bool] = {}

    def may_meet(self, one: Node, other: Node) -> bool:
        """As the function; raises `OverBudget`."""
        self._budget.take(1)
        if one.any_of or other.any_of:
            return True
        few, many = sorted((self._places_of(one), self._places_of(other)), key=len)
        return not any(
            name in many and self._exclude(element, many[name]) for name, element in few.items()
        )

    def _places_of(self, node: Node) -> Places:
        places = self._known.get(id(node), self._places.get(id(node)))
        if places is None:
            self._budget.take(len(node.children))
            places = self._places[id(node)] = places_of(node)
        return places

    def _exclude(self, one: Node, other: Node) -> bool:
        """Whether no element meets both; asked again where selectors share elements."""
        self._budget.take(1)
        key = (id(one), id(other))
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = self._exclude_anew(one, other)
        return verdict

    def _exclude_anew(self, one: Node, other: Node) -> bool:
        if NONE not in (one.value.axis, other.value.axis) and not meets(one.value, other.value):
            return True
        return not self.may_meet(one, other)
