"""Keyword spaces as TOML text.

Law of this file: what it writes it reads back equal; an entry that it does not know is an error
that names it, as a misspelt bound would otherwise become a silent default.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from datetime import date, datetime
from typing import Any, Final

from squid.errors import LimitExceeded, SpaceError
from squid.keywords import MOST_INTEGER_BITS, Choice, Dimension, Number, Time, Word

MOST_BYTES: Final = 64 * 1024
DEPTH_MAX: Final = 8
"""Of tables and lists in each other: a space has four."""
_KINDS: Final[dict[str, type[Dimension]]] = {
    kind.kind: kind for kind in (Word, Number, Choice, Time)
}
_ENTRIES: Final = ("name", "bits", "extra", "max_attributes", "dimensions")
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def read(text: str) -> dict[str, Any]:
    """The arguments of a KeywordSpace.  Raises SpaceError, LimitExceeded."""
    if not isinstance(text, str):
        raise SpaceError(f"a keyword space is read from text, not from {type(text).__name__}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise SpaceError(f"the keyword space has half a character: {error}") from error
    if size > MOST_BYTES:
        raise LimitExceeded("bytes of a keyword space", size, MOST_BYTES)
    try:
        entries = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # the former also of an integer's many digits
        raise SpaceError(f"the keyword space is not TOML: {error}") from error
    _refuse_huge(entries)
    _refuse_unknown("the keyword space", entries, _ENTRIES)
    tables = entries.get("dimensions")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise SpaceError("the keyword space has no [[dimensions]]")
    if "name" not in entries:
        raise SpaceError("the keyword space has no name")
    return {**entries, "dimensions": [_read_dimension(table) for table in tables]}


def write(space: Mapping[str, Any]) -> str:
    """A space as TOML text, from the same arguments."""
    lines = [f"{entry} = {_value(space[entry])}" for entry in _ENTRIES if entry != "dimensions"]
    for dimension in space["dimensions"]:
        lines += ["", "[[dimensions]]", f"name = {_value(dimension.name)}"]
        lines.append(f"kind = {_value(dimension.kind)}")
        for entry in fields(dimension):
            value = getattr(dimension, entry.name)
            if entry.name != "name" and value != entry.default:
                lines.append(f"{entry.name} = {_value(value)}")
    return "\n".join(lines) + "\n"


def _read_dimension(table: dict[str, Any]) -> Dimension:
    name = table.get("name")
    if not isinstance(name, str):
        raise SpaceError(f"a dimension has no name: {table}")
    kind = table.get("kind")
    declared = _KINDS.get(kind) if isinstance(kind, str) else None
    if declared is None:
        raise SpaceError(f"{name}: kind is {kind!r}, not one of {', '.join(_KINDS)}")
    entries: dict[str, Any] = {key: _plain(value) for key, value in table.items() if key != "kind"}
    _refuse_unknown(name, entries, tuple(entry.name for entry in fields(declared)))
    for entry in fields(declared):
        if entry.default is MISSING and entry.name not in entries:
            raise SpaceError(f"{name}: a {kind} needs {entry.name}")
    try:
        return declared(**entries)
    except TypeError as error:
        raise SpaceError(f"{name}: {error}") from error


def _refuse_huge(entries: dict[str, Any]) -> None:
    """Refuse whole numbers that neither a float nor a sentence about them could hold, and tables
    within tables that go deeper than any space's."""
    values: list[object] = [entries]
    for _ in range(DEPTH_MAX):
        values = [inner for value in values for inner in _within(value)]
        for value in values:
            if isinstance(value, int) and value.bit_length() > MOST_INTEGER_BITS:
                raise SpaceError(
                    f"the keyword space has a whole number of {value.bit_length()} bits"
                )
    if any(isinstance(value, (dict, list)) for value in values):
        raise SpaceError("the keyword space has tables or lists that lie too deep")


def _within(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _refuse_unknown(where: str, entries: dict[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(set(entries) - set(known))
    if unknown:
        raise SpaceError(f"{where}: {unknown[0]!r} is none of {', '.join(known)}")


def _plain(value: object) -> object:
    """TOML's own dates are times as text."""
    return value.isoformat() if isinstance(value, (date, datetime)) else value


def _value(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, str):
        return '"' + "".join(map(_escape, value)) + '"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x20 or code == 0x7F else character
