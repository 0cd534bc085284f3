"""Conditional requests: an answer that the caller has already is not sent again (RFC 9110, 13).

Law of this file: pure.  `If-None-Match` decides alone where it is given; `Last-Modified` is said
only of what has one moment of change (a file, the space), never of matches: what is deleted leaves
no later time behind, and a 304 would hide it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import blake2b
from typing import Final

_TAG: Final = re.compile(r'(W/)?("[\x21\x23-\x7e\x80-\xff]*")')


def entity_tag(content: bytes, *, weak: bool = False) -> str:
    """The tag of a content; weak where the same thing may be written in other bytes."""
    strong = f'"{blake2b(content, digest_size=16).hexdigest()}"'
    return f"W/{strong}" if weak else strong


def http_date(moment_s: float) -> str:
    """Seconds since the epoch as HTTP writes them."""
    return format_datetime(datetime.fromtimestamp(int(moment_s), UTC), usegmt=True)


def is_unchanged(
    tag: str, modified_s: float | None, if_none_match: str | None, if_modified_since: str | None
) -> bool:
    """Whether the caller has this state already; malformed conditions count as none."""
    if if_none_match is not None:
        if if_none_match.strip() == "*":
            return True
        opaque = tag.removeprefix("W/")
        return any(match[2] == opaque for match in _TAG.finditer(if_none_match))
    if if_modified_since is None or modified_s is None:
        return False
    try:
        since = parsedate_to_datetime(if_modified_since)
    except (TypeError, ValueError, OverflowError):
        return False
    return since.tzinfo is not None and int(modified_s) <= since.timestamp()
