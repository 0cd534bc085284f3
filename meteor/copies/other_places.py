"""Peers that go to another place of the ring: they have another identifier then, and their memory.

Law of this file: by addresses alone.  What names a peer by its identifier reaches it no more, and
what it tried under the one that it had nobody can ask it (DESIGN section 2, load-aware placement).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from chord import CallError, Contact, GetNeighbours, Neighbours, Runtime, replace
from meteor.keeping.known_views import HAD_MAX
from meteor.wire.operations import Claim
from meteor.wire.view import View

ANSWER_S: Final = 0.5
"""Who is there has answered a dial just now, or is told something that it need not know."""
TOLD_MAX: Final = 16
"""Views of which is told, the latest."""


def as_named(contact: Contact, view: View, had: Sequence[int]) -> Contact:
    """A peer as a view names it, be that under an identifier that it `had` at another place, of
    which the last ones count."""
    if contact.id in view.holder_ids:
        return contact
    had = had[-HAD_MAX:]
    there = (one.id for one in view.holders if one.address == contact.address and one.id in had)
    return replace(contact, id=next(there, contact.id))


async def who_is_at(runtime: Runtime, address: str) -> list[Contact]:
    """The peer at an address that had another identifier: it went to another place of the ring,
    with what it had as a copy, and need not be near any more."""
    try:
        reply = await runtime.call(Contact.at(address), GetNeighbours(), ANSWER_S)
    except CallError:
        return []
    is_known = isinstance(reply, Neighbours) and reply.contact.address == address
    return [reply.contact] if is_known else []


async def tell_what_never_began(runtime: Runtime, tried: Sequence[View]) -> None:
    """Tell the copies of these own views, wherever they are by now: this peer leaves, and may come
    back under another identifier."""
    told = [
        runtime.spawn(_tell(runtime, copy.address, view))
        for view in tried[-TOLD_MAX:]
        for copy in view.copies
        if copy.address != runtime.contact.address
    ]
    for one in told:
        await one


async def _tell(runtime: Runtime, address: str, view: View) -> None:
    claim = Claim(view.intervals[0], ((view.number, view.epoch),))
    with suppress(CallError):  # it is gone, or will ask
        await runtime.call(Contact.at(address), claim, ANSWER_S)
