"""Under TLS a connection is nobody's until it has shaken hands: the door cannot close it before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from meteor.links import websocket_door
from meteor.links.websocket_door import FIRST_REQUEST_S
from meteor.links.websocket_transport import WebSocketTransport
from tests.certificates import tls
from tests.meteor.websocket_peers import until

pytestmark = pytest.mark.sockets


class Clock:
    """Holds back the ends of the time for a first request, until it is told that it has passed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.held: list[tuple[asyncio.TimerHandle, Callable[..., Any], tuple[Any, ...]]] = []
        loop = asyncio.get_running_loop()
        later = loop.call_later

        def call_later(delay_s: float, callback: Callable[..., Any], *args: Any) -> Any:
            if delay_s != FIRST_REQUEST_S:
                return later(delay_s, callback, *args)
            handle = later(3600.0, str)
            self.held.append((handle, callback, args))
            return handle

        monkeypatch.setattr(loop, "call_later", call_later)

    def passes(self) -> None:
        for handle, callback, args in self.held:
            if not handle.cancelled():
                callback(*args)


async def test_one_that_gave_way_to_others_meanwhile_is_closed_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was forgotten, and could be silent for ever once it had shaken hands: with as many as the
    door bears at once, and then once more, nobody else came in."""
    monkeypatch.setattr(websocket_door, "SILENT_MAX", 1)
    clock, ours = Clock(monkeypatch), tls("127.0.0.1")
    transport = WebSocketTransport("127.0.0.1:0", tls=ours)
    host, _, port = (await transport.listen()).rpartition(":")
    (door,) = transport._door
    writers = [(await asyncio.open_connection(host, int(port)))[1] for _ in range(3)]
    await until(lambda: len(clock.held) == 3)
    assert (len(door), door.closed) == (1, 0)
    await writers[0].start_tls(ours.client_context(), server_hostname=host)
    await until(lambda: any(args[0].transport is not None for _, __, args in clock.held))
    clock.passes()
    assert door.closed == 1
    for writer in writers:
        writer.transport.abort()
    await transport.close()


async def test_one_that_asks_in_time_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket_door, "SILENT_MAX", 1)
    clock, ours = Clock(monkeypatch), tls("127.0.0.1")
    transport = WebSocketTransport("127.0.0.1:0", tls=ours)
    host, _, port = (await transport.listen()).rpartition(":")
    (door,) = transport._door
    connections = [await asyncio.open_connection(host, int(port)) for _ in range(2)]
    await until(lambda: len(clock.held) == 2)
    reader, writer = connections[0]
    await writer.start_tls(ours.client_context(), server_hostname=host)
    for _ in range(2):
        writer.write(b"GET /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 404")
        await reader.readuntil(b"404: Not Found")
        clock.passes()
    assert door.closed == 0
    for _, one in connections:
        one.transport.abort()
    await transport.close()
