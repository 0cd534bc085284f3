"""Closed content: whether content has, where a selector looks, nothing but what it asks for.

Law of this file: pure, within a budget.  A selector finds content that has one fitting element,
whatever else it has; whoever *may post* within a selector must not post `type=lamp type=fire`
where only `type=lamp` is allowed, as that is found by `type=fire`.  So every element whose name
and place a test asks about must be within one of the tests that ask.  Of an `or` one alternative
must be kept to, or every element be within one of its tests; what is asked of nowhere is free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arms.budget import Budget
from arms.tree import Node
from arms.values import NONE, covers
from arms.written import GROUP


class Closed:
    """Verdicts about one content; the trees live as long as this."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._levels: dict[tuple[int, int], bool] = {}
        self._verdicts: dict[tuple[int, int], bool] = {}

    def keeps_to(self, selector: Node, content: Node) -> bool:
        """Whether the content below is all within the tests below; raises `OverBudget`."""
        if not selector.children:
            return True
        key = (id(selector), id(content))
        verdict = self._levels.get(key)
        if verdict is None:
            verdict = self._levels[key] = self._level(selector, content)
        return verdict

    def _level(self, selector: Node, content: Node) -> bool:
        tests = selector.children
        if not selector.any_of:
            return self._all_of(tests, content)
        if any(self._all_of((test,), content) for test in tests):
            return True
        plain = [test for test in tests if test.name != GROUP]
        found = any(self._is_there(test, content) for test in plain)
        return found and len(plain) == len(tests) and self._has_no_other(plain, content)

    def _all_of(self, tests: Sequence[Node], content: Node) -> bool:
        plain = [test for test in tests if test.name != GROUP]
        return (
            all(self._is_there(test, content) for test in plain)
            and self._has_no_other(plain, content)
            and all(self.keeps_to(test, content) for test in tests if test.name == GROUP)
        )

    def _is_there(self, test: Node, content: Node) -> bool:
        return any(self._fits(test, element) for element in self._reached(test, content))

    def _has_no_other(self, tests: Sequence[Node], content: Node) -> bool:
        """Whether each element that one of the tests asks about is within one of those."""
        return all(
            any(self._fits(other, element) for other in tests if other.name == test.name)
            for test in tests
            for element in self._reached(test, content)
        )

    def _fits(self, test: Node, element: Node) -> bool:
        key = (id(test), id(element))
        verdict = self._verdicts.get(key)
        if verdict is None:
            self._budget.take(1)
            verdict = self._verdicts[key] = (
                (test.descendant or not element.descendant)
                and (test.value.axis == NONE or covers(test.value, element.value))
                and self.keeps_to(test, element)
            )
        return verdict

    def _reached(self, test: Node, content: Node) -> Iterator[Node]:
        """The elements of the test's name where it looks; a group lies where its parent is."""
        for element in content.children:
            self._budget.take(1)
            if element.name == test.name:
                yield element
            if element.name == GROUP or test.descendant:
                yield from self._reached(test, element)
