"""What a profile asks of, or offers on, each dimension of the space: its routing terms.

Law of this file: the contract with routing.  `selects(i, d)` implies that the boxes of
`selector_terms(i)` and `subject_terms(d)` share a cell.  Alternatives and repeated siblings take
their hull, `//` and presence tests the whole axis, a missing attribute the absent cell
(DESIGN section 4).
"""

from __future__ import annotations

import math

from arms.declarations import Space
from arms.tree import Node
from arms.values import NONE, TOP, WILDCARD, Value
from arms.written import GROUP
from squid import (
    Absent,
    Dimension,
    Hull,
    LimitExceeded,
    Number,
    NumberInterval,
    Prefix,
    Term,
    TypeMismatch,
    Whole,
    Word,
    WordInterval,
)

Asked = dict[str, list[Value]]


def selector_terms(root: Node, space: Space) -> dict[str, Term]:
    """One term a dimension for a typed tree in the role of a selector.

    A tree that came packed may lie about its kinds: raises `TypeMismatch`, and `LimitExceeded`
    above the space's `max_attributes`."""
    _check_attributes(root, space)
    asked = _asked(root, "")
    return {name: _selector_term(asked.get(name, []), name, space) for name in space.names}


def subject_terms(root: Node, space: Space) -> dict[str, Term]:
    """One term a dimension for a typed tree in the role of a subject; raises as
    `selector_terms`."""
    _check_attributes(root, space)
    offered: Asked = {}
    _offer(root, "", offered)
    return {name: _subject_term(offered.get(name, []), name, space) for name in space.names}


def _asked(node: Node, path: str) -> Asked:
    """The intervals of which at least one must be met, for each path that is surely tested."""
    levels = [_asked_by(child, path) for child in node.children if not child.descendant]
    if node.any_of:
        if len(levels) < len(node.children):
            return {}
        common = [name for name in levels[0] if all(name in level for level in levels)]
        return {name: [v for level in levels for v in level[name]] for name in common}
    together: Asked = {}
    for level in levels:
        for name, values in level.items():
            together.setdefault(name, []).extend(values)
    return together


def _asked_by(node: Node, path: str) -> Asked:
    if node.name == GROUP:
        return _asked(node, path)
    here = f"{path}/{node.name}" if path else node.name
    asked = _asked(node, here)
    if node.value.axis > WILDCARD:
        asked.setdefault(here, []).append(node.value)
    return asked


def _offer(node: Node, path: str, offered: Asked) -> None:
    for child in node.children:
        if child.name == GROUP:
            _offer(child, path, offered)
            continue
        here = f"{path}/{child.name}" if path else child.name
        offered.setdefault(here, []).append(child.value)
        _offer(child, here, offered)


def _selector_term(values: list[Value], name: str, space: Space) -> Term:
    return _hull([_interval(value, name, space) for value in values]) if values else Whole()


def _subject_term(values: list[Value], name: str, space: Space) -> Term:
    if not values:
        return Absent()
    if len(values) == 1:  # what nearly all have, without the lists and generators of several
        axis = values[0].axis
        if axis > WILDCARD:
            return _interval(values[0], name, space)
        return Whole() if axis == WILDCARD else Absent()
    if any(value.axis == WILDCARD for value in values):
        return Whole()
    return _hull(
        [Absent() if value.axis == NONE else _interval(value, name, space) for value in values]
    )


def _hull(terms: list[Term]) -> Term:
    return terms[0] if len(terms) == 1 else Hull(tuple(terms))


def _interval(value: Value, name: str, space: Space) -> Term:
    _, low, high = value
    dimension = space.dimension(name)
    assert dimension is not None
    if isinstance(low, str) or isinstance(high, str):
        return _word_interval(str(low), str(high), dimension)
    if isinstance(dimension, Word):
        raise TypeMismatch(name, low, "a word")
    whole = not isinstance(dimension, Number)
    return NumberInterval(_end(low, whole), _end(high, whole))


def _word_interval(low: str, high: str, dimension: Dimension) -> Term:
    if not isinstance(dimension, Word):
        raise TypeMismatch(dimension.name, low, f"a {dimension.kind}")
    if high == low + TOP:
        return Prefix(low)
    return WordInterval(low or None, None if high == TOP else high)


def _end(bound: float, whole: bool) -> float | int | None:
    """Open ends as None; times and ranks (`whole`) as the integers that they are."""
    if math.isinf(bound):
        return None
    return int(bound) if whole else bound


def _check_attributes(root: Node, space: Space) -> None:
    count = _attributes(root)
    if count > space.max_attributes:
        raise LimitExceeded("max_attributes", count, space.max_attributes)


def _attributes(node: Node) -> int:
    """How many elements below have a value, or no children."""
    below = [
        _attributes(child) + (child.value.axis != NONE) if child.children else 1
        for child in node.children
    ]
    return sum(below)
