"""From a peer's reply to a receipt, or to the error that a caller did not rule out.

Law of this file: pure; every verb of a client ends here.
"""

from __future__ import annotations

from meteor.errors import Incomplete
from meteor.receipt import Receipt
from meteor.wire.messages import PostReply


def receipt_of(reply: PostReply, matches: int | None = None) -> Receipt:
    """The receipt in a peer's reply; so many `matches` if they were counted here."""
    return Receipt(
        id=reply.id,
        complete=reply.complete,
        missing=reply.missing,
        matches=reply.matches if matches is None else matches,
        peers=reply.peers,
        hops=reply.hops,
        ttl=reply.ttl_s,
        troubles=reply.troubles,
    )


def settled(receipt: Receipt, operation: object, *, allow_partial: bool) -> Receipt:
    """The receipt; raises `Incomplete` if it is not complete and that was not allowed."""
    if receipt.complete or allow_partial:
        return receipt
    raise Incomplete(
        f"{operation}: {len(receipt.missing) or 'some'} interval(s) of its region are missing: "
        "the peer that held them is gone, or did not answer in time; try again, give a longer "
        "timeout, or accept it with allow_partial=True",
        receipt=receipt,
        missing=receipt.missing,
    )
