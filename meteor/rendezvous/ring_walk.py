"""A picture of the ring: walk along successors and ask each peer how much it holds.

Law of this file: conversations; bounded by `limit` and by the walk coming round.
"""

from __future__ import annotations

from chord import CallError, ChordNode, Contact, GetNeighbours, Neighbours, Runtime
from meteor.wire.messages import Neighbour, RingPicture
from meteor.wire.operations import State, StateQuestion

ANSWER_S = 2.0
"""Time for one peer of the walk to answer."""


async def walk_ring(
    runtime: Runtime, node: ChordNode, own: State, limit: int, id_bits: int
) -> RingPicture:
    """The peers in ring order, beginning with our own."""
    here = node.neighbours()
    peers = [_seen(here, own)]
    queue = list(here.successors)
    while queue and len(peers) < limit:
        contact = queue.pop(0)
        if contact.id == node.contact.id:
            return RingPicture(tuple(peers), closed=True, id_bits=id_bits)
        try:
            there = await runtime.call(contact, GetNeighbours(), ANSWER_S)
            state = await runtime.call(contact, StateQuestion(), ANSWER_S)
        except CallError:
            there = state = None
        if not isinstance(there, Neighbours) or not isinstance(state, State):
            peers.append(_silent(contact, peers[-1]))
            continue
        peers.append(_seen(there, state))
        queue = list(there.successors)
    alone = len(peers) == 1 and not here.successors
    return RingPicture(tuple(peers), closed=alone, id_bits=id_bits)


def _seen(neighbours: Neighbours, state: State) -> Neighbour:
    before = neighbours.predecessor
    first = 0 if before is None else before.id + 1
    kept = state.data + state.interests + state.watches
    return Neighbour(
        neighbours.contact, first, kept, answers=True, data=state.data, interests=state.interests,
        lost=state.lost, copies=state.copies, forgotten=state.forgotten,
    )  # fmt: skip


def _silent(contact: Contact, before: Neighbour) -> Neighbour:
    return Neighbour(contact, before.contact.id + 1, -1, answers=False)
