"""Making way: a peer whose identifier and place another one has by now, at another address, ends.

It was held, or cut off, until the ring gave it up, and it is its data directory perhaps that was
started elsewhere.  Law of this file: one conversation, which may be repeated.  A neighbour may lie:
nobody ends by the word of one, as long as there is another, nor for a peer that does not answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chord.errors import CallError, Supplanted
from chord.messages import GetNeighbours, Neighbours, Ping

if TYPE_CHECKING:
    from collections.abc import Callable

    from chord.contact import Contact
    from chord.pointers import RingPointers
    from chord.watch import Watch


async def make_way(
    pointers: RingPointers,
    watch: Watch,
    realm: bytes,
    twin: Contact,
    is_named: Callable[[], bool],
) -> None:
    """Raise `Supplanted` where a `twin`, whom our successor takes for its predecessor, lives, and
    another neighbour says so too, as long as our successor names it (`is_named`).  An earlier life
    of us is to make way for us."""
    own = pointers.own
    if twin in watch.departed or twin.incarnation < own.incarnation:
        return
    try:
        await watch.ask(twin, Ping(realm))
    except CallError:
        return  # gone, or not there: our successor will find out, or we shall
    if await _is_named_elsewhere(pointers, watch, twin) and pointers.joined and is_named():
        raise Supplanted(
            f"{own}: identifier {own.id:x} belongs to {twin.address} since the ring gave this peer "
            "up; start it again under another one"
        )


async def _is_named_elsewhere(pointers: RingPointers, watch: Watch, twin: Contact) -> bool:
    """Whether a neighbour that is not our successor takes the twin for what we are, too; true where
    there is nobody else."""
    head = pointers.successors.first
    others = [*filter(None, [pointers.predecessor]), *pointers.successors.contacts]
    others = [one for one in others if head is None or one.id not in {head.id, twin.id}]
    for other in others:
        try:
            reply = await watch.ask(other, GetNeighbours())
        except CallError:
            continue
        if isinstance(reply, Neighbours):
            named = filter(None, (reply.predecessor, *reply.successors))
            addresses = {one.address for one in named if one.id == twin.id}
            if addresses:
                return addresses == {twin.address}
    return not others
