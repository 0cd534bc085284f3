"""One seed, one trace: also in another process under another hash seed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from chord import Contact
from sim import Event, Kernel, Network, SimRuntime, TailedLatency, Trace
from sim.trace import CHUNK_EVENTS


def busy_run(seed: int, *, keep: bool = False) -> Trace:
    """Peers that call, forward, expect, crash and time out, in an order that only draws decide."""
    kernel = Kernel(seed, keep_trace=keep)
    network = Network(kernel, latency=TailedLatency())
    peers = [SimRuntime(kernel, network, Contact(i, f"peer:{i}")) for i in range(12)]

    async def chatter(peer: SimRuntime) -> None:
        for _ in range(20):
            await peer.sleep(peer.random.random())
            others = {peer.random.choice(peers).contact for _ in range(3)}
            ordered = sorted(others, key=lambda contact: contact.id)
            peer.forward(ordered, "forwarded", lambda *_: None)
            try:
                await peer.call(ordered[0], "asked", 0.05)
            except Exception as error:
                assert type(error).__module__ == "chord.errors"  # noqa: PT017 - any of them will do

    for peer in peers:
        peer.serve(lambda sender, message, remaining_s: message, lambda contact: None)
        peer.spawn(chatter(peer))
    for i in (3, 7):
        kernel.call_later(4.0 + i, network.crash, peers[i].contact)
    kernel.run(until_s=30)
    return kernel.trace


def test_the_same_seed_gives_the_same_trace_and_another_seed_another() -> None:
    first, second = busy_run(1, keep=True), busy_run(1)
    assert first.digest() == second.digest()
    assert len(first) == len(second) == len(first.events) > 500
    assert busy_run(2).digest() != first.digest()
    kinds = {event.kind for event in first.events}
    assert kinds == {"deliver", "lost", "refuse", "close", "crash"}


@pytest.mark.processes
def test_the_trace_does_not_depend_on_the_hash_seed() -> None:
    program = f"""
import runpy
print(runpy.run_path({__file__!r})["busy_run"](5).digest())
"""
    digests = []
    for hash_seed in ("1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.getcwd()}
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        digests.append(done.stdout.strip())
    assert digests[0] == digests[1] == busy_run(5).digest()


def test_where_chunks_end_does_not_show_in_the_digest() -> None:
    events = [(float(i), "deliver", "a", "b", "Ask") for i in range(3 * CHUNK_EVENTS // 2)]
    whole, looked_at = Trace(keep=True), Trace()
    for event in events:
        whole.record(*event)
        looked_at.record(*event)
        if event[0] % 100 == 0:
            looked_at.digest()
    assert whole.digest() == looked_at.digest()
    assert whole.events[0] == Event(0.0, "deliver", "a", "b", "Ask")
    assert looked_at.events == ()
    assert len(looked_at) == len(events)
