"""What only the event loop's runtime does: lateness, its default end, a flood in one turn."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable

import pytest

from chord import Contact, Deferred, RequestTimeout
from meteor.links.asyncio_link import PeerLink
from meteor.links.asyncio_runtime import BEAT_S, AsyncioRuntime
from meteor.links.transport import MemoryHub, MemoryTransport
from meteor.wire.codec import FRAMES_MAX
from meteor.wire.messages import Farewell, Greet


async def a_peer(hub: MemoryHub, id: int) -> AsyncioRuntime:
    transport = MemoryTransport(hub)
    return AsyncioRuntime(Contact(id, await transport.listen()), transport, seed=1)


async def test_a_peer_whose_loop_stood_still_knows_that_it_was_late() -> None:
    peer = await a_peer(MemoryHub(), 1)
    assert peer.lateness() == 0.0
    nap = peer.spawn(peer.sleep(0.001))
    await asyncio.sleep(0)
    time.sleep(0.05)  # noqa: ASYNC251 - the stall is the point
    await nap
    assert peer.lateness() >= 0.045
    await peer.aclose()


async def test_a_peer_that_only_waits_for_a_reply_knows_that_it_was_late() -> None:
    """Nothing of it sleeps: it looks at its deadlines late, and who is silent may not be at fault.
    It counted that against the other, three times in a row as against a dead one."""
    hub = MemoryHub()
    a, b = await a_peer(hub, 1), await a_peer(hub, 2)
    b.serve(lambda sender, request, remaining_s: Deferred(b.sleep(60.0)), lambda contact: None)
    call = a.spawn(a.call(b.contact, Greet(), 0.02))
    await asyncio.sleep(0)
    time.sleep(0.07)  # noqa: ASYNC251 - the stall is the point
    with pytest.raises(RequestTimeout):
        await call
    assert a.lateness() >= 0.045
    await a.aclose()
    await b.aclose()


@pytest.mark.parametrize("waits_s", [0.02, 60.0])
async def test_a_peer_knows_it_before_any_timer_of_it_has_run(waits_s: float) -> None:
    """What came while a process was held is read first: it was taken as if it had come just now;
    with nothing due soon it was taken so later as well."""
    hub = MemoryHub()
    a, b = await a_peer(hub, 1), await a_peer(hub, 2)
    b.serve(lambda sender, request, remaining_s: Deferred(b.sleep(60.0)), lambda contact: None)
    call = a.spawn(a.call(b.contact, Greet(), waits_s))
    await asyncio.sleep(0)
    assert a.lateness() == 0.0
    time.sleep(0.5)  # noqa: ASYNC251 - the stall is the point
    assert a.lateness() >= 0.5 - BEAT_S
    call.cancel()
    await a.aclose()
    await b.aclose()
    assert a.lateness() < 1.0


async def test_a_stalled_peer_reads_what_came_in_before_it_gives_anything_up() -> None:
    hub = MemoryHub()
    a, b = await a_peer(hub, 1), await a_peer(hub, 2)
    b.serve(lambda sender, request, remaining_s: request, lambda contact: None)
    await a.call(b.contact, Greet(), 5.0)
    call = a.spawn(a.call(b.contact, Greet(), 0.02))
    await asyncio.sleep(0)
    time.sleep(0.05)  # noqa: ASYNC251 - the reply is on its way when the deadline has passed
    assert await call == Greet()
    await a.aclose()
    await b.aclose()


class EarlyLoop(asyncio.SelectorEventLoop):
    """As uvloop's: a clock of whole milliseconds, and timers that fire up to half of one early."""

    def time(self) -> float:
        return math.floor(super().time() * 1000) / 1000

    def call_at(
        self, when: float, callback: Callable[..., object], *args: object, context: object = None
    ) -> asyncio.TimerHandle:
        rounded = round(when * 1000) / 1000
        return super().call_at(min(rounded, when), callback, *args, context=context)  # type: ignore[arg-type]


def test_a_timer_that_fires_before_its_time_is_not_the_last_one() -> None:
    """On uvloop no deadline passed any more once one had: calls to who was cut off lasted for ever,
    and two rings never found each other again."""

    async def give_up_often() -> int:
        peer = await a_peer(MemoryHub(), 1)
        given_up = 0
        for number in range(20):
            try:
                await peer.expect(number, 0.0103 + number / 7000)
            except RequestTimeout:
                given_up += 1
        await peer.aclose()
        return given_up

    with asyncio.Runner(loop_factory=EarlyLoop) as runner:
        assert runner.run(asyncio.wait_for(give_up_often(), 10.0)) == 20


async def test_by_default_a_bug_is_logged_and_ends_the_peer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    peer = await a_peer(MemoryHub(), 1)
    other = peer.spawn(peer.sleep(100))

    async def fails() -> None:
        raise KeyError("a bug")

    with caplog.at_level(logging.ERROR, logger="meteor.runtime"):
        failing = peer.spawn(fails())
        with pytest.raises(asyncio.CancelledError):
            await other
    assert failing.done()
    assert peer.exchange.closed
    assert "failed and closes" in caplog.text
    await peer.aclose()


async def test_more_frames_than_travel_as_one_leave_in_one_turn() -> None:
    hub = MemoryHub()
    a, b = await a_peer(hub, 1), await a_peer(hub, 2)
    heard: list[object] = []

    def hear(sender: Contact, message: object, remaining_s: float) -> None:
        heard.append(message)
        b.deliver("heard", None)

    b.serve(hear, lambda contact: None)
    count = 2 * FRAMES_MAX + 1
    for number in range(count):
        a.send(b.contact, Farewell(str(number)))
    while len(heard) < count:
        await b.expect("heard", 5.0)
    assert heard == [Farewell(str(number)) for number in range(count)]
    await a.aclose()
    await b.aclose()


async def test_without_a_seed_two_peers_draw_differently() -> None:
    hub = MemoryHub()
    drawn = []
    for _ in range(2):
        transport = MemoryTransport(hub, "memory:same")
        runtime = AsyncioRuntime(Contact(1, await transport.listen()), transport)
        drawn.append(runtime.random.getrandbits(64))
        await runtime.aclose()
    assert drawn[0] != drawn[1]


async def test_a_reply_leaves_with_the_conversation_that_ends_by_it() -> None:
    """It waited for the end of a turn in which nothing followed, and for a look at all sockets."""
    hub, order = MemoryHub(), list[str]()
    a, b = await a_peer(hub, 1), await a_peer(hub, 2)

    async def held() -> Greet:
        await b.sleep(0.001)
        order.append("ended")
        asyncio.get_running_loop().call_soon(order.append, "next turn")
        return Greet()

    b.serve(lambda sender, request, remaining_s: Deferred(held()), lambda contact: None)
    await a.call(b.contact, Greet(), 5.0)  # the link is open
    order.clear()
    end = b._links.find(a.contact)
    assert isinstance(end, PeerLink)
    assert end.channel is not None
    write = end.channel.write

    def noted(data: bytes) -> None:
        order.append("left")
        write(data)

    end.channel.write = noted  # type: ignore[method-assign]
    await a.call(b.contact, Greet(), 5.0)
    assert order[:3] == ["ended", "left", "next turn"]
    await a.aclose()
    await b.aclose()
