"""Peers on WebSockets that answer every `Greet`, and what is no peer, for tests of their port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web

from chord import Contact
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.websocket_channel import (
    CONTACT_HEADER,
    WebSocketChannel,
    contact_header,
)
from meteor.links.websocket_transport import WebSocketTransport
from meteor.wire.messages import Greet, Greeting

HEADERS = {CONTACT_HEADER: contact_header(Contact(5, ""))}
Make = Callable[..., Awaitable[AsyncioRuntime]]


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    """Makes peers (and clients) that answer every `Greet`, and closes them."""
    made: list[AsyncioRuntime] = []

    async def peer(id: int, listen: str = "127.0.0.1:0", *, client: bool = False) -> AsyncioRuntime:
        transport = WebSocketTransport() if client else WebSocketTransport(listen)
        address = "" if client else await transport.listen()
        runtime = AsyncioRuntime(Contact(id, address), transport, seed=1)
        made.append(runtime)
        greeting = Greeting(runtime.contact, "", b"", ready=True)
        runtime.serve(lambda sender, message, remaining_s: greeting, lambda contact: None)
        return runtime

    yield peer
    for runtime in made:
        await runtime.aclose()


async def serves(asking: AsyncioRuntime, asked: AsyncioRuntime) -> bool:
    return (await asking.call(asked.contact, Greet(), 5.0)).contact == asked.contact  # type: ignore[no-any-return]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - what is looked at raises no event
            await asyncio.sleep(0.002)


def channels(runtime: AsyncioRuntime) -> list[WebSocketChannel]:
    transport = runtime._transport
    assert isinstance(transport, WebSocketTransport)
    return list(transport._channels)


class serving:  # noqa: N801 - reads as a function
    """Something else than a peer, at an address of its own."""

    def __init__(self, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
        app = web.Application()
        app.router.add_get("/peer", handler)
        self.runner = web.AppRunner(app, shutdown_timeout=0.1)

    async def __aenter__(self) -> str:
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", 0).start()
        host, port = self.runner.addresses[0]
        return f"{host}:{port}"

    async def __aexit__(self, *_: object) -> None:
        await self.runner.cleanup()
