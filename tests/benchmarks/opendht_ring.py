"""A ring of OpenDHT nodes (C++ core, wheel from PyPI) in a process of its own, asked by lines.

`python opendht_ring.py NODES PORT` starts them on loopback, prints `{"ready": ...}` and answers
each line `["put", [1, 2], 1]` on its input, verb, items and how many in flight, with the durations
in seconds, how many succeeded and the requests a second.  The end of the input ends it.
`OpenDhtRing` is the other side: what the benchmarks hold.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import random
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

VALUE = bytes(100)
SETTLE_S = 6.0
REQUEST_TIMEOUT_S = 10.0


class OpenDhtRing:
    """The process with the ring; None stands for it where OpenDHT is not installed."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, nodes: int, port: int) -> OpenDhtRing | None:
        """Start it and wait until it is ready; None where there is no OpenDHT."""
        if importlib.util.find_spec("opendht") is None:
            return None
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(Path(__file__)), str(nodes), str(port),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=1 << 24,
        )  # fmt: skip
        assert process.stdout is not None
        await process.stdout.readline()
        return cls(process)

    async def ask(self, verb: str, items: Iterable[int], together: int = 1) -> dict[str, Any]:
        """Durations in seconds, how many succeeded, requests a second."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([verb, list(items), together]).encode() + b"\n")
        answer: dict[str, Any] = json.loads(await self._process.stdout.readline())
        return answer

    async def stop(self) -> None:
        """End the process."""
        self._process.kill()
        await self._process.wait()


async def _ring(nodes: int, port: int) -> list[Any]:
    import opendht
    from opendht import aio

    ring: list[Any] = []
    for number in range(nodes):
        config = opendht.DhtConfig()
        config.setRateLimit(-1, -1)
        node = aio.DhtRunner()
        node.run(port=port + number, ipv4="127.0.0.1", config=config)
        if ring:
            node.bootstrap("127.0.0.1", str(port))
        ring.append(node)
    await asyncio.sleep(SETTLE_S)
    return ring


async def _serve(nodes: int, port: int) -> None:
    ring = await _ring(nodes, port)
    from opendht import aio

    def put(item: int) -> Any:
        key = aio.InfoHash.get(f"sensor/{item}")
        return random.choice(ring).put(key, aio.Value(VALUE))

    def get(item: int) -> Any:
        key = aio.InfoHash.get(f"sensor/{item}")
        return random.choice(ring).getFirst(key)

    requests = {"put": put, "get": get}
    print(json.dumps({"ready": nodes}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        verb, items, together = json.loads(line)
        print(json.dumps(await _measure(requests[verb], items, together)), flush=True)
    os._exit(0)  # leaving every node politely takes tens of seconds


async def _measure(request: Any, items: list[int], together: int) -> dict[str, Any]:
    waiting, durations_s, good = iter(items), [], 0

    async def ask() -> None:
        nonlocal good
        for item in waiting:
            began_s = time.perf_counter()
            try:
                good += bool(await asyncio.wait_for(request(item), REQUEST_TIMEOUT_S))
            except (TimeoutError, RuntimeError):
                pass
            finally:
                durations_s.append(time.perf_counter() - began_s)

    began_s = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(together)))
    rate = len(items) / (time.perf_counter() - began_s)
    return {"durations_s": durations_s, "good": good, "per_s": rate}


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2])))
