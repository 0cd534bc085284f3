"""Who is cancelled while he posts an interest leaves none behind: nobody would take its notices."""

from __future__ import annotations

import pytest

import meteor
from tests.meteor.fake_peer import FakeOverlay


@pytest.mark.parametrize("action", ["notify_data", "notify_interest"])
def test_an_interest_whose_opening_is_cancelled_is_taken_back(
    overlay: FakeOverlay, action: str
) -> None:
    """As by `asyncio.timeout`: it is kept by then, or will be in a moment."""

    async def scenario() -> None:
        client = await overlay.new_client().open()
        runtime = client._runtime

        async def opened() -> meteor.Interest:
            interest = client.post("type=t temperature=1", action, ttl=86_400)
            assert isinstance(interest, meteor.Interest)
            return await interest

        opening = runtime.spawn(opened())
        await runtime.sleep(0)
        opening.cancel()
        await runtime.sleep(5)
        assert len(overlay.peers[0].posts()) == 1
        assert overlay.living() == []
        assert not client._session.streams

    overlay.run(scenario())


def test_a_standing_answer_that_is_left_as_it_opens_is_taken_back(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        answer = client.retrieve("temperature>=80", ttl=86_400)
        answer.begin()
        await client._runtime.sleep(0)
        answer.leave()
        await client._runtime.sleep(5)
        assert len(overlay.peers[0].posts()) == 1
        assert overlay.living() == []

    overlay.run(scenario())


def test_who_tries_again_under_its_name_has_it(overlay: FakeOverlay) -> None:
    """A delete wins over every version: the first try is not deleted from under the second."""

    async def scenario() -> None:
        client = await overlay.new_client().open()

        async def opened() -> meteor.Interest:
            return await client.notify_data("temperature>=80", id="alarm")

        opening = client._runtime.spawn(opened())
        await client._runtime.sleep(0)
        opening.cancel()
        await client._runtime.sleep(0.1)
        interest = await opened()
        await client._runtime.sleep(5)
        assert overlay.peers[0].amends("cancel") == []
        assert interest.state == "active"

    overlay.run(scenario())


def test_a_client_that_is_closed_meanwhile_says_nothing_more(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()

        async def opened() -> meteor.Interest:
            return await client.notify_data("temperature>=80")

        opening = client._runtime.spawn(opened())
        await client._runtime.sleep(0)
        await client.close()
        await overlay.peers[0].runtime.sleep(5)
        assert opening.done()
        assert overlay.peers[0].amends("cancel") == []

    overlay.run(scenario())
