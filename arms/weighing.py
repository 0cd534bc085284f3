"""Weighing: one profile held against many selectors, for no more than so many steps in all.

Law of this file: what is answered is exact, as `Profile.matches`, `may_meet`, `contains_profile`
and, of content, `keeps_to` are; what would take more raises `OverBudget`, and nothing is answered
after that.  What surely fails is told first, by names and values wherever they stand.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from arms.budget import Budget
from arms.closed import Closed
from arms.containment import MOST_STEPS, Containment
from arms.many_contained import ManyContainment
from arms.overlap import Overlap
from arms.profile import Profile
from arms.selector_list import SelectorList, elements_below, point_of
from arms.tree import Node
from arms.values import NONE, covers, meets
from arms.written import GROUP


class Weighing:
    """A profile that is held against selectors; `is_subject` says that it describes content, else
    it selects it.

    `listed` are the selectors of which `may_hold`, `lies_within` and `is_met_by` are asked, by
    their places."""

    def __init__(
        self, profile: Profile, listed: SelectorList, *, is_subject: bool, most_steps: int
    ) -> None:
        self._tree: Final = profile.tree
        self._listed, self._is_subject = listed, is_subject
        self.budget: Final = Budget(most_steps)
        """What is left of the steps."""
        self._verdicts: dict[int, bool] = {}

    # -- against what is not in the list

    def is_contained_in(self, selector: Profile) -> bool:
        """Whether it lies wholly within any other selector, and content has nothing else where that
        looks; raises `OverBudget`.  It takes no more steps than one selector may, and what it takes
        is not left for the list."""
        alone = Budget(min(MOST_STEPS, self.budget.left))
        try:
            if self._is_subject:
                return Closed(alone).keeps_to(selector.tree, self._tree)
            return Containment(alone, as_selector=True).within(selector.tree, self._tree)
        finally:
            self.budget.left -= alone.steps - max(alone.left, 0)

    # -- against what is

    @cached_property
    def that_may_hold(self) -> frozenset[int]:
        """The places of all that it may lie within, or be selected by."""
        return frozenset(self._listed.that_may_hold(elements_below(self._tree)))

    def lies_within(self, at: int) -> bool:
        """Whether it lies wholly within a selector, and content has nothing else where that looks;
        raises `OverBudget`."""
        selector = self._listed.trees[at]
        if selector is None:
            return True
        if not (self._may_hold(selector) and self._containment.within(selector, self._tree)):
            return False
        return not self._is_subject or self._closed.keeps_to(selector, self._tree)

    def is_met_by(self, at: int) -> bool:
        """Whether content that it describes is selected, or it and the selector may select the same
        content; raises `OverBudget`."""
        selector = self._listed.trees[at]
        if selector is None:
            return True
        if self._is_subject:
            return self._may_hold(selector) and self._selection.level(selector, self._tree)
        return self._overlap.may_meet(selector, self._tree)

    # -- how

    @cached_property
    def _containment(self) -> ManyContainment:
        names, as_selector = self._listed.names, not self._is_subject
        return ManyContainment(self.budget, names, as_selector=as_selector, relation=covers)

    @cached_property
    def _closed(self) -> Closed:
        return Closed(self.budget)

    @cached_property
    def _selection(self) -> ManyContainment:
        """Selection walks as containment of content does, and values need only meet."""
        return ManyContainment(self.budget, {}, as_selector=False, relation=meets)

    @cached_property
    def _overlap(self) -> Overlap:
        return Overlap(self.budget, self._listed.places)

    @cached_property
    def _values(self) -> tuple[set[object], dict[str, list[Node]]]:
        """The single values that are somewhere, and the elements of each name, values once."""
        points: set[object] = set()
        by_name: dict[str, dict[object, Node]] = {}
        for element in elements_below(self._tree):
            points.add(point_of(element.name, element.value))
            by_name.setdefault(element.name, {})[element.value] = element
        return points, {name: list(each.values()) for name, each in by_name.items()}

    def _may_hold(self, level: Node) -> bool:
        """Whether somewhere are elements with names and values that the tests below ask for: what
        lies within a test, or meets it, is such an element."""
        if not level.children:
            return True
        test = any if level.any_of else all
        return test(self._may_be_found(child) for child in level.children)

    def _may_be_found(self, test: Node) -> bool:
        self.budget.take(1)
        verdict = self._verdicts.get(id(test))
        if verdict is None:
            is_there = test.name == GROUP or self._has_value(test)
            verdict = self._verdicts[id(test)] = is_there and self._may_hold(test)
        return verdict

    def _has_value(self, test: Node) -> bool:
        points, by_name = self._values
        elements = by_name.get(test.name)
        if elements is None:
            return False
        if test.value.axis == NONE or point_of(test.name, test.value) in points:
            return True
        for element in elements:
            self.budget.take(1)
            # What is contained meets, but for a range that is empty, which all wider ones contain.
            if meets(test.value, element.value) or covers(test.value, element.value):
                return True
        return False
