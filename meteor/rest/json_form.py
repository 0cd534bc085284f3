"""Meteor's values as JSON: one form for REST and for the command line's `--json`.

Law of this file: pure; seconds, never milliseconds.  Curve indexes are written as text because
they are wider than the numbers of other languages.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from meteor.receipt import Receipt
from meteor.values import Match, Notification


def payload_object(data: bytes) -> dict[str, str]:
    """`data` where the payload is text, `data_base64` where it is not."""
    try:
        return {"data": data.decode()}
    except UnicodeDecodeError:
        return {"data_base64": base64.b64encode(data).decode("ascii")}


def match_object(match: Match) -> dict[str, Any]:
    """A match; a notification also says its kind and its interest."""
    form: dict[str, Any] = {
        "id": match.id,
        "profile": str(match.profile),
        "ttl": round(match.ttl, 3),
        **payload_object(match.data),
        "owner": match.owner,
        "context": dict(match.context),
    }
    if match.content_type:
        form["content_type"] = match.content_type
    if isinstance(match, Notification):
        form |= {"kind": match.kind, "interest": match.interest}
    return form


def receipt_object(receipt: Receipt, action: str) -> dict[str, Any]:
    """What became of a post."""
    return {
        "id": receipt.id,
        "action": action,
        "complete": receipt.complete,
        "missing": intervals_object(receipt.missing),
        "matches": receipt.matches,
        "peers": receipt.peers,
        "hops": receipt.hops,
        "ttl": round(receipt.ttl, 3),
    }


def intervals_object(intervals: Iterable[tuple[int, int]]) -> list[list[str]]:
    """Closed intervals of curve indexes."""
    return [[str(first), str(last)] for first, last in intervals]
