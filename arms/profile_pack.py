"""A typed profile as nested lists of strings and floats: how it travels and rests.

Law of this file: what arrives packed is hostile.  Depth, number of elements, lengths and types
are checked while it is unpacked, and nothing else is built.  The text is for people; the tree
decides (DESIGN section 4).
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from arms.errors import ProfileError
from arms.tree import Node
from arms.values import ANY_VALUE, NO_VALUE, NONE, NUMBERS, WORDS, Value
from arms.written import GROUP, LIMITS

ANY_OF: Final = 4
DESCENDANT: Final = 8
_AXIS: Final = 3
_LONGEST_WORD: Final = 4 * LIMITS.text_bytes
_LONGEST_NAME: Final = 256

Packed = list[object]


class PlainTest(msgspec.Struct, array_like=True, frozen=True, gc=False, forbid_unknown_fields=True):
    """A packed element without children, that is neither an alternative nor sought anywhere."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=_LONGEST_NAME)]
    axis: Annotated[int, msgspec.Meta(ge=0, le=_AXIS)]
    low: float | str = 0.0
    high: float | str = 0.0


def pack_node(node: Node) -> Packed:
    """`[name, axis | flags, low, high, [child, ...]]`, without the parts that are empty."""
    name, value, children, any_of, descendant = node
    axis = value[0]
    bits = axis + (ANY_OF if any_of else 0) + (DESCENDANT if descendant else 0)
    packed: Packed = [name, bits, value[1], value[2]] if axis >= NUMBERS else [name, bits]
    if children:
        packed.append([pack_node(child) for child in children])
    return packed


def unpack_node(packed: object) -> Node:
    """The tree of a packed profile; raises `ProfileError` for anything `pack_node` cannot give."""
    node = _unpack(packed, LIMITS.depth, [LIMITS.elements + 1])
    if not node[2]:
        raise ProfileError("a packed profile without elements")
    return node


def _unpack(packed: object, depth: int, budget: list[int]) -> Node:
    """One element; `budget` counts down how many more there may be."""
    budget[0] -= 1
    if depth < 0 or budget[0] < 0:
        raise ProfileError("a packed profile is deeper or larger than the limits")
    if type(packed) is not list or not 2 <= len(packed) <= 5:
        raise ProfileError("a packed element is not a list of name, bits, bounds, children")
    name, bits = packed[0], packed[1]
    if type(name) is not str or len(name) > _LONGEST_NAME:
        raise ProfileError("a packed element's name is no short text")
    if type(bits) is not int or not 0 <= bits < 16:
        raise ProfileError(f"a packed element's bits are {bits!r}")
    axis = bits & _AXIS
    if axis >= NUMBERS:
        value, at = _bounds(axis, packed), 4
    else:
        value, at = (ANY_VALUE if axis else NO_VALUE), 2
    children: tuple[Node, ...] = ()
    if len(packed) == at + 1:
        below = packed[at]
        if type(below) is not list or not below:
            raise ProfileError("a packed element's children are no list")
        children = tuple([_unpack(child, depth - 1, budget) for child in below])
    elif len(packed) != at:
        raise ProfileError("a packed element has too many parts")
    if name == GROUP and (axis != NONE or not children):
        raise ProfileError("a packed group has a value, or nothing in it")
    if bits & ANY_OF and not children:
        raise ProfileError("a packed choice offers nothing")
    return Node(name, value, children, bits & ANY_OF != 0, bits & DESCENDANT != 0)


def _bounds(axis: int, packed: list[object]) -> Value:
    if len(packed) < 4:
        raise ProfileError("a packed interval lacks its bounds")
    low, high = packed[2], packed[3]
    if axis == NUMBERS and type(low) is float and type(high) is float:
        if low <= high:  # false for NaN too
            return Value(axis, low, high)
    elif (
        axis == WORDS
        and type(low) is str
        and type(high) is str
        and low <= high
        and max(len(low), len(high)) <= _LONGEST_WORD
    ):
        return Value(axis, low, high)
    raise ProfileError("a packed interval's bounds are no interval")
