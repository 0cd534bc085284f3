"""Meteor's values as the documents of `POST /messages`.

Law of this file: pure; the beside of `meteor.rest.json_form`, in milliseconds and elements.
"""

from __future__ import annotations

from arms import FoundMessage, Message, Result
from meteor.receipt import Receipt
from meteor.values import Match


def found_message(match: Match) -> FoundMessage:
    """A match as a result shows it."""
    return FoundMessage(
        id=match.id,
        profile=match.profile,
        data=match.data,
        content_type=match.content_type,
        owner=match.owner,
        ttl_s=match.ttl,
        context=tuple(match.context.items()),
    )


def result_of(receipt: Receipt, message: Message, found: tuple[FoundMessage, ...] = ()) -> Result:
    """What came of a message.  What was stored goes by its full id, by which it can be renewed
    and cancelled; anything else by the name that its poster gave it."""
    kept = message.action == "store"
    return Result(
        id=receipt.id if kept or not message.id else message.id,
        action=message.action,
        complete=receipt.complete,
        matches=len(found) if message.action == "retrieve" else receipt.matches,
        peers=receipt.peers,
        missing=receipt.missing,
        found=found,
    )
