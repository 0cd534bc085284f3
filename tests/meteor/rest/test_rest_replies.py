"""Reply addresses: what waits for them is bounded, and where they may lead."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from typing import Any

import pytest
from aiohttp import web
from aiohttp.abc import ResolveResult
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st

from meteor.rest.outward import is_outward
from meteor.rest.replies import Replies
from meteor.rest.waiting import ADDRESSES_MAX, WAITING_MAX, Waiting

EACH, ALL = 100, 250
XML = "application/xml"


@given(
    st.lists(
        st.tuples(st.sampled_from("abcde"), st.one_of(st.none(), st.integers(0, 120))), max_size=60
    )
)
def test_what_waits_against_a_dumb_twin(steps: list[tuple[str, int | None]]) -> None:
    """The twin keeps the documents themselves, and adds them up each time."""
    waiting, twin, flying = Waiting(EACH, ALL), dict[str, list[bytes]](), dict[str, bytes]()

    def size(address: str) -> int:
        return sum(map(len, twin.get(address, ()))) + len(flying.get(address, b""))

    for at, (address, length) in enumerate(steps):
        if length is None:
            if address in twin:
                letter = waiting.next(address)
                flying.pop(address, None)
                if twin[address]:
                    flying[address] = twin[address].pop(0)
                    assert letter == (flying[address], XML)
                else:
                    del twin[address]
                    assert letter is None
            continue
        document = (b"%d." % at).ljust(length, b"x")
        expected: Counter[str] = Counter()
        queue = twin.setdefault(address, [])
        while queue and size(address) + len(document) > EACH:
            queue.pop(0)
            expected[address] += 1
        if size(address) + len(document) > EACH:
            expected[address] += 1
        else:
            queue.append(document)
        while sum(map(size, twin)) > ALL:
            fullest = max(twin, key=lambda one: sum(map(len, twin[one])))
            twin[fullest].pop(0)
            expected[fullest] += 1
        assert Counter(waiting.put(address, (document, XML))) == expected
        assert waiting.size == sum(map(size, twin)) <= ALL
        assert all(size(one) <= EACH for one in twin)
        assert len(waiting) == len(twin)


def test_documents_and_addresses_are_bounded_in_number() -> None:
    waiting = Waiting()
    assert not any(waiting.put("a:1", (b"x", XML)) for _ in range(WAITING_MAX))
    assert waiting.put("a:1", (b"y", XML)) == ["a:1"]
    assert waiting.size == WAITING_MAX
    for at in range(1, ADDRESSES_MAX):
        assert not waiting.put(f"b:{at}", (b"x", XML))
    assert waiting.put("c:1", (b"x", XML)) == ["c:1"]
    assert not waiting.is_known("c:1")
    assert waiting.leave("a:1") == WAITING_MAX
    assert waiting.leave("a:1") == 0
    assert waiting.size == ADDRESSES_MAX - 1


@pytest.mark.sockets
async def test_a_black_hole_keeps_no_more_than_its_bytes() -> None:
    """A listener that takes connections and reads nothing, and results of a mebibyte for it."""
    with socket.create_server(("127.0.0.1", 0), backlog=1) as hole:
        address = f"127.0.0.1:{hole.getsockname()[1]}"
        dropped = 0

        def count() -> None:
            nonlocal dropped
            dropped += 1

        replies = Replies(count)
        replies._waiting = Waiting(bytes_each=8 << 20, bytes_max=12 << 20)
        for at in range(200):
            replies.send(address, bytes([at]) * (1 << 20))
            replies.send(f"127.0.0.2:{1 + at % 3}", b"x" * (1 << 20))
            assert replies._waiting.size <= 12 << 20
            await asyncio.sleep(0)
        assert dropped == replies.dropped > 300
        await replies.stop(web.Application())
        assert (replies._waiting.size, len(replies._waiting)) == (0, 0)


@pytest.mark.parametrize(
    ("address", "may"),
    [
        ("127.0.0.1", False),
        ("127.8.8.8", False),
        ("0.0.0.0", False),
        ("169.254.169.254", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:169.254.169.254", False),
        ("2002:7f00:1::", False),
        ("localhost", False),
        ("10.0.0.1", True),
        ("192.0.2.1", True),
        ("2001:db8::1", True),
        ("::ffff:10.0.0.1", True),
    ],
)
def test_where_a_name_may_lead(address: str, may: bool) -> None:
    assert is_outward(address) is may


@pytest.mark.sockets
@pytest.mark.parametrize(("name", "reaches"), [("evil.example.org", False), ("localhost", True)])
async def test_a_name_that_leads_to_this_machine_is_not_contacted(
    name: str, reaches: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    got = []

    async def take(request: web.Request) -> web.Response:
        got.append((await request.read(), request.headers.get("Cookie")))
        answer = web.Response()
        answer.set_cookie("kept", "x" * 1000)
        return answer

    async def lead(_: Any, host: str, port: int = 0, family: Any = None) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET,
                          proto=0, flags=socket.AI_NUMERICHOST)
        ]  # fmt: skip

    async def at_once(_: float) -> None:
        await real_sleep(0)

    real_sleep = asyncio.sleep
    monkeypatch.setattr("meteor.rest.replies.asyncio.sleep", at_once)
    monkeypatch.setattr("aiohttp.ThreadedResolver.resolve", lead)
    application = web.Application()
    application.router.add_post("/", take)
    async with TestServer(application, host="127.0.0.1") as server:
        replies = Replies()
        for document in (b"one", b"two"):
            replies.send(f"{name}:{server.port}", document)
        while replies._tasks:
            await asyncio.wait(replies._tasks)
        await replies.stop(application)
    assert got == ([(b"one", None), (b"two", None)] if reaches else [])
    assert replies.dropped == (0 if reaches else 2)
