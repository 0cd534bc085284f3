"""What members answer to strangers, to clients, and to a walk round the ring."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Contact, Fault, GetNeighbours, Neighbours
from chord.messages import (
    Enter,
    FindPredecessor,
    GetFinger,
    Install,
    Leaving,
    Membership,
    Notify,
    Ping,
    SuccessorsChanged,
)

CLIENT = Contact(77, "")
STRANGER = Contact(77, "stranger:1")


@pytest.mark.parametrize(
    "request_",
    [Ping(), GetNeighbours(), Notify(), GetFinger(0), FindPredecessor(1, 16, 8), Enter()],
)
def test_who_is_no_member_says_so(sim_ring: Any, request_: object) -> None:
    node = sim_ring(bits=16).add(5)
    with pytest.raises(Fault) as refused:
        node.handlers[type(request_)](STRANGER, request_, 1.0)
    assert refused.value.kind == "NotJoined"


@pytest.mark.parametrize("message", [Notify(), SuccessorsChanged((), 9)])
def test_a_client_gets_no_place_in_the_ring(sim_ring: Any, message: object) -> None:
    ring = sim_ring(bits=16)
    node = ring.ideal([10, 70, 80])[2]
    for sender in (CLIENT, Contact.at("somewhere:1")):
        with pytest.raises(Fault, match="no place in the ring"):
            node.handlers[type(message)](sender, message, 1.0)
    assert ring.flaws() == []


def test_a_stranger_who_leaves_changes_nothing(sim_ring: Any) -> None:
    ring = sim_ring(bits=16)
    node = ring.ideal([10, 70, 80])[2]
    node.handlers[Leaving](STRANGER, Leaving(None, (STRANGER,)), 1.0)
    ring.settle(1.0)
    assert ring.flaws() == []


def test_lists_of_members_that_nobody_asked_for_change_nothing(sim_ring: Any) -> None:
    ring = sim_ring(bits=16)
    ring.ideal([10, 70, 80])
    outsider = ring.add(90)
    members = (STRANGER, outsider.contact, *(node.contact for node in ring.members))
    for node in (*ring.members, outsider):
        node.handlers[Install](STRANGER, Install(Membership(99, STRANGER, members)), 1.0)
    assert ring.flaws() == []
    assert not outsider.joined


def test_a_forming_ring_of_more_than_its_limit_is_refused(sim_ring: Any) -> None:
    ring = sim_ring(bits=16)
    node = ring.grow([5], start=False)[0]
    many = tuple(Contact(i, f"p{i}:1") for i in range(10))
    with pytest.raises(Fault, match="10 members"):
        node.handlers[Install](STRANGER, Install(Membership(99, STRANGER, many)), 1.0)


def test_a_walk_by_neighbours_meets_everybody_once(sim_ring: Any) -> None:
    ring = sim_ring(seed=2)
    ring.ideal(range(1000, 31000, 1000))
    asker = ring.peers[1000]

    async def walk() -> list[int]:
        met = [1000]
        step = asker.node.neighbours()
        while step.successors[0].id != 1000:
            step = await asker.runtime.call(step.successors[0], GetNeighbours(), 1.0)
            assert isinstance(step, Neighbours)
            assert step.predecessor is not None
            assert step.predecessor.id == met[-1]
            met.append(step.contact.id)
        return met

    assert ring.run(walk()) == list(range(1000, 31000, 1000))


def test_a_list_already_seen_is_answered_by_its_version(sim_ring: Any) -> None:
    ring = sim_ring(bits=16)
    node = ring.ideal([10, 70, 80])[1]
    sender = ring.peers[10].node.contact
    first = node.handlers[Notify](sender, Notify(), 1.0)
    assert [contact.id for contact in first.successors] == [80, 10]
    again = node.handlers[Notify](sender, Notify(first.version), 1.0)
    assert (again.unchanged, again.successors) == (True, ())
    assert again.predecessor == sender
