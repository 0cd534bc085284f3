"""A peer of another realm stands where one of the ring has just fallen: it is no member."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chord import Contact, Fault
from chord.messages import (
    Enter,
    GetFinger,
    Install,
    Membership,
    Notify,
    Ping,
    SuccessorsChanged,
)
from chord.realms import STRANGERS_MAX, Strangers
from tests.chord.conftest import SimPeer

OURS, OTHERS = b"ours", b"another"
MEMBERS = Membership(99, Contact(1, "one:1"), (Contact(1, "one:1"),))
SAID = [Ping, Notify, SuccessorsChanged, GetFinger, Enter, Install]


def stranger_in_place_of(ring: Any, fell: int, incarnation: int) -> SimPeer:
    """The member of a ring of its own at the address and identifier of who falls at this moment."""
    contact = ring.peers[fell].node.contact
    ring.crash(fell)
    ring.config = replace(ring.config, realm=OTHERS)
    stranger = SimPeer(ring, replace(contact, incarnation=incarnation))
    ring.run(stranger.node.found())
    stranger.node.start()
    return stranger


@pytest.mark.parametrize("incarnation", [0, 1])
@pytest.mark.parametrize("count", [3, 6, 12])
@pytest.mark.parametrize("seed", range(1, 6))
def test_it_gets_into_no_pointer_and_points_at_nobody(
    sim_ring: Any, seed: int, count: int, incarnation: int
) -> None:
    """Who looked at the fallen one found a peer that lives, and took it for its next life."""
    ring = sim_ring(seed=seed, realm=OURS)
    ring.grow([100 * number for number in range(1, count + 1)])
    ring.settle(5.0)
    stranger = stranger_in_place_of(ring, 200, incarnation)
    ring.settle(20.0)
    assert ring.flaws() == []
    named = [finger.contact.id for one in ring.members for finger in one.fingers]
    assert 200 not in named
    assert stranger.node.joined
    assert (stranger.node.predecessor, stranger.node.successors) == (None, ())


def _said(message: type, realm: bytes) -> Any:
    arguments: dict[type, tuple[Any, ...]] = {
        Notify: (-1,), SuccessorsChanged: ((), 1), GetFinger: (0,), Install: (MEMBERS,),
    }  # fmt: skip
    return message(*arguments.get(message, ()), realm)


@pytest.mark.parametrize("message", SAID)
def test_what_is_meant_for_a_member_of_another_realm_is_refused(
    sim_ring: Any, message: type
) -> None:
    """As by who is no member, which takes it out of all pointers of who asks."""
    ring = sim_ring(realm=OURS)
    node = ring.add(5)
    ring.run(node.found())
    sender = Contact(900, "other:1")
    with pytest.raises(Fault) as fault:
        node.handlers[message](sender, _said(message, OTHERS), 1.0)
    assert fault.value.kind == "NotJoined"
    assert sender in node.strangers
    ring.settle(1.0)
    assert node.neighbours().successors == ()


def test_so_many_strangers_are_known_and_who_is_of_ours_again_is_none() -> None:
    own = Contact(5, "own:1")
    strangers = Strangers(OURS, own)
    contacts = [Contact(number, "other:1") for number in range(STRANGERS_MAX + 1)]
    for contact in contacts:
        with pytest.raises(Fault, match="of another realm"):
            strangers.refuse(contact, OTHERS)
    assert [contact in strangers for contact in contacts] == [False] + [True] * STRANGERS_MAX
    strangers.refuse(contacts[-1], b"")
    assert contacts[-1] in strangers
    strangers.refuse(contacts[-1], OURS)
    strangers.refuse(own, OURS)
    assert contacts[-1] not in strangers


@pytest.mark.parametrize("realm", [OURS, b""])
@pytest.mark.parametrize("message", [one for one in SAID if one is not Enter])
def test_what_a_member_of_ours_says_is_not_nor_what_says_nothing_of_it(
    sim_ring: Any, message: type, realm: bytes
) -> None:
    """A peer of an earlier version of the protocol does not say it."""
    ring = sim_ring(realm=OURS)
    node = ring.add(5)
    ring.run(node.found())
    node.handlers[message](Contact(900, "other:1"), _said(message, realm), 1.0)
    ring.settle(0.001)
