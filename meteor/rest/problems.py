"""What went wrong, as REST says it: a status and a problem document (RFC 9457).

Law of this file: pure.  One table from our errors to HTTP; a client finds in `type` which error
it was, in `detail` what to do, and the fields that a program needs: `value`, `limit`, `position`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from arms import ProfileError, SelectorError
from meteor.errors import (
    Busy,
    Closed,
    Incomplete,
    LimitExceeded,
    MeteorError,
    NotConnected,
    Refused,
    SpaceError,
    SpaceMismatch,
    Timeout,
    TypeMismatch,
    UnknownAction,
)

JSON_TYPE: Final = "application/problem+json"
XML_TYPE: Final = "application/problem+xml"

_STATUS: Final[tuple[tuple[type[BaseException], int], ...]] = (
    (LimitExceeded, 400),
    (SelectorError, 400),
    (ProfileError, 400),
    (TypeMismatch, 400),
    (SpaceError, 400),
    (UnknownAction, 400),
    (SpaceMismatch, 409),
    (Refused, 403),
    (Timeout, 504),
    (Incomplete, 504),
    (Busy, 503),
    (NotConnected, 503),
    (Closed, 503),
    (MeteorError, 502),
    (ValueError, 400),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem document and its status."""

    status: int
    type: str
    detail: str
    fields: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> bytes:
        """The document as `application/problem+json`."""
        form = {"type": self.type, "status": self.status, "detail": self.detail, **self.fields}
        # a header's bytes that are no UTF-8 come as half surrogate pairs, which have no bytes
        return json.dumps(form, ensure_ascii=False).encode(errors="replace")

    def as_xml(self) -> bytes:
        """The document as `application/problem+xml`."""
        form = {"type": self.type, "status": self.status, "detail": self.detail, **self.fields}
        body = "".join(f"<{name}>{_text(value)}</{name}>" for name, value in form.items())
        return f'<problem xmlns="urn:ietf:rfc:7807">{body}</problem>'.encode()


def problem_of(error: Exception) -> Problem | None:
    """The problem that an error of ours, or a caller's bad value, is; None for a bug."""
    for kind, usual in _STATUS:
        if isinstance(error, kind):
            too_large = isinstance(error, LimitExceeded) and error.name.endswith("bytes")
            status = 413 if too_large else usual
            return Problem(status, f"urn:meteor:error:{_name(error)}", str(error), _fields(error))
    return None


def _name(error: Exception) -> str:
    """The public class: a private refinement goes by its base's name."""
    public = (kind.__name__ for kind in type(error).__mro__ if kind.__module__ != "builtins")
    known = {kind.__name__ for kind, _ in _STATUS}
    return next((name for name in public if name in known), type(error).__name__)


def _fields(error: Exception) -> dict[str, Any]:
    """What a program may act on."""
    names = ("name", "value", "limit", "position", "rule", "action", "expected")
    found = {name: getattr(error, name) for name in names if hasattr(error, name)}
    if isinstance(error, SelectorError):
        found["value"] = error.text
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: object) -> object:
    return value if isinstance(value, int | float | str | bool) else str(value)


def _text(value: object) -> str:
    """Character data, without what XML cannot carry."""
    return escape("".join(c for c in str(value) if c.isprintable() or c in "\n\t"))
