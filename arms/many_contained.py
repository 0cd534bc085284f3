"""Containment of one profile in many selectors: what was told about one counts for all.

Law of this file: the answers are those of `arms.containment`.  Elements are looked up by name, and
what is asked again is counted as well; for one selector alone that is dearer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arms.budget import Budget, OverBudget
from arms.containment import Containment, Relation
from arms.tree import Node
from arms.values import covers
from arms.written import GROUP


class ManyContainment(Containment):
    """Verdicts about the tests of many selectors, which live as long as this, held against the one
    profile of which it is asked first, and its choices."""

    def __init__(
        self,
        budget: Budget,
        names: Mapping[int, frozenset[str]],
        *,
        as_selector: bool,
        relation: Relation = covers,
    ) -> None:
        """`names` are those below elements that live longer, by their id."""
        super().__init__(budget, as_selector=as_selector, relation=relation)
        self._names = names
        self._by_name: dict[int, dict[str, list[Node]]] = {}
        self._in_alternatives: dict[int, bool] = {}

    def within(self, selector: Node, stored: Node) -> bool:
        """As for one selector; what each test of an `and` says of the tree as it is says it for
        all that have this test."""
        if selector.any_of or not self._as_selector:
            return super().within(selector, stored)
        return all(
            self._holds(test, stored)
            or self._in_every_alternative(selector._replace(children=(test,)), test, stored)
            for test in selector.children
        )

    def _in_every_alternative(self, selector: Node, named: Node, stored: Node) -> bool:
        verdict = self._in_alternatives.get(id(named))
        if verdict is None:
            verdict = super()._in_every_alternative(selector, named, stored)
            self._in_alternatives[id(named)] = verdict
        return verdict

    def _names_of(self, selector: Node, named: Node) -> frozenset[str]:
        below = self._names.get(id(named))
        if below is None or named is selector:
            return super()._names_of(selector, named) if below is None else below
        return below if named.name == GROUP else below | {named.name}

    def _holds(self, test: Node, stored: Node) -> bool:
        self._budget.take(1)
        return super()._holds(test, stored)

    def _is_found(self, test: Node, stored: Node) -> bool:
        if self._budget.left < 0:
            raise OverBudget(self._budget.steps)
        children = self._that_may_hold(test, stored)
        parts = (self._is_within(test, part) for part in children)
        if stored.any_of and self._as_selector:
            return 0 < len(children) == len(stored.children) and all(parts)
        return any(parts)

    def _that_may_hold(self, test: Node, stored: Node) -> Sequence[Node]:
        """What lies below and has the name of the test, and groups, which may have such."""
        if test.descendant or len(stored.children) < 2:
            return stored.children
        by_name = self._by_name.get(id(stored))
        if by_name is None:
            by_name = self._by_name[id(stored)] = {}
            groups = [child for child in stored.children if child.name == GROUP]
            for child in stored.children:
                if child.name != GROUP:
                    by_name.setdefault(child.name, groups.copy()).append(child)
            by_name[GROUP] = groups
        return by_name.get(test.name, by_name[GROUP])
