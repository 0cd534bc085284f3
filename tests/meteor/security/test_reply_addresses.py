"""Addresses to which a peer sends answers: who may name them, and what none of them takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from meteor import Peer, parse_policy
from meteor.rest.replies import Replies
from tests.meteor.building import SPACE
from tests.meteor.security.signed_http import PROFILE, Http, headers
from tests.meteor.security.signers import ALICE

pytestmark = pytest.mark.sockets


class Receiver:
    """What listens at a reply address."""

    def __init__(self) -> None:
        self.got: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        self.statuses: list[int] = []

    async def take(self, request: web.Request) -> web.Response:
        status = self.statuses.pop(0) if self.statuses else 200
        if status == 200:
            self.got.put_nowait((request.content_type, await request.read()))
        return web.Response(status=status, headers={"Location": "http://127.0.0.1:1/"})


@pytest.fixture
async def receiver() -> AsyncIterator[tuple[Receiver, str]]:
    receiver, application = Receiver(), web.Application()
    application.router.add_post("/", receiver.take)
    async with TestServer(application) as server:
        yield receiver, f"{server.host}:{server.port}"


def message(action: str, ttl: bytes = b"") -> bytes:
    return (
        b'<message id="q"><header><profile><type value="light"/></profile>%s</header>'
        b"<action>%s</action></message>" % (ttl, action.encode())
    )


async def test_a_reply_address_gets_results_and_notifications(
    receiver: tuple[Receiver, str],
) -> None:
    there, address = receiver
    there.statuses = [503]  # the next try is taken
    policy = parse_policy(f'default = "allow"\nreply_addresses = ["{address}"]')
    xml = {"Content-Type": "application/xml"}
    async with (
        Peer(space=SPACE, policy=policy) as peer,
        aiohttp.ClientSession() as session,
    ):
        http = Http(peer, session)
        standing = message(f"notify_data({address})", b"<ttl>60000</ttl>")
        signed = headers("POST", "/messages", standing, content_type=xml["Content-Type"])
        status, receipt = await http.send("POST", "/messages", standing, signed)
        assert (status, receipt["complete"]) == (200, True)
        await http.ask("POST", f"/profiles?profile={PROFILE}&visible_to={ALICE.key}", b"x", ALICE)
        kind, document = await asyncio.wait_for(there.got.get(), 10)
        assert kind == "application/xml"
        assert document.startswith(b'<notification id="q:')
        assert ALICE.key.encode() in document
        question = message(f"retrieve({address})")
        status, form = await http.send("POST", "/messages", question, xml)
        assert (status, form["total"]) == (200, 0)
        kind, document = await asyncio.wait_for(there.got.get(), 10)
        assert (kind, b'"total": 0' in document) == ("application/json", True)
        for other in ("127.0.0.1:1", f"evil.net/#{address}"):
            asked = message(f"retrieve({other})")
            status, problem = await http.send("POST", "/messages", asked, xml)
            assert (status, problem["rule"]) == (403, "reply_addresses")
        assert peer.core.gatekeeper.denials == {"reply_addresses": 2}


async def test_what_no_address_takes_is_dropped_and_counted(
    receiver: tuple[Receiver, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    there, address = receiver
    there.statuses = [500, 302, 404]

    async def at_once(_: float) -> None:
        await real_sleep(0)

    real_sleep = asyncio.sleep
    monkeypatch.setattr("meteor.rest.replies.asyncio.sleep", at_once)
    replies = Replies()
    replies.send(address, b"lost")
    replies.send(address, b"<second/>")
    assert await asyncio.wait_for(there.got.get(), 10) == ("application/xml", b"<second/>")
    assert replies.dropped == 1
    await replies.stop(web.Application())
