"""Posting many messages: receipts in order, so many at once, errors by message, leaving ends it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

import meteor
from meteor import Message
from tests.meteor.fake_peer import FakeOverlay


def readings(count: int, read: list[int] | None = None) -> Iterator[Message]:
    for number in range(count):
        if read is not None:
            read.append(number)
        yield Message("type=t temperature=1", data=str(number), id=f"r{number}")


async def take_all(receipts: meteor.Receipts[meteor.Receipt], came: list[meteor.Receipt]) -> None:
    async for receipt in receipts:
        came.append(receipt)  # noqa: PERF401 - what came before an error stays


async def later(count: int) -> AsyncIterator[tuple[str, str]]:
    for number in range(count):
        yield f"type=t temperature={number}", str(number)


def test_receipts_come_in_the_order_of_the_messages(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        ids = [receipt.id.split(".")[0] async for receipt in client.post_many(readings(200))]
        assert ids == [f"r{number}" for number in range(200)]
        matches = await client.retrieve("type=t")
        assert len(matches) == 200

    overlay.run(scenario())


def test_an_asynchronous_source_of_profile_and_data(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        receipts = [receipt async for receipt in client.post_many(later(20), concurrency=3)]
        assert len(receipts) == 20
        (match,) = await client.retrieve("type=t temperature=7")
        assert match.text == "7"

    overlay.run(scenario())


@pytest.mark.parametrize("concurrency", [1, 5, 64])
def test_no_more_are_under_way_or_read_ahead_than_asked_for(
    overlay: FakeOverlay, concurrency: int
) -> None:
    async def scenario() -> None:
        client, read = await overlay.new_client().open(), list[int]()
        taken = 0
        async for _ in client.post_many(readings(100, read), concurrency=concurrency):
            assert len(read) - taken <= concurrency
            taken += 1
            await client._runtime.sleep(0.001)
        assert taken == 100

    overlay.run(scenario())


def test_many_travel_at_once(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        peer = overlay.peers[0]
        peer.silent = True
        receipts = client.post_many(readings(100), concurrency=16)
        first = client._session.spawn(_taken(receipts))
        await client._runtime.sleep(1)
        assert len(peer.posts("store")) == 16
        receipts.close()
        await client._runtime.sleep(0.1)
        assert first.done()

    async def _taken(receipts: meteor.Receipts[meteor.Receipt]) -> None:
        assert [receipt async for receipt in receipts] == []

    overlay.run(scenario())


def test_a_message_that_fails_is_named_and_ends_it_all(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client, read = await overlay.new_client().open(), list[int]()

        def messages() -> Iterator[Message]:
            yield from readings(3, read)
            yield Message("type=t temperature=warm")
            yield from readings(1000, read)

        came: list[meteor.Receipt] = []
        with pytest.raises(meteor.TypeMismatch, match="warm") as caught:
            await take_all(client.post_many(messages(), concurrency=4), came)
        assert len(came) == 3
        named = "message 3, <Message store of (type=t temperature=warm)>"
        assert named in caught.value.__notes__[0]
        await client._runtime.sleep(0.1)
        assert len(read) < 20

    overlay.run(scenario())


def test_errors_may_be_returned_in_place(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        messages = [("type=t temperature=1", b""), ("type=t temperature=warm", b""), ("a=1", b"")]
        outcomes = [one async for one in client.post_many(messages, return_errors=True)]
        assert [type(one) for one in outcomes] == [
            meteor.Receipt,
            meteor.TypeMismatch,
            meteor.ProfileError,
        ]

    overlay.run(scenario())


def test_what_the_source_raises_comes_behind_the_receipts(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()

        def messages() -> Iterator[Message]:
            yield from readings(2)
            raise OSError("the file is gone")

        came: list[meteor.Receipt] = []
        with pytest.raises(OSError, match="the file is gone"):
            await take_all(client.post_many(messages()), came)
        assert len(came) == 2

    overlay.run(scenario())


def test_leaving_the_loop_ends_the_reading(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client, read = await overlay.new_client().open(), list[int]()
        async for _ in client.post_many(readings(10_000, read), concurrency=8):
            break
        await client._runtime.sleep(1)
        assert len(read) <= 9
        assert client._session.pending == {}

    overlay.run(scenario())


def test_closing_the_client_tells_who_waits(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        overlay.peers[0].silent = True
        outcome: list[Exception] = []

        async def take() -> None:
            try:
                async for _ in client.post_many(readings(10)):
                    pass
            except meteor.Closed as error:
                outcome.append(error)

        taking = overlay.kernel.spawn(take())
        await client._runtime.sleep(1)
        await client.close()
        await taking
        assert "before all was posted" in str(outcome[0])

    overlay.run(scenario())


def test_what_cannot_be_posted_so_is_refused(overlay: FakeOverlay) -> None:
    with pytest.raises(ValueError, match="'retrieve' is none of delete_data, delete_interest"):
        Message("type=t", "retrieve")
    payload = b"secret" * 1000
    with pytest.raises(ValueError, match=r"what is given \(bytes\) is none of .* data=") as caught:
        Message("type=t", payload)  # type: ignore[arg-type]
    assert "secret" not in str(caught.value)

    async def scenario() -> None:
        client = await overlay.new_client().open()
        with pytest.raises(ValueError, match="concurrency: 0 is not between 1 and 4096"):
            client.post_many([], concurrency=0)
        with pytest.raises(TypeError, match="Message or \\(profile, data\\), not 'type=t'"):
            await anext(client.post_many(["type=t"]))  # type: ignore[list-item]

    overlay.run(scenario())
