"""What virtual time costs: messages a second, rings at rest against the wall clock, memory a peer.

One JSON line each; nothing is asserted about time.  The collector is set as by `meteor-sim`.  Where
others use the machine, the figures by the process's own time (`..._cpu`) are the ones to read."""

from __future__ import annotations

import statistics
import time
import tracemalloc
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import pytest

from chord import ChordConfig, Contact
from meteor.wire.codec import wire_codec
from meteor.wire.messages import Greet
from sim import Kernel, Network, SimRuntime
from sim.collector import rare_collections
from sim.ring import Ring
from tests.benchmarks import measuring

pytestmark = pytest.mark.benchmark

report = partial(measuring.report, "simulator")

PAYLOAD = Greet(b"", "x" * 1000)
LAN = ChordConfig.lan()
NEVER_S = 1e9


@pytest.mark.parametrize("encoded", [False, True])
def test_messages(encoded: bool) -> None:
    """A thousand peers that call others drawn at random, one call in flight each; best of three."""
    runs = [messages_per_s(encoded=encoded) for _ in range(3)]
    report(
        what="messages" + (", encoded and decoded" if encoded else ""),
        peers=1000,
        messages_per_s=round(max(by_wall for by_wall, _ in runs)),
        messages_per_s_cpu=round(max(by_cpu for _, by_cpu in runs)),
    )


def messages_per_s(*, encoded: bool) -> tuple[float, float]:
    kernel = Kernel(1)
    codec: Any = wire_codec() if encoded else None
    network = Network(kernel, codec=codec)
    peers = [SimRuntime(kernel, network, Contact(i, f"peer:{i}")) for i in range(1000)]
    contacts = [peer.contact for peer in peers]

    async def calls(peer: SimRuntime) -> None:
        near = [contacts[peer.random.randrange(1000)] for _ in range(20)]
        for _ in range(100):
            await peer.call(near[peer.random.randrange(20)], PAYLOAD, 1.0)

    for peer in peers:
        peer.serve(lambda sender, request, remaining_s: request, lambda contact: None)
    tasks = [peer.spawn(calls(peer)) for peer in peers]
    with rare_collections():
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        kernel.run()
        taken_s, taken_cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    assert all(task.done() for task in tasks)
    return len(kernel.trace) / taken_s, len(kernel.trace) / taken_cpu_s


@pytest.mark.parametrize("peers", [1000, 5000])
@pytest.mark.parametrize("what", ["the whole protocol", "stabilise and notify alone"])
def test_a_ring_at_rest(what: str, peers: int) -> None:
    """An ideal ring under the preset `lan`, once its fingers have come to rest."""
    config = LAN
    if what != "the whole protocol":
        # Neither fingers nor looks at one's own place from afar (`chord.reunion`).
        config = replace(
            LAN,
            finger_interval_s_min=NEVER_S,
            finger_interval_s_max=NEVER_S,
            place_check_interval_s=NEVER_S,
        )
    ring = ideal_ring(peers, config)
    ring.settle(90.0)
    before, virtual_s = len(ring.kernel.trace), 30.0
    with rare_collections():
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        ring.settle(virtual_s)
        taken_s, taken_cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    messages = len(ring.kernel.trace) - before
    report(
        what=f"a ring at rest, {what}",
        peers=peers,
        times_real_time=round(virtual_s / taken_s, 2),
        times_real_time_cpu=round(virtual_s / taken_cpu_s, 2),
        messages_per_s=round(messages / taken_s),
        messages_a_peer_and_virtual_s=round(messages / peers / virtual_s, 2),
        preset=asdict(config),
    )


def ideal_ring(peers: int, config: ChordConfig) -> Ring:
    ring = Ring(1, config)
    stream = ring.kernel.random("bench")
    ring.ideal({stream.getrandbits(config.bits) for _ in range(peers)}, start=True)
    return ring


def test_memory_of_a_peer_at_rest() -> None:
    """Node, links, tables and tasks after 30 s of the whole protocol."""
    tracemalloc.start()
    ring = ideal_ring(1000, LAN)
    ring.settle(30.0)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(ring.members) == 1000
    report(what="memory of a peer at rest", peers=1000, kib_a_peer=round(kept / 1000 / 1024, 1))


def test_memory_of_links() -> None:
    tracemalloc.start()
    kernel = Kernel(1)
    network = Network(kernel)
    peers = [SimRuntime(kernel, network, Contact(i, f"peer:{i}")) for i in range(200)]
    alone = tracemalloc.get_traced_memory()[0]
    for peer in peers:
        peer.serve(lambda sender, request, remaining_s: request, lambda contact: None)
        for other in peers[:40]:
            if other is not peer:
                peer.send(other.contact, PAYLOAD)
    kernel.run()
    linked = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    ends = statistics.mean(len(peer._links) for peer in peers)
    report(
        what="memory of a runtime",
        kib_a_peer=round(alone / 200 / 1024, 2),
        kib_a_link_end=round((linked - alone) / 200 / ends / 1024, 2),
    )
