"""NATS: nats-server (Debian) on loopback and nats-py."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import nats

from tests.benchmarks.comparison.running import main
from tests.benchmarks.comparison.subscribing import Sink, measure, paced

PORT = 21_800
URL = f"nats://127.0.0.1:{PORT}"
SUBJECT, PATTERN = "bench.room1.temperature", "bench.*.temperature"
UNBOUNDED: dict[str, Any] = {"pending_msgs_limit": 10**7, "pending_bytes_limit": 2**31}


@contextlib.contextmanager
def server(*command: str, port: int) -> Iterator[None]:
    """A broker that runs meanwhile."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def subscribe(pipe: Connection, sink: Sink, how: str, _: Any) -> None:
    """By callback or by iterator."""
    asyncio.run(_subscribed(pipe, sink, how))


async def _subscribed(pipe: Connection, sink: Sink, how: str) -> None:
    connection, full = await nats.connect(URL), asyncio.Event()
    sink.done = full.set

    async def taken(message: Any) -> None:
        sink.take(message.data)

    if how == "callback":
        await connection.subscribe(PATTERN, cb=taken, **UNBOUNDED)
        await connection.flush()
        pipe.send("ready")
        await full.wait()
        return
    subscription = await connection.subscribe(PATTERN, **UNBOUNDED)
    await connection.flush()
    pipe.send("ready")
    async for message in subscription.messages:
        sink.take(message.data)
        if sink.full:
            return


def publish(count: int, gap_s: float) -> None:
    """Publish messages; nobody acknowledges them."""

    async def publishing() -> None:
        connection = await nats.connect(URL)
        for message in paced(count, 0):
            await connection.publish(SUBJECT, message)
            if gap_s:
                await asyncio.sleep(gap_s)
        await connection.flush(60)
        await connection.close()

    asyncio.run(publishing())


def row(how: str, name: str) -> dict[str, float]:
    """One row with a server of its own."""
    program = shutil.which("nats-server")
    assert program is not None, "nats-server is not installed"
    with server(program, "-a", "127.0.0.1", "-p", str(PORT), port=PORT):
        return measure(subscribe, publish, how, None, name)


if __name__ == "__main__":
    main({
        "told": lambda: row("callback", "told"),
        "received": lambda: row("callback", "received"),
        "iterated": lambda: row("iterator", "received"),
    })  # fmt: skip
