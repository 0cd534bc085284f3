"""A scripted peer in a process of its own that sends whoever posts an interest so many notices.

It prints its address, then serves until its standard input ends.  At most `WINDOW` notices are
under way unacknowledged, so that the client is never far behind.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from chord import Contact
from meteor.client.draft import typed_profile
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.websocket_transport import WebSocketTransport
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import (
    Acknowledge,
    Amend,
    Document,
    Found,
    Greet,
    Greeting,
    Notice,
    Post,
    PostReply,
)
from tests.meteor.building import SPACE

WINDOW = 4096
TOGETHER = 256
DATA = bytes(64)


class Flood:
    """The peer's end: greets, takes interests, and floods each with `count` notices."""

    def __init__(self, runtime: AsyncioRuntime, count: int) -> None:
        self._runtime, self._count = runtime, count
        self._acknowledged = 0
        self._more = asyncio.Event()
        profile = typed_profile("type=temperature temperature=21", SPACE)
        document = Document("store", pack_profile(profile), DATA)
        self._found = Found("d.aa", 1, "", 3_600_000, encode_document(document))

    def handle(self, sender: Contact, message: Any, _: float) -> Any:
        if isinstance(message, Greet):
            return Greeting(self._runtime.contact, SPACE.to_toml(), SPACE.digest, ready=True)
        if isinstance(message, Acknowledge):
            self._acknowledged += len(message.ids)
            self._more.set()
            return None
        if isinstance(message, Post):
            self._runtime.spawn(self._send_all(sender, message.stem))
        matches = 1 if isinstance(message, Amend) else 0
        return PostReply("", complete=True, missing=(), matches=matches, peers=1, ttl_s=3600.0)

    async def _send_all(self, client: Contact, stem: str) -> None:
        self._acknowledged = 0
        source = self._runtime.contact
        for number in range(self._count):
            id = f"{stem}:d{number}:1"
            self._runtime.send(client, Notice(id, stem, "match", self._found, source))
            if number % TOGETHER == 0:
                await asyncio.sleep(0)
            while number - self._acknowledged > WINDOW:
                self._more.clear()
                await self._more.wait()


async def serve(count: int) -> None:
    transport = WebSocketTransport("127.0.0.1:0")
    address = await transport.listen()
    runtime = AsyncioRuntime(Contact(1, address), transport)
    runtime.serve(Flood(runtime, count).handle, lambda _: None)
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runtime.aclose()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
