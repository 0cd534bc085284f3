"""Who dials and is gone before the door answers is no error of the peer's."""

from __future__ import annotations

import asyncio
import logging

import pytest

import meteor
from chord import Contact
from meteor.links.websocket_transport import WebSocketTransport
from tests.meteor.building import SPACE


@pytest.mark.sockets
async def test_a_dialler_that_is_gone_leaves_no_traceback_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Each left the forty lines of one, as of a bug in the peer."""
    left = 0

    def gone(_: WebSocketTransport, __: Contact, transport: asyncio.Transport) -> None:
        nonlocal left
        left += 1
        transport.abort()

    async with meteor.LocalOverlay(peers=1, space=SPACE, transport="websocket") as overlay:
        address = overlay.peers[0].address
        with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
            patched.setattr(WebSocketTransport, "_refusal", gone)
            with pytest.raises(meteor.NotConnected):
                await meteor.connect(address)
            await asyncio.sleep(0.05)
            assert left
            assert [one for one in caplog.records if one.name.startswith("aiohttp")] == []
        async with meteor.connect(address) as client:
            assert (await client.store("type=t temperature=1", "1")).complete
