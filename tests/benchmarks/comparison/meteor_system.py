"""Meteor: peers and clients in processes of their own, by WebSockets on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

import meteor
from meteor.links.asyncio_loop import uvloop_factory
from tests.benchmarks.comparison.rows import (
    FAN_OUT,
    IN_FLIGHT,
    NODES,
    PLACES,
    RECEIVED,
    RECORDS,
    REPEATS,
    STORES,
    TOLD,
    VALUE,
    records,
    spread,
    stamped,
)
from tests.benchmarks.comparison.running import main
from tests.benchmarks.comparison.subscribing import Sink, measure
from tests.benchmarks.measuring import in_flight, one_by_one

SPACE = meteor.KeywordSpace("bench", [meteor.Word("type"), meteor.Number("place", 0, PLACES - 1)])
QUERIES = {
    "one": "type=temperature place=0 number=0", "hundred": "place=7", "partial": "type=temp*",
    "all": "type=*",
}  # fmt: skip
PROFILE, INTEREST = "type=temperature place=1", "type=temperature place=*"
SETTLE_S = 3.0


ResultT = TypeVar("ResultT")


def run(conversation: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run it on the loop that `METEOR_LOOP` names, which `meteor peer` reads too."""
    uvloop = os.environ.get("METEOR_LOOP") == "uvloop"
    with asyncio.Runner(loop_factory=uvloop_factory() if uvloop else None) as runner:
        return runner.run(conversation)


@contextlib.contextmanager
def peers(count: int) -> Iterator[list[str]]:
    """The addresses of so many peer processes of one ring."""
    running: list[subprocess.Popen[str]] = []
    addresses: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder) / "space.toml"
        space.write_text(SPACE.to_toml())
        try:
            for _ in range(count):
                ring = ["--join", addresses[0]] if addresses else ["--space", str(space)]
                process = subprocess.Popen(
                    [sys.executable, "-m", "meteor", "peer", "--listen", "127.0.0.1:0", *ring],
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                )  # fmt: skip
                running.append(process)
                assert process.stdout is not None
                said = re.search(r"serves at (\S+)", process.stdout.readline())
                assert said is not None
                addresses.append(said[1])
            time.sleep(SETTLE_S)
            yield addresses
        finally:
            for process in running:
                process.kill()
                process.wait()


def subscribe(pipe: Connection, sink: Sink, how: str, at: tuple[str, int]) -> None:
    """By callback or by iterator, with `at[1]` interests of one client of the peer `at[0]`."""
    run(_subscribed(pipe, sink, how, *at))


async def _subscribed(
    pipe: Connection, sink: Sink, how: str, address: str, interests: int
) -> None:
    full = asyncio.Event()
    sink.done = full.set
    async with meteor.connect(address) as client:
        if how == "callback":
            for _ in range(interests):
                await client.notify_data(
                    INTEREST, handler=lambda found: sink.take(found.data), queue=RECEIVED
                )
            pipe.send("ready")
            await full.wait()
        else:
            streams = [await client.notify_data(INTEREST, queue=RECEIVED) for _ in range(interests)]
            pipe.send("ready")
            await asyncio.gather(*(_take_in(stream, sink) for stream in streams))


async def _take_in(stream: meteor.Interest, sink: Sink) -> None:
    taken = 0
    async for found in stream:
        sink.take(found.data)
        taken += 1
        if taken == RECEIVED // FAN_OUT:
            return


def told(addresses: Sequence[str]) -> dict[str, float]:
    """From a client of the last peer to a client of the first."""

    def publish(count: int, gap_s: float) -> None:
        async def publishing() -> None:
            async with meteor.connect(addresses[-1]) as client:
                for _ in range(count):
                    await client.store(PROFILE, stamped(), ttl=60)
                    await asyncio.sleep(gap_s)

        run(publishing())

    return measure(subscribe, publish, "callback", (addresses[0], 1), "told")


def received(how: str) -> dict[str, float]:
    """Every post concerns ten interests of one client, through one peer."""

    def publish(count: int, _: float) -> None:
        async def publishing() -> None:
            async with meteor.connect(addresses[0]) as client:
                async def store(_: int) -> None:
                    await client.store(PROFILE, stamped(), ttl=60)

                await in_flight(store, range(count // FAN_OUT), 64)

        run(publishing())

    with peers(1) as addresses:
        return measure(subscribe, publish, how, (addresses[0], FAN_OUT), "received")


def _sixteen(pipe: Connection) -> None:
    """A ring with all records, in a process of its own."""

    async def serving() -> None:
        async with meteor.LocalOverlay(peers=STORES, space=SPACE, transport="websocket") as overlay:
            client = await overlay.connect()
            stored = list(records())

            async def store(item: int) -> None:
                kind, place, number = stored[item]
                await client.store(f"type={kind} place={place} number={number}", VALUE)

            await in_flight(store, range(len(stored)), 64)
            pipe.send(overlay.peers[0].address)
            await asyncio.to_thread(pipe.recv)

    run(serving())


def query() -> dict[str, Any]:
    """Each query as often as is said, the whole result in hand; and the first match of all."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_sixteen, args=(there,), daemon=True)
    process.start()
    address = here.recv()

    async def asking() -> dict[str, Any]:
        figures: dict[str, Any] = {}
        async with meteor.connect(address) as client:
            for name, repeats in REPEATS.items():
                durations_ns, first_ns, found = [], [], 0
                for _ in range(repeats):
                    began_ns = time.perf_counter_ns()
                    found = 0
                    async for _match in client.retrieve(QUERIES[name], everywhere=name == "all"):
                        if not found:
                            first_ns.append(time.perf_counter_ns() - began_ns)
                        found += 1
                    durations_ns.append(time.perf_counter_ns() - began_ns)
                figures[name] = {
                    **spread(durations_ns), "found": found, "first_ms": spread(first_ns)["p50_ms"]
                }  # fmt: skip
        return figures

    try:
        return run(asking())
    finally:
        process.kill()


def ring(*, embedded: bool) -> dict[str, Any]:
    """Store and retrieve single records, 64 peers in one process, three copies of each; asked by a
    client over its link, or by an application at the peer that it embeds."""

    async def asking() -> dict[str, Any]:
        async with meteor.LocalOverlay(peers=NODES, space=SPACE, transport="websocket") as overlay:
            client = overlay.peers[0] if embedded else await overlay.connect()
            await asyncio.sleep(SETTLE_S)

            async def store(item: int) -> None:
                await client.store(f"type=t{item:06d} place={item % PLACES}", VALUE)

            async def retrieve(item: int) -> None:
                found = await client.retrieve(f"type=t{item:06d} place={item % PLACES}")
                assert len(found) == 1

            await one_by_one(store, range(RECORDS))
            await one_by_one(retrieve, range(RECORDS))
            stored = await one_by_one(store, range(RECORDS, 2 * RECORDS))
            _, stores_per_s = await in_flight(store, range(2 * RECORDS, 4 * RECORDS), IN_FLIGHT)
            fetched = await one_by_one(retrieve, range(RECORDS))
            _, gets_per_s = await in_flight(retrieve, range(2 * RECORDS), IN_FLIGHT)
            print(json.dumps({
                "store": {**spread(_ns(stored)), "per_s": stores_per_s},
                "retrieve": {**spread(_ns(fetched)), "per_s": gets_per_s},
            }), flush=True)  # fmt: skip
            os._exit(0)  # leaving politely hands everything over, which nobody measures

    return run(asking())


def _ns(durations_s: list[float]) -> list[int]:
    return [int(1e9 * duration_s) for duration_s in durations_s]


def _told_through(count: int) -> dict[str, float]:
    with peers(count) as addresses:
        return told(addresses)


assert TOLD != RECEIVED, "a sink tells the rows apart by their number of messages"

if __name__ == "__main__":
    main({
        "told": lambda: _told_through(1), "told2": lambda: _told_through(2),
        "received": lambda: received("callback"), "iterated": lambda: received("iterator"),
        "query": query, "ring": lambda: ring(embedded=False),
        "embedded": lambda: ring(embedded=True),
    })  # fmt: skip
