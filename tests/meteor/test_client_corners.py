"""The corners of a client: what is damaged, busy, closed in between, or the application's fault."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

import meteor
from chord import Busy, Contact
from meteor.client.callbacks import Callbacks, run_callback
from meteor.client.connection import make_client
from meteor.links.transport import MemoryHub, MemoryTransport
from meteor.wire import codec
from meteor.wire.document import decode_document, unpack_profile
from meteor.wire.messages import (
    Document,
    Farewell,
    Found,
    Greet,
    Greeting,
    RingPicture,
    RingQuestion,
)
from tests.meteor.fake_peer import FakeOverlay

WARM = "type=temperature temperature=21.5"


@pytest.mark.parametrize(
    "blob", [b"", b"\x01", b"\x01\xc1", b"not a document", codec.encode(Farewell("bye"))]
)
def test_a_damaged_document_is_a_profile_error(blob: bytes) -> None:
    match = meteor.Match(Found("a.b", 1, "", 1000, blob or b"\x00"))
    with pytest.raises(meteor.MeteorError):
        _ = match.data
    with pytest.raises(meteor.MeteorError):
        decode_document(blob)


@pytest.mark.parametrize("packed", [b"", b"\xc1", b"\x93\x01\x02\x03", b"\xa3abc"])
def test_a_damaged_profile_is_a_profile_error(packed: bytes) -> None:
    with pytest.raises(meteor.ProfileError):
        unpack_profile(packed)
    match = meteor.Match(Found("a.b", 1, "", 1000, codec.encode(Document("store", packed, b"x"))))
    assert match.data == b"x", "the data can be had whatever the profile is"
    with pytest.raises(meteor.ProfileError):
        _ = match.profile


def test_a_notice_without_payload_is_empty_not_an_error() -> None:
    match = meteor.Match(Found("a.b", 1, "", 1000, b""))
    assert (match.data, match.text, dict(match.context), match.content_type) == (b"", "", {}, "")
    assert match != "a.b"


def test_a_busy_peer_is_asked_again_until_the_time_is_spent(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        peer, asked = overlay.peers[0], 0
        call = client._runtime.call

        async def busy(contact: Contact, request: object, timeout_s: float) -> Any:
            nonlocal asked
            asked += 1
            if asked < 4:
                raise Busy("the queue is full")
            return await call(contact, request, timeout_s)

        client._runtime.call = busy  # type: ignore[method-assign]
        assert (await client.store(WARM)).complete
        assert (asked, len(peer.posts())) == (4, 1)
        asked = -100
        with pytest.raises(meteor.Busy, match="post less at once"):
            await client.store(WARM, timeout=0.5)

    overlay.run(scenario())


def test_who_is_no_peer_is_not_taken_for_one(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        overlay.peers[0].runtime.serve(lambda *_: RingPicture((), True), lambda _: None)
        client = await overlay.new_client().open()
        assert client.peer_address == "p1:1"
        with pytest.raises(meteor.NotConnected, match="RingPicture"):
            await overlay.new_client("p0:1").open()

    overlay.run(scenario())


def test_a_peer_that_dies_while_it_is_greeted_is_not_taken(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        first = overlay.peers[0]

        def greet_and_die(sender: Contact, message: Any, _: float) -> Any:
            assert isinstance(message, Greet)
            client._session.link_closed(first.contact)
            return first.greeting()

        first.runtime.serve(greet_and_die, lambda _: None)
        client = overlay.new_client()
        await client.open()
        assert client.peer_address == "p1:1"

    overlay.run(scenario())


def test_a_client_closed_while_it_reconnects_stays_closed(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        pause = overlay.peers[1].runtime.sleep
        for moment in (0.0005, 0.0015, 0.0025):
            client = await overlay.new_client().open()
            client._session.link_closed(overlay.peers[0].contact)
            await pause(moment)
            await client.close()
            await pause(1)
            assert not client.connected

    overlay.run(scenario())


def test_another_space_at_the_next_peer_is_not_taken(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        overlay.peers[1].space = meteor.KeywordSpace("other", [meteor.Word("kind")])
        overlay.peers[0].crash()
        with pytest.raises(meteor.NotConnected, match="spaces differ"):
            await client.store(WARM, timeout=1)

    overlay.run(scenario())


def test_callbacks_that_fail_are_logged_and_harm_nobody(
    overlay: FakeOverlay, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async def fail_later(_: object) -> None:
            raise LookupError("later")

        def fail(_: object) -> None:
            raise LookupError("now")

        client = overlay.new_client(on_disconnected=fail, on_reconnected=fail_later)
        await client.open()
        overlay.peers[0].crash()
        await client.store(WARM)
        await client._runtime.sleep(1)

    with caplog.at_level(logging.ERROR, logger="meteor"):
        overlay.run(scenario())
    assert len([one for one in caplog.records if "callback" in one.message]) == 2


def test_an_error_that_nobody_listens_for_goes_to_the_log(
    overlay: FakeOverlay, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        callbacks = Callbacks()
        callbacks.error(client._runtime, meteor.MeteorError("out of reach"))
        run_callback(client._runtime, None, 1)

    with caplog.at_level(logging.WARNING, logger="meteor"):
        overlay.run(scenario())
    assert "out of reach" in caplog.text


def test_post_gives_what_the_action_calls_for(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        assert isinstance(await client.post(WARM, "notify_interest"), meteor.Watch)
        assert type(await client.post(WARM, "notify_data")) is meteor.Interest
        assert await client.post(WARM, "retrieve") == []
        with pytest.raises(ValueError, match="mode"):
            client.delete_data(WARM, mode="around")  # type: ignore[arg-type]

    overlay.run(scenario())


def test_the_ring_is_asked_of_the_peer(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client("p0:1").open()
        overlay.peers[0].answer = lambda request: (
            RingPicture((), True) if isinstance(request, RingQuestion) else None
        )
        assert (await client.ring()).closed
        overlay.peers[0].answer = lambda _: overlay.peers[0].greeting()
        with pytest.raises(meteor.MeteorError, match="Greeting"):
            await client.ring()
        overlay.peers[0].silent = True
        with pytest.raises(meteor.Timeout):
            await client.ring(timeout=1)
        overlay.peers[0].crash()
        with pytest.raises(meteor.NotConnected):
            await client.ring(timeout=1)

    overlay.run(scenario())


def test_closing_a_standing_answer_that_nobody_hears_is_told(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client("p0:1", on_error=errors.append).open()
        answer = client.retrieve("type=temp*", ttl=60)
        await answer.all()
        overlay.peers[0].crash()
        await answer.close()
        assert [type(error) for error in errors] == [meteor.NotConnected]

    overlay.run(scenario())


def test_entering_a_client_opens_and_closes_it(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        bystander = overlay.peers[1].runtime
        async with overlay.new_client() as client:
            assert client.connected
            async with client:
                pass
            assert not client.connected
        await bystander.sleep(0)

    overlay.run(scenario())


async def test_a_bug_in_the_client_closes_it_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    client = make_client(MemoryTransport(MemoryHub()), [Contact.at("nowhere")])

    async def bug() -> None:
        raise ZeroDivisionError

    with caplog.at_level(logging.ERROR, logger="meteor"):
        client._session.spawn(bug())
        for _ in range(5):
            await asyncio.sleep(0)
    assert "a client failed and closes" in caplog.text
    with pytest.raises(meteor.Closed):
        client.post(WARM)
    await client.close()


def test_a_greeting_says_where_its_space_comes_from(overlay: FakeOverlay) -> None:
    greeting = overlay.peers[0].greeting()
    assert isinstance(greeting, Greeting)
    assert meteor.KeywordSpace.from_toml(greeting.space).digest == greeting.digest
