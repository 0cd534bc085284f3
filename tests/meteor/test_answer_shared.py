"""One answer, taken from by several: whoever leaves it takes nothing from the others in silence."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

import meteor
from tests.meteor.asking import store_many
from tests.meteor.building import SPACE
from tests.meteor.fake_peer import FakeOverlay


@pytest.mark.parametrize("leaving", ["first", "close"])
async def test_all_is_never_empty_because_somebody_else_left(leaving: str) -> None:
    async with meteor.LocalOverlay(2, space=SPACE) as overlay:
        client = await overlay.connect()
        await store_many(client, 5)
        answer = client.retrieve("type=temp*")
        leave: Any = getattr(answer, leaving)()
        found, _ = await asyncio.gather(answer.all(), leave, return_exceptions=True)
        assert isinstance(found, meteor.Closed), found
        assert "retrieve again" in str(found)


def test_a_loop_that_is_left_ends_no_other_one_in_silence(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 5)
        answer = client.retrieve("type=temp*")
        one, other = aiter(answer), aiter(answer)
        taken = [(await anext(one)).text, (await anext(other)).text]
        del one
        gc.collect()
        with pytest.raises(meteor.Closed, match="its loop left"):
            await anext(other)
        assert taken == ["0", "1"]

    overlay.run(scenario())


def test_a_loop_that_came_to_its_end_harms_no_other_one(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 3)
        answer = client.retrieve("type=temp*")
        other = aiter(answer)
        assert [match.text async for match in answer] == ["0", "1", "2"]
        gc.collect()
        assert [match.text async for match in other] == []
        assert answer.complete

    overlay.run(scenario())


@pytest.mark.sockets
def test_threads_that_share_an_answer_are_told_when_one_leaves_it() -> None:
    with meteor.sync.LocalOverlay(2, space=SPACE) as overlay:
        client = overlay.connect()
        for number in range(5):
            client.store(f"type=temperature temperature={number}")
        answer = client.retrieve("type=temp*")
        one, other = iter(answer), iter(answer)
        next(one)
        next(other)
        del one
        gc.collect()
        client.ring()  # behind what the loop was told of the one that left
        with pytest.raises(meteor.Closed, match="its loop left"):
            next(other)
