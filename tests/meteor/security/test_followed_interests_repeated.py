"""A signed request for an interest that a peer follows for a reply address, sent again by whoever
read it on its way: there is one interest, as there is of everything else that is sent twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import aiohttp
import pytest

from meteor import Peer, parse_policy
from meteor.rest.replies import Replies
from tests.meteor.building import SPACE
from tests.meteor.security.signed_http import PROFILE, Http, headers
from tests.meteor.security.signers import ALICE

pytestmark = pytest.mark.sockets

ADDRESS = "127.0.0.1:9"
XML = "application/xml"


def asked(name: bytes, action: bytes = b"notify_data") -> bytes:
    """An interest that a peer is to follow, with an id of its own or without."""
    return (
        b"<message%s><header><profile><type value='light'/></profile><ttl>60000</ttl></header>"
        b"<action>%s(%s)</action></message>" % (name, action, ADDRESS.encode())
    )


@pytest.fixture
async def peers() -> AsyncIterator[list[Peer]]:
    policy = parse_policy(f'default = "allow"\nreply_addresses = ["{ADDRESS}"]')
    async with (
        Peer(space=SPACE, policy=policy) as founder,
        Peer(join=[founder.address], policy=policy) as second,
    ):
        yield [founder, second]


def interests_of(peers: list[Peer]) -> set[str]:
    return {
        record.id
        for peer in peers
        for record in peer.core.shelf.store.records()
        if record is not None and record.kind != "data"
    }


@pytest.mark.parametrize("name", [b"", b' id="q"'])
@pytest.mark.parametrize("action", [b"notify_data", b"notify_interest"])
async def test_there_is_one_interest_however_often_it_is_asked_for(
    peers: list[Peer], name: bytes, action: bytes
) -> None:
    body = asked(name, action)
    signed = headers("POST", "/messages", body, content_type=XML)
    async with aiohttp.ClientSession() as session:
        ids = set[str]()
        for peer in (peers[0], peers[0], peers[1], peers[0]):
            status, receipt = await Http(peer, session).send("POST", "/messages", body, signed)
            assert status == 200, receipt
            ids.add(receipt["id"])
        assert len(interests_of(peers)) == 1
        assert ids == interests_of(peers)


async def test_what_was_deleted_does_not_come_back_by_it(peers: list[Peer]) -> None:
    body = asked(b"")
    signed = headers("POST", "/messages", body, content_type=XML)
    async with aiohttp.ClientSession() as session:
        http = Http(peers[0], session)
        _, receipt = await http.send("POST", "/messages", body, signed)
        path = f"/messages/{receipt['id']}"
        assert (await http.ask("DELETE", path, who=ALICE))[0] == 200
        assert not interests_of(peers)
        for peer in peers:
            await Http(peer, session).send("POST", "/messages", body, signed)
        assert not interests_of(peers)


@pytest.mark.parametrize("is_older", [False, True])
async def test_who_repeats_it_takes_nothing_from_who_is_told(
    peers: list[Peer], monkeypatch: pytest.MonkeyPatch, is_older: bool
) -> None:
    """The same once more, or the one before it: what matches is told once, as before."""
    told = asyncio.Queue[bytes]()

    def send(_: Replies, __: str, document: bytes, ___: str) -> None:
        told.put_nowait(document)

    monkeypatch.setattr(Replies, "send", send)
    body, now_ms = asked(b' id="q"'), int(time.time() * 1000)
    first, second = (
        headers("POST", "/messages", body, content_type=XML, issued_ms=now_ms + late_ms)
        for late_ms in (0, 1000)
    )
    path = f"/profiles?profile={PROFILE}"
    async with aiohttp.ClientSession() as session:
        http = Http(peers[0], session)
        for signed in (first, second):
            assert (await http.send("POST", "/messages", body, signed))[0] == 200
        for peer in (peers[1], peers[0]):
            again = first if is_older else second
            await Http(peer, session).send("POST", "/messages", body, again)
        for name in ("one", "two"):
            assert (await http.ask("POST", f"{path}&id={name}", name.encode()))[0] == 200
        documents = [await asyncio.wait_for(told.get(), 20) for _ in range(2)]
        assert [document.count(b">one<") for document in documents] == [1, 0]
        assert [document.count(b">two<") for document in documents] == [0, 1]
        assert told.empty()
