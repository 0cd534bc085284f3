"""Whoever dials from an address that is being dialled for another peer is not that peer."""

from __future__ import annotations

import pytest

from chord import Contact, DialRefused
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.transport import MemoryHub, MemoryTransport
from meteor.wire.messages import Greet
from sim import Kernel, Network, SimRuntime

FIRST, LAST = "memory:1", "memory:9"
"""Of two dials that cross, the one of the smaller address stands."""


async def a_peer(hub: MemoryHub, id: int, address: str) -> AsyncioRuntime:
    transport = MemoryTransport(hub, address)
    peer = AsyncioRuntime(Contact(id, await transport.listen()), transport, seed=1)
    peer.serve(lambda sender, request, remaining_s: request, lambda contact: None)
    return peer


async def test_what_was_meant_for_its_former_identifier_does_not_go_to_a_moved_peer() -> None:
    """A peer that has moved on the ring is back at its address, and dials at that moment."""
    hub = MemoryHub()
    asker, moved = await a_peer(hub, 1, LAST), await a_peer(hub, 3, FIRST)
    dials = moved.spawn(moved.call(asker.contact, Greet(), 5.0))
    with pytest.raises(DialRefused, match="answers at the address of"):
        await asker.call(Contact(2, FIRST), Greet(), 5.0)
    assert await dials == Greet()
    assert await asker.call(moved.contact, Greet(), 5.0) == Greet()
    await asker.aclose()
    await moved.aclose()


def test_nor_does_it_in_virtual_time() -> None:
    kernel = Kernel(1)
    network = Network(kernel)
    asker = SimRuntime(kernel, network, Contact(1, LAST))
    moved = SimRuntime(kernel, network, Contact(3, FIRST))
    for peer in (asker, moved):
        peer.serve(lambda sender, request, remaining_s: request, lambda contact: None)
    dials = moved.spawn(moved.call(asker.contact, Greet(), 5.0))
    asks = asker.spawn(asker.call(Contact(2, FIRST), Greet(), 5.0))
    with pytest.raises(DialRefused):
        kernel.run_until(asks)
    assert kernel.run_until(dials) == Greet()
    again = asker.spawn(asker.call(moved.contact, Greet(), 5.0))
    assert kernel.run_until(again) == Greet()
