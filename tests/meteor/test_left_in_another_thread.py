"""What nobody holds any more is ended in its loop's own thread, wherever the collector runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

import meteor
from meteor import Message
from tests.meteor.building import SPACE


async def _let_go(held: list[Any], monkeypatch: pytest.MonkeyPatch) -> list[BaseException | None]:
    """As a collector does that runs in another thread: what `__del__` raised.  A loop in debug mode
    does not take what is called from there."""
    raised: list[BaseException | None] = []
    await asyncio.sleep(0.05)  # so that what is under way waits
    asyncio.get_running_loop().set_debug(True)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "unraisablehook", lambda one: raised.append(one.exc_value))
        await asyncio.to_thread(held.clear)
    await asyncio.sleep(0.05)
    asyncio.get_running_loop().set_debug(False)
    return raised


async def test_receipts_that_are_left_in_another_thread_post_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = 0

    async def messages() -> AsyncIterator[Message]:
        nonlocal count
        while True:
            count += 1
            yield Message("type=t temperature=1", id=f"r{count}")
            await asyncio.sleep(0)

    async with meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        client = await overlay.connect()
        held: list[Any] = [client.post_many(messages(), concurrency=2)]
        await anext(held[0])
        assert await _let_go(held, monkeypatch) == []
        posted = count
        await asyncio.sleep(0.05)
        assert count == posted


async def test_an_answer_that_is_left_in_another_thread_asks_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        point: Any = overlay.peers[0]._core.point

        async def never(*_: object) -> None:
            await asyncio.sleep(60.0)

        monkeypatch.setattr(point, "answer", lambda *_: None)
        monkeypatch.setattr(point, "perform", never)
        client = await overlay.connect()
        answer = client.retrieve("type=t")
        held: list[Any] = [aiter(answer)]
        waiting = asyncio.ensure_future(answer.all())
        assert await _let_go(held, monkeypatch) == []
        with pytest.raises(meteor.Closed):
            await asyncio.wait_for(waiting, 5.0)


async def test_what_is_left_when_the_loop_is_over_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held: list[Any] = []

    async def elsewhere() -> None:
        async with meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
            client = await overlay.connect()
            held.append(client.post_many([Message("type=t temperature=1")] * 9, concurrency=2))
            await anext(held[0])

    await asyncio.to_thread(asyncio.run, elsewhere())
    assert await _let_go(held, monkeypatch) == []
