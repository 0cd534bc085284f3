"""Associative selection: the whole semantics of a match, on two trees.

Law of this file: `selects(selector, subject)` holds when every element of the selector is
contained in the subject and its value met; the subject may hold more.  Whichever of the two
arrives first, `match(interest, data) = selects(interest, data)` (report section 2.1.2).  Groups
test the element around them; in a subject they only offer their elements.
"""

from __future__ import annotations

from collections.abc import Callable

from arms.tree import Node
from arms.values import NONE, Value, meets
from arms.written import GROUP

Test = Callable[[Value, Value], bool]


def selects(selector: Node, subject: Node) -> bool:
    """Whether the selector's tests all meet one element of the subject each."""
    return _level(selector, subject, None)


Memo = dict[tuple[int, int], bool]
"""Verdicts by test and element.  Below a `//` the same test comes to the same element along many
paths, and only the memo keeps a hostile pair of profiles from taking hours."""


def _level(selector: Node, subject: Node, memo: Memo | None) -> bool:
    """Whether the tests below `selector` hold at `subject`, by that level's connective."""
    any_of = selector[3]
    for test in selector[2]:  # a generator for `any` or `all` takes half as long again
        if _holds(test, subject, memo) == any_of:
            return any_of
    return not any_of


def _holds(test: Node, subject: Node, memo: Memo | None) -> bool:
    """Whether some element at the place of `test` meets it and all below it."""
    if memo is None:
        if not test[4]:
            return _found(test, subject, None)
        memo = {}
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
