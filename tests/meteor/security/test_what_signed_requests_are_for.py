"""A signed request is for one ring and says what its body is: elsewhere, or as another, it is
nobody's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest

from meteor import Peer
from squid import KeywordSpace, Number, Word
from tests.meteor.building import SPACE
from tests.meteor.security.signed_http import PROFILE, Http, headers
from tests.meteor.security.signers import ALICE

pytestmark = pytest.mark.sockets

OTHER = KeywordSpace("another building", [Word("type"), Number("temperature", -40, 125)])
PATH = f"/profiles?profile={PROFILE}"


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def send_raw(peer: Peer, method: str, path: str, sent: dict[str, str]) -> bytes:
    """The status line that is answered; header values are sent byte for byte."""
    host, _, port = peer.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = [f"{method} {path} HTTP/1.1", "Host: x", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in sent.items()]
    writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode(errors="surrogateescape"))
    try:
        return await reader.readline()
    finally:
        writer.close()
        await writer.wait_closed()


async def test_what_was_signed_for_one_ring_is_refused_by_another(
    session: aiohttp.ClientSession,
) -> None:
    """Whoever read it on its way stored it, as its signer, wherever that key may store."""
    signed = headers("POST", PATH, b"x")
    async with Peer(space=SPACE) as here, Peer(space=OTHER) as there:
        assert (await Http(here, session).send("POST", PATH, b"x", signed))[0] == 200
        status, problem = await Http(there, session).send("POST", PATH, b"x", signed)
        assert (status, problem.get("rule")) == (403, "signature")
        _, form = await Http(there, session).ask("GET", f"/profiles?select={PROFILE}")
        assert form["total"] == 0


@pytest.mark.parametrize("signed_type", ["", "text/plain"])
async def test_the_media_type_cannot_be_changed(
    session: aiohttp.ClientSession, signed_type: str
) -> None:
    """What she stored as text was handed out as a page, under her name."""
    signed = headers("POST", PATH, b"<script/>", content_type=signed_type)
    async with Peer(space=SPACE) as peer:
        http = Http(peer, session)
        for changed in ("text/html", "text/plain; charset=utf-7", "Text/plain"):
            sent = signed | {"Content-Type": changed}
            status, problem = await http.send("POST", PATH, b"<script/>", sent)
            assert (status, problem.get("rule")) == (403, "signature"), changed
        assert (await http.send("POST", PATH, b"<script/>", signed))[0] == 200
        _, form = await http.ask("GET", f"/profiles?select={PROFILE}")
        assert [one.get("content_type", "") for one in form["matches"]] == [signed_type]


@pytest.mark.parametrize("odd", ["\udcff", "text/plain\udcc3", "text/ü"])
async def test_odd_bytes_of_a_media_type_are_signed_or_refused(
    session: aiohttp.ClientSession, odd: str
) -> None:
    async with Peer(space=SPACE) as peer:
        http = Http(peer, session)
        path = f"/profiles?select={PROFILE}"
        signed = headers("GET", path, content_type=odd)
        assert (await send_raw(peer, "GET", path, signed)).startswith(b"HTTP/1.1 200 ")
        changed = headers("GET", path) | {"Content-Type": odd}
        assert (await send_raw(peer, "GET", path, changed)).startswith(b"HTTP/1.1 403 ")
        assert (await http.ask("GET", path, who=ALICE))[0] == 200


async def test_a_peer_tells_for_what_ring_to_sign(session: aiohttp.ClientSession) -> None:
    async with Peer(space=OTHER) as peer:
        _, space = await Http(peer, session).ask("GET", "/space")
        assert space["digest"] == OTHER.digest.hex()
        signed = headers("POST", PATH, b"x", digest=bytes.fromhex(space["digest"]))
        assert (await Http(peer, session).send("POST", PATH, b"x", signed))[0] == 200
