"""A pointer names nobody who cannot be asked whether he lives, whoever says so: a client, somebody
who has not said his identifier, or one whom the ring has no room for.

What they said themselves was refused, but not the lists of others that name them: a member whose
only neighbour took its leave with such a list pointed at nobody for ever."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Contact, Fault, RingError
from chord.messages import (
    Acknowledged,
    FingerFound,
    GetFinger,
    Install,
    Leaving,
    Membership,
    PredecessorFound,
)

BITS = 16
NOBODY = {
    "client": Contact(77, ""),
    "without an identifier": Contact.at("nowhere:1"),
    "too wide": Contact(1 << 200, "wide:1"),
}
each_nobody = pytest.mark.parametrize("nobody", NOBODY.values(), ids=NOBODY.keys())


@each_nobody
@pytest.mark.parametrize("count", [2, 3, 12])
def test_who_takes_its_leave_names_its_own_neighbours(
    sim_ring: Any, nobody: Contact, count: int
) -> None:
    ring = sim_ring(bits=BITS)
    ids = range(1000, 1000 * (count + 1), 1000)
    ring.ideal(ids, start=True)
    leaver = ring.peers[2000].node.contact
    neighbours = {ids[0], ids[2 % count]}
    ring.crash(2000)
    named: list[Any] = []
    for node_id in sorted(neighbours):
        node = ring.peers[node_id].node
        node.handlers[Leaving](leaver, Leaving(nobody, (nobody,)), 1.0)
        named.append((node.predecessor, *node.successors))
    ring.settle(1.0)
    assert ring.ideal_within_s(30.0) < 30.0
    assert not any(nobody in pointers for pointers in named), named


@each_nobody
def test_a_joiner_has_a_peer_before_it(sim_ring: Any, nobody: Contact) -> None:
    ring = sim_ring(bits=BITS)
    liar = ring.add(100)
    ring.peers[100].runtime.serve(
        lambda *_: PredecessorFound(nobody, found=True, successors=(nobody,)), lambda _: None
    )
    del ring.peers[100]
    joiner = ring.add(300)
    with pytest.raises(RingError, match="is no peer"):
        ring.run(joiner.join([liar.contact]))
    assert not joiner.joined


@each_nobody
def test_a_list_of_members_with_nobody_in_it_is_refused(sim_ring: Any, nobody: Contact) -> None:
    ring = sim_ring(bits=BITS)
    nodes = ring.grow([10, 70, 80], start=False)
    members = (*(node.contact for node in nodes), nobody)
    with pytest.raises(Fault, match="no peer"):
        nodes[1].handlers[Install](
            nodes[0].contact, Install(Membership(99, nodes[0].contact, members)), 1.0
        )
    ring.settle(1.0)
    assert ring.flaws() == []


@each_nobody
def test_no_finger_is_nobody(sim_ring: Any, nobody: Contact) -> None:
    ring = sim_ring(bits=BITS)
    nodes = ring.ideal(range(1000, 17000, 1000))
    liar = ring.peers[2000].runtime
    liar.serve(
        lambda _, message, __: (
            FingerFound(nobody, None, None) if isinstance(message, GetFinger) else Acknowledged()
        ),
        lambda _: None,
    )
    nodes[0].install(nodes[0].predecessor, nodes[0].successors)
    ring.run(nodes[0].refresh_fingers())
    assert nodes[0].fingers == ()
