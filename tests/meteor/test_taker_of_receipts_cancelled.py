"""Who waits for a receipt of `post_many` and is cancelled loses none, and takes nobody's room."""

from __future__ import annotations

import meteor
from meteor import Message
from tests.meteor.fake_peer import FakeOverlay


def test_a_cancelled_wait_for_a_receipt_loses_none(overlay: FakeOverlay) -> None:
    """As with `asyncio.wait_for(anext(receipts), ...)`: whoever asks again gets the same one."""

    async def scenario() -> None:
        client = await overlay.new_client().open()
        names = [f"r{number}" for number in range(6)]
        messages = [Message("type=t temperature=1", id=name) for name in names]
        receipts = client.post_many(messages, concurrency=2)

        async def take() -> meteor.Receipt:
            return await anext(receipts)

        async def take_all() -> list[str]:
            return [receipt.id.split(".")[0] async for receipt in receipts]

        for _ in range(2):
            impatient = client._runtime.spawn(take())
            await client._runtime.sleep(0)
            await client._runtime.sleep(0)
            impatient.cancel()
        patient = client._runtime.spawn(take_all())
        await client._runtime.sleep(60)
        assert patient.done()
        assert await patient == names

    overlay.run(scenario())


def test_several_takers_share_the_receipts_between_them(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        names = [f"r{number}" for number in range(9)]
        receipts = client.post_many([Message("type=t temperature=1", id=name) for name in names])
        taken: list[str] = []

        async def take_some() -> None:
            async for receipt in receipts:
                taken.append(receipt.id.split(".")[0])  # noqa: PERF401 - by several

        takers = [client._runtime.spawn(take_some()) for _ in range(3)]
        for taker in takers:
            await taker
        assert taken == names

    overlay.run(scenario())
