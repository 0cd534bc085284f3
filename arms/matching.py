"""Associative selection: the whole semantics of a match, on two trees.

Law of this file: `selects(selector, subject)` holds when every element of the selector is
contained in the subject and its value met; the subject may hold more.  Whichever of the two
arrives first, `match(interest, data) = selects(interest, data)` (report section 2.1.2).  Groups
test the element around them; in a subject they only offer their elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from arms.tree import Node
from arms.values import NONE, Value, covers, meets
from arms.written import GROUP

_MOST_ALTERNATIVES = 16

Test = Callable[[Value, Value], bool]


def selects(selector: Node, subject: Node) -> bool:
    """Whether the selector's tests all meet one element of the subject each."""
    return _level(selector, subject, None)


def contains(selector: Node, stored: Node, *, as_selector: bool = False) -> bool:
    """Whether all that `stored` may stand for lies within the selector: what a delete removes.

    A stored interest (`as_selector`) is contained when each of its alternatives is; one with
    more than 16 alternatives never is.
    """
    alternatives = _alternatives(stored) if as_selector else [stored]
    if not alternatives:
        return False
    return all(_level_contains(selector, alternative, {}) for alternative in alternatives)


# -- overlap

Memo = dict[tuple[int, int], bool]
"""Verdicts by test and element.  Below a `//` the same test comes to the same element along many
paths, and only the memo keeps a hostile pair of profiles from taking hours."""


def _level(selector: Node, subject: Node, memo: Memo | None) -> bool:
    """Whether the tests below `selector` hold at `subject`, by that level's connective."""
    if selector[3]:
        return any(_holds(test, subject, memo) for test in selector[2])
    return all(_holds(test, subject, memo) for test in selector[2])


def _holds(test: Node, subject: Node, memo: Memo | None) -> bool:
    """Whether some element at the place of `test` meets it and all below it."""
    if test[4] and memo is None:
        memo = {}
    if memo is None:
        return _found(test, subject, None)
    key = (id(test), id(subject))
    verdict = memo.get(key)
    if verdict is None:
        verdict = memo[key] = _found(test, subject, memo)
    return verdict


def _found(test: Node, subject: Node, memo: Memo | None) -> bool:
    name, value, children, _, descendant = test
    if name == GROUP:
        return _level(test, subject, memo)
    for element in subject[2]:
        if element[0] == name:
            if (value[0] == NONE or meets(value, element[1])) and (
                not children or _level(test, element, memo)
            ):
                return True
            if not descendant:
                continue
        elif element[0] != GROUP and not descendant:
            continue
        if element[2] and _holds(test, element, memo):
            return True
    return False


# -- containment


def _level_contains(selector: Node, stored: Node, memo: Memo) -> bool:
    test = any if selector.any_of else all
    return not selector.children or test(
        _holds_contained(child, stored, memo) for child in selector.children
    )


def _holds_contained(test: Node, stored: Node, memo: Memo) -> bool:
    key = (id(test), id(stored))
    verdict = memo.get(key)
    if verdict is None:
        verdict = memo[key] = _found_contained(test, stored, memo)
    return verdict


def _found_contained(test: Node, stored: Node, memo: Memo) -> bool:
    if test.name == GROUP:
        return _level_contains(test, stored, memo)
    return any(
        (test.value.axis == NONE or covers(test.value, element.value))
        and _level_contains(test, element, memo)
        for element in _offered(stored, test.descendant)
        if element.name == test.name
    )


def _offered(parent: Node, descendant: bool) -> Iterator[Node]:
    """The elements of `parent` at the place of a test; those that a stored interest seeks
    anywhere (`//`) are surely found only by a test that looks anywhere too."""
    for element in parent.children:
        if element.name == GROUP:
            yield from _offered(element, descendant)
            continue
        if descendant or not element.descendant:
            yield element
        if descendant:
            yield from _offered(element, descendant)


def _alternatives(node: Node) -> list[Node]:
    """The conjunctions of which a selector is the disjunction; empty above the limit."""
    if not node.children:
        return [node]
    parts = [_alternatives(child) for child in node.children]
    if not all(parts):
        return []
    chosen: list[tuple[Node, ...]]
    if node.any_of:
        chosen = [(choice,) for part in parts for choice in part]
    else:
        chosen = [()]
        for part in parts:
            chosen = [(*before, choice) for before in chosen for choice in part]
            if len(chosen) > _MOST_ALTERNATIVES:
                return []
    if len(chosen) > _MOST_ALTERNATIVES:
        return []
    return [node._replace(children=children, any_of=False) for children in chosen]
