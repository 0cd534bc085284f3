"""A client that is interrupted: what its caller awaits is cancelled, its machine sleeps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

import meteor
from meteor.client import connection
from meteor.links.transport import MemoryHub, MemoryTransport
from tests.meteor.fake_peer import SPACE, FakeOverlay

PROBE = "type=probe"


async def test_a_source_of_posts_that_awaits_what_was_cancelled_is_not_taken_for_whole() -> None:
    """Whoever took the receipts waited for ever."""
    cancelled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    cancelled.cancel()

    async def messages() -> AsyncIterator[tuple[str, bytes]]:
        yield PROBE, b"1"
        await cancelled
        yield PROBE, b"2"

    async with asyncio.timeout(10), meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        receipts = (await overlay.connect()).post_many(messages())
        assert (await anext(receipts)).complete
        with pytest.raises(meteor.Closed, match="reading of the messages was cancelled"):
            await anext(receipts)


async def test_first_that_was_cancelled_leaves_nothing_standing() -> None:
    """A time-out round `first` left a standing retrieve in the overlay for the rest of its ttl."""
    async with asyncio.timeout(10), meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        client = await overlay.connect()
        answer = client.retrieve(PROBE, ttl=3600)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await answer.first()
        counted = await client.delete_interest(PROBE, dry_run=True)
        while counted.matches:
            counted = await client.delete_interest(PROBE, dry_run=True)
        assert not client._session.streams
        with pytest.raises(meteor.Closed):
            await answer.first()


async def test_a_program_numbers_its_posts_on_after_its_machine_slept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A loop's clock stands still meanwhile: posts of one named id lost against those that another
    machine had made before them."""
    slept_s = 0.0
    steady = connection.steady_clock
    monkeypatch.setattr(connection, "steady_clock", lambda: steady() + slept_s)
    client = connection.make_client(MemoryTransport(MemoryHub()), [])
    before = client._session.next_version()
    slept_s = 3600.0
    assert client._session.next_version() - before >= 3600 * 1_000_000
    await client.close()


def test_without_a_steady_clock_posts_are_numbered_by_that_of_the_runtime(
    overlay: FakeOverlay,
) -> None:
    async def scenario() -> None:
        session = overlay.new_client()._session
        before = session.next_version()
        await session.runtime.sleep(2.0)
        assert session.next_version() - before >= 2_000_000

    overlay.run(scenario())
