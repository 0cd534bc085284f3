"""What a message costs: a round trip on an event loop, the codec.

One JSON line each; nothing is asserted about time."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import pytest

from chord import Contact, FrameKind
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.transport import MemoryHub, MemoryTransport, Transport
from meteor.links.websocket_transport import WebSocketTransport
from meteor.wire.codec import wire_codec
from meteor.wire.messages import Greet, Post
from tests.benchmarks import measuring

pytestmark = pytest.mark.benchmark

report = partial(measuring.report, "runtime")

PAYLOAD = Greet(b"", "x" * 1000)


async def echo_peers(kind: str) -> tuple[AsyncioRuntime, AsyncioRuntime]:
    hub = MemoryHub()
    made = []
    for id in (1, 2):
        transport: Transport = (
            MemoryTransport(hub) if kind == "memory" else WebSocketTransport("127.0.0.1:0")
        )
        runtime = AsyncioRuntime(Contact(id, await transport.listen()), transport, seed=1)
        runtime.serve(lambda sender, request, remaining_s: request, lambda contact: None)
        made.append(runtime)
    return made[0], made[1]


@pytest.mark.sockets
@pytest.mark.parametrize("kind", ["memory", "websocket"])
async def test_echo(kind: str) -> None:
    """1 kB there and back between two peers of one loop."""
    a, b = await echo_peers(kind)
    taken = []
    for _ in range(5000):
        began = time.perf_counter()
        await a.call(b.contact, PAYLOAD, 5.0)
        taken.append(time.perf_counter() - began)
    taken.sort()

    async def worker() -> None:
        for _ in range(200):
            await a.call(b.contact, PAYLOAD, 5.0)

    began = time.perf_counter()
    await asyncio.gather(*[worker() for _ in range(64)])
    together_s = time.perf_counter() - began
    report(
        what=f"echo over {kind}",
        p50_us=round(taken[2500] * 1e6, 1),
        p99_us=round(taken[4950] * 1e6, 1),
        calls_per_s_64_in_flight=round(64 * 200 / together_s),
    )
    await a.aclose()
    await b.aclose()


def test_codec() -> None:
    codec = wire_codec()
    post = Post(1, b"x" * 900, "stem", 3, 600.0, 10.0)
    for name, message in (("Post of 900 bytes", post), ("Greet", Greet())):
        data = codec.join([codec.encode_frame(FrameKind.REQUEST, 5, 1.0, message)])
        count = 20_000
        began = time.perf_counter()
        for _ in range(count):
            codec.join([codec.encode_frame(FrameKind.REQUEST, 5, 1.0, message)])
        encoded = time.perf_counter()
        for _ in range(count):
            codec.decode_frames(data)
        decoded = time.perf_counter()
        report(
            what=f"codec, {name}",
            encode_us=round((encoded - began) / count * 1e6, 2),
            decode_us=round((decoded - encoded) / count * 1e6, 2),
        )
