"""The tree that matching works on: elements whose values have their meaning.

Law of this file: immutable; built from the written elements against a space, or by form alone.
An element is declared by its path from the root, groups left out; below `//` it is declared by
the only dimension that it can reach (DESIGN section 4; report section 2.1.1).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from arms.declarations import Space, Unreadable, meaning
from arms.errors import ProfileError, SelectorError
from arms.values import NO_VALUE, Value
from arms.written import GROUP, NOTHING, Element, count_attributes
from squid import Dimension, LimitExceeded, TypeMismatch


class Node(NamedTuple):
    """An element with its meaning."""

    name: str
    value: Value = NO_VALUE
    children: tuple[Node, ...] = ()
    any_of: bool = False
    descendant: bool = False


def build_tree(root: Element, space: Space | None, text: str = "") -> Node:
    """The meaning of a profile's elements.

    Raises `TypeMismatch` against a declared dimension, `LimitExceeded` above the space's
    `max_attributes`, `SelectorError` (`ProfileError` where there is no text) for a value that
    has no meaning by its form.
    """
    if space is not None:
        check_attributes(root, space.max_attributes)
    return _build(root, "", space, text)


def check_attributes(root: Element, limit: int) -> None:
    """Raise `LimitExceeded` when the profile has more attributes than `limit`."""
    count = count_attributes(root)
    if count > limit:
        raise LimitExceeded("max_attributes", count, limit)


def _build(element: Element, path: str, space: Space | None, text: str) -> Node:
    dimension = None if space is None else declaration(path, space)
    if space is not None and dimension is None:
        _check_extra(element, path, space)
    try:
        value = meaning(element.value, path.lstrip("/"), dimension)
    except Unreadable as error:
        raise _located(error, element, path, text) from None
    children = [
        _build(child, child_path(path, child.name, child.descendant), space, text)
        for child in element.children
    ]
    return Node(element.name, value, tuple(children), element.any_of, element.descendant)


def child_path(path: str, name: str, descendant: bool) -> str:
    """The path pattern of a child: `/wind/speed`, `//speed`; a group lies where its parent is."""
    if name == GROUP:
        return path
    return f"{path}{'//' if descendant else '/'}{name}"


def declaration(path: str, space: Space) -> Dimension | None:
    """The dimension that declares the element at this path pattern, if there is one."""
    if "//" not in path:
        return space.dimension(path[1:]) if path else None
    reached = [name for name in space.names if fits("/" + name, path)]
    return space.dimension(reached[0]) if len(reached) == 1 else None


@lru_cache(maxsize=4096)
def fits(path: str, pattern: str) -> bool:
    """Whether the element path (`/wind/speed`) lies where the pattern (`//speed`) looks."""
    steps = path[1:].split("/")
    reached = {0}  # how many steps the pattern so far may have taken
    for wanted in pattern[1:].split("/"):
        if wanted:
            reached = {at + 1 for at in reached if at < len(steps) and steps[at] == wanted}
        elif reached:  # the gap of a `//`
            reached = set(range(min(reached), len(steps)))
    return len(steps) in reached


def _check_extra(element: Element, path: str, space: Space) -> None:
    """Refuse an undeclared attribute where the space allows none."""
    if space.extra != "refuse" or element.name in {"", GROUP}:
        return
    if element.children and element.value == NOTHING:
        return
    if "//" not in path:
        known = ", ".join(space.names)
        raise TypeMismatch(path[1:], element.name, f"a declared attribute ({known})")


def _located(error: Unreadable, element: Element, path: str, text: str) -> Exception:
    if element.position >= 0 and text:
        return SelectorError(text, element.position, error.reason, error.cure)
    return ProfileError(f"{path.lstrip('/') or 'profile'}: {error.reason}; {error.cure}")
