"""Matching the report's way: one row an attribute in a database, one query a match.

The report used MySQL and does not print its schema; this is SQLite in memory, with an index on each
attribute's value, or (`covering`) one that holds all that a query reads, which is several times as
quick.  Profiles are conjunctions of intervals, which is all that rows can say.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from arms import Profile
from arms.tree import Node
from arms.values import WILDCARD
from tests.benchmarks.matching_workload import ends_of

_TABLES = """
CREATE TABLE stored (id INTEGER PRIMARY KEY, attributes INTEGER NOT NULL);
CREATE TABLE attribute (
  id INTEGER NOT NULL, name TEXT NOT NULL, low REAL, high REAL, first TEXT, last TEXT);
"""
_PLAIN = """
CREATE INDEX by_number ON attribute (name, low);
CREATE INDEX by_word ON attribute (name, first);
ANALYZE;
"""
_COVERING = """
CREATE INDEX by_number ON attribute (name, low, high, id);
CREATE INDEX by_word ON attribute (name, first, last, id);
ANALYZE;
"""


class SqlMatcher:
    """Profiles by number, as subjects and as selectors."""

    def __init__(self, profiles: Iterable[Profile], *, covering: bool = False) -> None:
        self._base = sqlite3.connect(":memory:")
        self._base.executescript(_TABLES)
        for id, profile in enumerate(profiles):
            elements = profile.tree.children
            self._base.execute("INSERT INTO stored VALUES (?, ?)", (id, len(elements)))
            self._base.executemany(
                "INSERT INTO attribute VALUES (?, ?, ?, ?, ?, ?)",
                [(id, element.name, *ends_of(element.value)) for element in elements],
            )
        self._base.executescript(_COVERING if covering else _PLAIN)

    def match(self, selector: Profile) -> list[int]:
        """The stored subjects that have all attributes that the selector asks for."""
        tests = selector.tree.children
        where, values = _any_of(tests)
        query = f"SELECT id FROM attribute WHERE {where} GROUP BY id HAVING count(*) = ?"
        return [id for (id,) in self._base.execute(query, (*values, len(tests)))]

    def match_subject(self, subject: Profile) -> list[int]:
        """The stored selectors whose attributes the subject has all."""
        where, values = _any_of(subject.tree.children)
        query = (
            f"SELECT id FROM (SELECT id, count(*) AS met FROM attribute WHERE {where} GROUP BY id)"
            " JOIN stored USING (id) WHERE met = attributes"
        )
        return [id for (id,) in self._base.execute(query, values)]

    def close(self) -> None:
        """Give the memory back."""
        self._base.close()


def _any_of(elements: tuple[Node, ...]) -> tuple[str, list[object]]:
    parts: list[str] = []
    values: list[object] = []
    for name, value, *_ in elements:
        low, high, first, last = ends_of(value)
        if value.axis == WILDCARD:
            parts.append("(name = ?)")
            values.append(name)
        elif low is None:
            parts.append("(name = ? AND first <= ? AND last >= ?)")
            values += [name, last, first]
        else:
            parts.append("(name = ? AND low <= ? AND high >= ?)")
            values += [name, high, low]
    return " OR ".join(parts), values
