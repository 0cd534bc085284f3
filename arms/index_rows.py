"""Profiles as rows for the index: conjunctions of path tests, and offers by path.

Law of this file: the rows of a selector never leave out a subject that it selects; `exact` says
that they let no other in, given a subject whose paths are all different.
"""

from __future__ import annotations

from itertools import islice, product
from typing import Final

from arms.tree import Node, child_path
from arms.values import NONE, Value
from arms.written import GROUP

Test = tuple[str, Value]
"""A path pattern such as `/temperature/unit` or `//unit`, and the value to meet there."""
Row = list[Test]

MOST_ROWS: Final = 16


def selector_rows(root: Node) -> tuple[list[Row], bool]:
    """A selector as the disjunction of at most 16 rows, and whether they say everything; above
    that one row without tests stands for all."""
    if not root.any_of:
        row = _plain_row(root)
        if row is not None:
            return [row], True
    rows = _rows_below(root, "")
    if rows is None:
        return [[]], False
    return rows, not _has_deep_descendant(root)


def subject_offers(root: Node) -> tuple[list[Test], bool]:
    """Every element of a subject with its path, and whether all paths are different."""
    offers = [("/" + child[0], child[1]) for child in root[2]]
    for child in root[2]:
        if child[2]:
            offers = []
            _offers_below(root, "", offers)
            break
    return offers, len(dict(offers)) == len(offers)


def _plain_row(root: Node) -> Row | None:
    """The tests of a root whose elements are one test each, at one path; else None."""
    row: Row = []
    for name, value, children, _, descendant in root[2]:
        if children or descendant or name == GROUP:
            return None
        row.append(("/" + name, value))
    return row


def _rows_below(node: Node, path: str) -> list[Row] | None:
    parts: list[list[Row]] = []
    for child in node.children:
        here = child_path(path, child.name, child.descendant)
        below = _rows_below(child, here)
        if below is None:
            return None
        tested = child.name != GROUP and (child.value.axis != NONE or not child.children)
        parts.append([[(here, child.value), *row] if tested else row for row in below])
    if not parts:
        return [[]]
    if node.any_of:
        rows = [row for part in parts for row in part]
    else:
        combined = islice(product(*parts), MOST_ROWS + 1)
        rows = [[test for row in rows for test in row] for rows in combined]
    return rows if len(rows) <= MOST_ROWS else None


def _has_deep_descendant(node: Node) -> bool:
    """Whether a `//` element has children: both must then be met below the same instance."""
    return any(
        (child.descendant and bool(child.children)) or _has_deep_descendant(child)
        for child in node.children
    )


def _offers_below(node: Node, path: str, offers: list[Test]) -> None:
    for child in node.children:
        if child.name == GROUP:
            _offers_below(child, path, offers)
            continue
        here = f"{path}/{child.name}"
        offers.append((here, child.value))
        if child.children:
            _offers_below(child, here, offers)


def ambiguous_paths(offers: list[Test]) -> frozenset[str]:
    """The paths that occur more than once, and all below them: a row does not say which element
    meets which test there."""
    seen: set[str] = set()
    repeated: set[str] = set()
    for path, _ in offers:
        (repeated if path in seen else seen).add(path)
    below = tuple(f"{path}/" for path in sorted(repeated))
    return frozenset(
        path for path in sorted(seen) if path in repeated or (below and path.startswith(below))
    )
