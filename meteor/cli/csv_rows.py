"""From the rows of a CSV file to posts: which column is which attribute, and what is no post.

Law of this file: pure.  A row that makes no post is rejected with its reason, never altered into
one; what is wrong with the columns themselves is said before any row is read.

    plan = Plan.of(header, {"temperature": "col4"}, stem="mote-{mote}")
    ready = plan.post(row, space)
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from arms import profile as profile_of
from squid import KeywordSpace

_BY_NUMBER: Final = re.compile(r"col([1-9][0-9]{0,3})")
_PLACE: Final = re.compile(r"\{([^{}]*)\}")
ROW: Final = "row"
"""In templates: the row's number, from 1, where no column is called so."""


class ColumnUnknown(ValueError):
    """A mapping or template names a column that the file does not have."""


class RowRejected(ValueError):
    """A row makes no post: its text is the reason."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A row as a post."""

    profile: str
    stem: str | None
    data: bytes


@dataclass(frozen=True, slots=True)
class Plan:
    """How the rows of one file become posts."""

    header: tuple[str, ...]
    columns: Mapping[str, int]
    """Attribute -> index of its column."""
    constant: str
    """The part of the profile that all rows share, as selector text."""
    stem: str | None
    data: str
    whole_row: bool
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Attribute -> kind of its dimension, for those that the space declares."""

    @classmethod
    def of(
        cls,
        header: Sequence[str],
        mapping: Mapping[str, str],
        *,
        constant: str = "",
        stem: str | None = None,
        data: str = "",
        whole_row: bool = False,
        space: KeywordSpace | None = None,
    ) -> Plan:
        """The plan for a file with this header; raises `ColumnUnknown`."""
        names = tuple(name.strip() for name in header)
        columns = {attribute: _index(column, names) for attribute, column in mapping.items()}
        for template in (stem or "", data):
            for place in _PLACE.findall(template):
                if place != ROW:
                    _index(place, names)
        kinds = {} if space is None else {one.name: one.kind for one in space.dimensions}
        return cls(names, columns, constant, stem, data, whole_row, kinds)

    @property
    def numbers_names(self) -> bool:
        """Whether the number of a row is in its name: no two have one then."""
        return ROW in _PLACE.findall(self.stem or "") and ROW not in self.header

    def post(self, row: Sequence[str], number: int) -> Ready:
        """The post of a row; raises `RowRejected`."""
        if len(row) != len(self.header):
            raise RowRejected(f"{len(row)} columns, where the header has {len(self.header)}")
        attributes: dict[str, Any] = {}
        for attribute, column in self.columns.items():
            text = row[column].strip()
            if text:
                _put(attributes, attribute, self._value(attribute, text))
        if not attributes:
            raise RowRejected("every mapped column is empty")
        mapped = str(profile_of(attributes))
        stem = None if self.stem is None else self._filled(self.stem, row, number)
        return Ready(f"{self.constant} {mapped}".strip(), stem, self._payload(row, number))

    def _value(self, attribute: str, text: str) -> str | float:
        """A cell as its dimension has it; without one, a number where it looks like one."""
        kind = self.kinds.get(attribute)
        if kind in (None, "number"):
            try:
                number = float(text)
            except ValueError:
                number = math.nan
            if math.isfinite(number):
                return int(text) if text.lstrip("+-").isdecimal() else number
            if kind == "number":
                raise RowRejected(f"{attribute}: {text!r} is no number")
        return text

    def _payload(self, row: Sequence[str], number: int) -> bytes:
        if self.whole_row:
            whole = dict(zip(self.header, row, strict=True))
            return json.dumps(whole, ensure_ascii=False).encode()
        return self._filled(self.data, row, number).encode()

    def _filled(self, template: str, row: Sequence[str], number: int) -> str:
        def cell(place: re.Match[str]) -> str:
            name = place[1]
            if name == ROW and ROW not in self.header:
                return str(number)
            return row[_index(name, self.header)].strip()

        return _PLACE.sub(cell, template)


def parse_mapping(entries: Sequence[str]) -> dict[str, str]:
    """`ATTRIBUTE=COLUMN` -> both; raises `ValueError`."""
    found: dict[str, str] = {}
    for entry in entries:
        attribute, separator, column = (part.strip() for part in entry.partition("="))
        if not (attribute and separator and column):
            raise ValueError(f"{entry!r} is not ATTRIBUTE=COLUMN, such as temperature=col4")
        if attribute in found:
            raise ValueError(f"{attribute!r} is mapped twice")
        found[attribute] = column
    return found


def _index(column: str, header: Sequence[str]) -> int:
    """Where a column is: by its name, or as `col4`, the fourth; raises `ColumnUnknown`."""
    if column in header:
        return header.index(column)
    numbered = _BY_NUMBER.fullmatch(column)
    if numbered is not None and int(numbered[1]) <= len(header):
        return int(numbered[1]) - 1
    near = get_close_matches(column, header, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(header)}"
    raise ColumnUnknown(f"no column {column!r} among {len(header)}; {hint}")


def _put(attributes: dict[str, Any], path: str, value: str | float) -> None:
    """Set a value below a path such as `wind/speed`."""
    *parents, name = path.split("/")
    for parent in parents:
        attributes = attributes.setdefault(parent, {})
    attributes[name] = value
