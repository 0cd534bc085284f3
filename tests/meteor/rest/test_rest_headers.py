"""Headers whose bytes are no UTF-8 end in a problem document, as any other request that is refused.

HTTP allows them, and no client library sends them: they are written to the socket as they are.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator

import pytest

import meteor
from meteor.rest.config import RestConfig
from tests.meteor.building import SPACE

pytestmark = pytest.mark.sockets

TOKEN = "a token of some length"
STORE = b"POST /profiles?profile=type%3Dlamp"


@pytest.fixture
async def peer() -> AsyncIterator[meteor.Peer]:
    async with meteor.Peer(space=SPACE, rest=RestConfig(token=TOKEN)) as peer:
        yield peer


async def answered(peer: meteor.Peer, request: bytes, header: bytes) -> tuple[int, bytes]:
    """Status and body of the answer to a request with one more header."""
    host, _, port = peer.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = b"Host: " + peer.address.encode() + b"\r\nConnection: close\r\nContent-Length: 1\r\n"
    writer.write(request + b" HTTP/1.1\r\n" + head + header + b"\r\n\r\nx")
    async with asyncio.timeout(20):
        raw = await reader.read()
    writer.close()
    first, _, rest = raw.partition(b"\r\n")
    return int(first.split()[1]), rest.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize(
    ("request_line", "header", "status", "kind"),
    [
        (b"GET /ring", b"Accept: \xff/json", 406, "NotAcceptable"),
        (STORE, b"Accept: \xff/json", 406, "NotAcceptable"),
        (STORE, b"Origin: http://\xff", 403, "Refused"),
        (STORE, b"Content-Type: text/\xff", 415, "UnsupportedMediaType"),
        (STORE, b"Content-Encoding: \xff", 415, "UnsupportedCoding"),
    ],
)
async def test_a_header_that_is_no_utf_8_is_refused_by_a_problem(
    peer: meteor.Peer, caplog: pytest.LogCaptureFixture, request_line: bytes, header: bytes,
    status: int, kind: str,
) -> None:  # fmt: skip
    with caplog.at_level(logging.ERROR):
        answer = await answered(peer, request_line, header)
    assert answer[0] == status, answer
    assert json.loads(answer[1])["type"] == f"urn:meteor:error:{kind}"
    assert not caplog.records, "it is no error of the peer's"


async def test_a_token_that_is_no_utf_8_is_a_wrong_one(peer: meteor.Peer) -> None:
    proxied = b"Via: elsewhere\r\nAuthorization: Bearer \xff"
    status, body = await answered(peer, STORE, proxied)
    assert (status, json.loads(body)["rule"]) == (401, "token")


async def test_who_hangs_up_in_the_middle_of_a_body_fills_no_log(
    peer: meteor.Peer, caplog: pytest.LogCaptureFixture
) -> None:
    host, _, port = peer.address.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n<message>")
    await writer.drain()
    await asyncio.sleep(0.2)
    writer.close()
    await writer.wait_closed()
    await asyncio.sleep(0.2)
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []
