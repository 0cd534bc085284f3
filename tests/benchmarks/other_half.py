"""The other half of a ring, in a process of its own: what a measurement over two processes joins.

`python -m tests.benchmarks.other_half COUNT ADDRESS` starts so many peers that join the ring of the
peer at that address, prints `ready`, and ends when its input ends.  `other_half(count, address)` is
the other side.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import meteor
from meteor.rare_collections import collect_rarely

ROOT = Path(__file__).parent.parent.parent
FIRST_SEED = 1000
"""Another than those of the peers that are joined."""


@asynccontextmanager
async def other_half(count: int, address: str) -> AsyncIterator[None]:
    """So many peers more, elsewhere on this machine."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.benchmarks.other_half", str(count), address, cwd=ROOT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        assert await process.stdout.readline() == b"ready\n", "the other half did not start"
        yield
    finally:
        process.stdin.close()
        await process.wait()


async def _serve(count: int, address: str) -> None:
    async with AsyncExitStack() as stack:
        for number in range(count):
            peer = meteor.Peer(join=[address], seed=FIRST_SEED + number)
            await peer.start()
            stack.push_async_callback(peer.close, hand_over=False)
        collect_rarely()  # as `meteor peer` and a `LocalOverlay` of so many do
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), sys.argv[2]))
