"""Standing retrieves: what lives now, what comes later, and who takes it too slowly."""

from __future__ import annotations

import pytest

import meteor
from tests.meteor.asking import settle, store_many, texts_of
from tests.meteor.fake_peer import FakeOverlay

WARM = "type=temperature temperature=21.5"


def test_a_standing_retrieve_follows_later_matches_until_its_ttl(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client, sensor = await overlay.new_client().open(), await overlay.new_client().open()
        await store_many(sensor, 2)

        async def later() -> None:
            for number in (2, 3):
                await settle(sensor, 5)
                await sensor.store(f"type=temperature temperature={number}", str(number))

        sensor._runtime.spawn(later())
        began = overlay.kernel.now()
        texts = [match.text async for match in client.retrieve("type=temp*", ttl=20)]
        assert texts == ["0", "1", "2", "3"]
        assert overlay.kernel.now() - began == pytest.approx(20, abs=0.1)

    overlay.run(scenario())


def test_a_standing_retrieve_says_incomplete_once_and_follows_on(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 2)
        overlay.complete = False
        async with client.retrieve("type=temp*", ttl=600) as answer:
            received: list[str] = []
            with pytest.raises(meteor.Incomplete):
                await texts_of(answer, received)
            overlay.complete = True
            await client.store(WARM, b"later")
            async for match in answer:
                received.append(match.text)
                break
            assert received == ["0", "1", "later"]
            assert len(overlay.living()) == 4, "leaving the loop does not end a standing answer"
        assert len(overlay.living()) == 3, "closing it does"

    overlay.run(scenario())


def test_all_of_a_standing_retrieve_is_what_lives_now(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 4)
        answer = client.retrieve("type=temp*", ttl=60)
        assert len(await answer.all()) == 4
        await client.store(WARM, b"later")
        async for match in answer:
            assert match.data == b"later"
            break
        await answer.close()
        first = client.retrieve("type=lamp", ttl=60)
        client._runtime.spawn(store_lamp(client))
        match = await first.first()
        assert match is not None
        assert match.data == b"lamp"
        await settle(client)
        assert not [one for one in overlay.living() if one.action == "retrieve"]

    async def store_lamp(client: meteor.Client) -> None:
        await settle(client, 3)
        await client.store("type=lamp temperature=1", b"lamp")

    overlay.run(scenario())


def test_a_standing_retrieve_moves_with_its_client(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client, sensor = await overlay.new_client().open(), await overlay.new_client("p1:1").open()
        await store_many(sensor, 2)
        answer = client.retrieve("type=temp*", ttl=60)
        received = [match.text for match in await answer.all()]
        overlay.peers[0].crash()
        await sensor.store(WARM, b"while away")
        async for match in answer:
            received.append(match.text)
            break
        assert received == ["0", "1", "while away"]
        (renewal,) = overlay.peers[1].amends("renew")
        assert renewal.ttl_s < 60, "what remained of it, no more"

    overlay.run(scenario())


def test_a_slow_taker_of_a_standing_retrieve_is_told(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        answer = client.retrieve("type=temp*", ttl=60, queue=3)
        await answer.all()
        await store_many(client, 5)
        received: list[str] = []
        with pytest.raises(meteor.SlowConsumer):
            await texts_of(answer, received)
        assert received == ["0", "1", "2"]

    overlay.run(scenario())
