"""A call that never left, as too many wait already, says nothing of whom it was meant for."""

from __future__ import annotations

from typing import Any

from chord import CallError, Contact, identifier
from chord.exchange import CALLS_PER_LINK
from chord.messages import Ping

FOR_LONG_S = 600.0


async def _left_waiting(runtime: Any, contact: Contact) -> None:
    try:
        await runtime.call(contact, Ping(), FOR_LONG_S)
    except CallError:
        return


def test_who_hangs_while_much_waits_for_it_is_given_up(sim_ring: Any) -> None:
    ring = sim_ring(seed=1)
    nodes = ring.ideal([identifier(f"peer {n}", ring.config.bits) for n in range(12)], start=True)
    one, hung = nodes[0], nodes[1]
    asker = ring.peers[one.contact.id]
    ring.settle(5.0)
    ring.peers[hung.contact.id].runtime.pause()
    for _ in range(CALLS_PER_LINK):
        asker.runtime.spawn(_left_waiting(asker.runtime, hung.contact))
    ring.settle(10.0)
    assert hung.contact not in one.successors
    assert hung.contact in asker.observer.gone


def test_who_is_busy_and_says_so_is_not(sim_ring: Any) -> None:
    ring = sim_ring(seed=1)
    nodes = ring.ideal([identifier(f"peer {n}", ring.config.bits) for n in range(12)], start=True)
    one, busy = nodes[0], nodes[1]
    ring.settle(5.0)
    ring.peers[busy.contact.id].runtime.exchange._handler = None  # everything is answered Busy
    ring.settle(10.0)
    assert busy.contact in one.successors
    assert ring.peers[one.contact.id].observer.gone == []
