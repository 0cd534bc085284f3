"""Whom to be one ring with: at the start, and later, as peers that start at once may found several.

Law of this file: conversations.  Who is found is greeted, which proves that it is of the same space
and a member, and then joined, or remembered like somebody who was lost; how two rings become one is
`chord.reunion`'s.  A peer that is alone looks often, any other one rarely and at one peer only, as
two rings of several can come of the same start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from chord import CallError, ChordNode, Contact, MeteorError, Runtime
from meteor.errors import JoinFailed
from meteor.wire.greeting import greet, said_of
from squid import KeywordSpace

Find = Callable[[], Awaitable[Sequence[str]]]
"""The addresses of peers that may be of the same ring, one's own perhaps among them; raises
`MeteorError` or `OSError` when the network cannot be asked."""

ALONE_S: Final = 5.0
"""Mean time between two looks of a peer that is alone in its ring."""
RARELY_S: Final = 300.0
"""The same of any other."""


async def find_ring(
    runtime: Runtime, space: KeywordSpace, join: Sequence[Contact], *, found_if_alone: bool
) -> bool:
    """Whether one of the contacts is a peer of a ring with our space.

    Raises `JoinFailed` when none is, unless that is reason to found one; `SpaceMismatch`."""
    tried = []
    for contact in join:
        try:
            greeting = await greet(runtime, contact, space)
        except CallError as error:
            tried.append(said_of(contact, error))
            continue
        if greeting.ready:
            return True
        tried.append(f"{contact.address}: it is no member of a ring yet")
    if found_if_alone:
        return False
    raise JoinFailed(
        f"no ring to join: {'; '.join(tried)}. Start one of these peers first, or give "
        "found_if_alone=True (--found-if-alone) to found a ring when nobody answers",
        tuple(tried),
    )


async def seek_company(runtime: Runtime, node: ChordNode, space: KeywordSpace, find: Find) -> None:
    """Look round for other rings of the space, for ever."""
    while True:
        mean_s = RARELY_S if node.successors else ALONE_S
        await runtime.sleep(mean_s * runtime.random.uniform(0.5, 1.5))
        if not node.joined:
            continue
        try:
            addresses = [one for one in await find() if one != runtime.contact.address]
        except (MeteorError, OSError):
            continue  # the network is away: it is asked again
        if node.successors and addresses:
            addresses = [runtime.random.choice(addresses)]
        for address in addresses:
            await _meet(runtime, node, space, Contact.at(address))


async def meet_all(
    runtime: Runtime, node: ChordNode, space: KeywordSpace, contacts: Sequence[Contact]
) -> None:
    """Become one ring with those of these peers that are of another one: who goes back into the
    ring of a former life, or joins by the first who answers, has not looked at the others."""
    for contact in contacts:
        if node.joined and contact.address != runtime.contact.address:
            await _meet(runtime, node, space, contact)


async def _meet(runtime: Runtime, node: ChordNode, space: KeywordSpace, contact: Contact) -> None:
    try:
        greeting = await greet(runtime, contact, space)
    except MeteorError:
        return  # it is gone, or of another space
    if greeting.ready:
        node.remember(greeting.contact)
