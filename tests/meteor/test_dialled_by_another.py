"""Whoever dials from an address that is being dialled for another peer is not that peer; who is
sought there too waits for either dial."""

from __future__ import annotations

import asyncio

import pytest

from chord import (
    AnotherAnswers,
    CallError,
    Contact,
    Deferred,
    DialRefused,
    LinkClosed,
    Runtime,
)
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.transport import Channel, MemoryChannel, MemoryHub, MemoryTransport
from meteor.wire.messages import Greet
from sim import Faults, FrameFaults, Kernel, Network, SimRuntime

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


async def error_of(runtime: Runtime, contact: Contact) -> CallError | None:
    try:
        await runtime.call(contact, Greet(), 5.0)
    except CallError as error:
        return error
    return None


async def all_sought_at_once(asker: Runtime, moved: Runtime) -> None:
    """The asker dials who was there, and seeks who is, a stranger and whoever is there, as that one
    dials it."""
    sought = [Contact(2, FIRST), moved.contact, Contact(4, FIRST), Contact.at(FIRST)]
    tasks = [
        moved.spawn(error_of(moved, asker.contact)),
        *(asker.spawn(error_of(asker, contact)) for contact in sought),
    ]
    dials, former, found, stranger, anybody = [await task for task in tasks]
    assert dials is found is anybody is None
    for error in (former, stranger):
        assert isinstance(error, AnotherAnswers)
        assert error.who == moved.contact
    assert await asker.call(moved.contact, Greet(), 5.0) == Greet()
    assert await moved.call(asker.contact, Greet(), 5.0) == Greet()


@pytest.mark.parametrize("one_turn_later", [False, True])
async def test_who_is_sought_where_it_dials_from_is_reached(one_turn_later: bool) -> None:
    hub = MemoryHub()
    asker, moved = await a_peer(hub, 1, LAST), await a_peer(hub, 3, FIRST)
    if one_turn_later:  # both dials cross, and the other side's stands
        moved.send(asker.contact, Greet())
    await all_sought_at_once(asker, moved)
    await asker.aclose()
    await moved.aclose()


@pytest.mark.parametrize("seed", range(20))
def test_and_so_it_is_in_virtual_time(seed: int) -> None:
    kernel = Kernel(seed)
    network = Network(kernel)
    asker = SimRuntime(kernel, network, Contact(1, LAST))
    moved = SimRuntime(kernel, network, Contact(3, FIRST))
    for peer in (asker, moved):
        peer.serve(lambda sender, request, remaining_s: request, lambda contact: None)
    kernel.run_until(kernel.spawn(all_sought_at_once(asker, moved)))


class SlowTransport(MemoryTransport):
    """Dials nobody before it is told to, and then finds that nobody can be reached."""

    async def dial(self, address: str) -> MemoryChannel:
        await self.gone.wait()
        raise LinkClosed(f"{address} does not answer")

    def __init__(self, hub: MemoryHub, address: str) -> None:
        super().__init__(hub, address)
        self.gone = asyncio.Event()


async def test_a_dial_that_nobody_answers_proves_nothing_about_any_of_them() -> None:
    transport = SlowTransport(MemoryHub(), LAST)
    asker = AsyncioRuntime(Contact(1, await transport.listen()), transport, seed=1)
    sought = [Contact(2, FIRST), Contact(3, FIRST)]
    tasks = [asker.spawn(error_of(asker, contact)) for contact in sought]
    await asyncio.sleep(0.01)
    assert not any(task.done() for task in tasks)
    transport.gone.set()
    assert [type(await task) for task in tasks] == [LinkClosed, LinkClosed]
    await asker.aclose()


async def test_who_dials_while_its_address_does_not_answer_is_reached() -> None:
    hub = MemoryHub()
    transport = SlowTransport(hub, LAST)
    asker = AsyncioRuntime(Contact(1, await transport.listen()), transport, seed=1)
    asker.serve(lambda sender, request, remaining_s: request, lambda contact: None)
    moved = await a_peer(hub, 3, FIRST)
    await all_sought_at_once(asker, moved)
    await asker.aclose()
    await moved.aclose()


async def test_a_dial_that_is_not_wanted_any_more_does_not_come_after_the_next() -> None:
    class FirstIsSlow(MemoryTransport):
        """Its first dial takes longer than its second."""

        dials = 0

        async def dial(self, address: str) -> Channel:
            self.dials += 1
            if self.dials == 1:
                await asyncio.sleep(0.02)
            return await super().dial(address)

    hub = MemoryHub()
    transport = FirstIsSlow(hub, FIRST)
    asker = AsyncioRuntime(Contact(1, await transport.listen()), transport, seed=1)
    lost: list[Contact] = []
    asker.serve(lambda sender, request, remaining_s: request, lost.append)
    moved = await a_peer(hub, 3, LAST)

    async def slowly() -> Greet:
        await moved.sleep(0.1)
        return Greet()

    moved.serve(lambda sender, request, remaining_s: Deferred(slowly()), lambda contact: None)
    sought = [asker.spawn(error_of(asker, Contact(id, LAST))) for id in (2, 3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asker.drop(Contact(2, LAST))
    assert [type(await one) for one in sought] == [LinkClosed, type(None)]
    assert moved.contact not in lost
    await asker.aclose()
    await moved.aclose()


def test_nor_does_it_prove_anything_in_virtual_time() -> None:
    kernel = Kernel(1)
    network = Network(kernel)
    asker = SimRuntime(kernel, network, Contact(1, LAST))
    Faults(network).partition([asker.contact])
    tasks = [asker.spawn(error_of(asker, Contact(id, FIRST))) for id in (2, 3)]
    assert [type(kernel.run_until(task)) for task in tasks] == [LinkClosed, LinkClosed]


async def left_by_who_is_dropped(asker: Runtime) -> None:
    """The first that waited is dialled anew, and the others wait for that."""
    tasks = [asker.spawn(error_of(asker, Contact(id, FIRST))) for id in (2, 3, 4)]
    await asker.sleep(0.001)
    asker.drop(Contact(2, FIRST))
    assert [type(await task) for task in tasks] == [LinkClosed] * 3


async def test_nor_does_the_dial_that_is_made_again_as_who_was_dialled_is_dropped() -> None:
    transport = SlowTransport(MemoryHub(), LAST)
    asker = AsyncioRuntime(Contact(1, await transport.listen()), transport, seed=1)
    left = asker.spawn(left_by_who_is_dropped(asker))
    await asyncio.sleep(0.01)
    transport.gone.set()
    await left
    await asker.aclose()


def test_nor_does_such_a_dial_in_virtual_time_where_frames_are_lost() -> None:
    kernel = Kernel(1)
    network = Network(kernel)
    asker = SimRuntime(kernel, network, Contact(1, LAST))
    Faults(network).frames = FrameFaults(loss=1.0, raw=True)
    kernel.run_until(asker.spawn(left_by_who_is_dropped(asker)))


def test_nobody_waits_for_ever_for_a_dial_whose_only_frame_was_lost() -> None:
    kernel = Kernel(1)
    network = Network(kernel)
    asker = SimRuntime(kernel, network, Contact(1, LAST))
    there = SimRuntime(kernel, network, Contact(3, FIRST))
    there.serve(lambda sender, request, remaining_s: request, lambda contact: None)
    faults = Faults(network)
    faults.frames = FrameFaults(loss=1.0, raw=True)
    asker.send(Contact(2, FIRST), Greet())
    faults.clear()
    assert type(kernel.run_until(asker.spawn(error_of(asker, there.contact)))) is LinkClosed
    assert kernel.run_until(asker.spawn(error_of(asker, there.contact))) is None
