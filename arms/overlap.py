"""Whether two selectors may select the same content: the question of a rule that denies.

Law of this file: pure, and never wrongly false for content that has each element once: only what
surely excludes one another does, which are two values at one place of the `and` levels.  What
stands in an `or`, in a group or behind `//` excludes nothing.
"""

from __future__ import annotations

from arms.tree import Node
from arms.values import NONE, meets
from arms.written import GROUP


def may_meet(one: Node, other: Node) -> bool:
    """Whether something can lie within both, as far as their plain elements tell."""
    if one.any_of or other.any_of:
        return True
    left, right = _places(one), _places(other)
    return not any(name in right and _exclude(left[name], right[name]) for name in sorted(left))


def _places(node: Node) -> dict[str, Node]:
    """The plain elements by name; not those of which a selector names several."""
    names = [child.name for child in node.children]
    return {
        child.name: child
        for child in node.children
        if child.name != GROUP and not child.descendant and names.count(child.name) == 1
    }


def _exclude(one: Node, other: Node) -> bool:
    """Whether no element meets both."""
    if NONE not in (one.value.axis, other.value.axis) and not meets(one.value, other.value):
        return True
    return not may_meet(one, other)
