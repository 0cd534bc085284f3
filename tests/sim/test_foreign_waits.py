"""What a conversation in virtual time may not await: what nothing in virtual time settles."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator, Iterator
from typing import Any

import pytest

from sim import Kernel


class Bare:
    """Yields something that is no wait of ours; how often is counted."""

    def __init__(self, awaited: object) -> None:
        self._awaited = awaited
        self.times = 0

    def __await__(self) -> Generator[object, None, None]:
        self.times += 1
        yield self._awaited


@pytest.fixture
def foreign() -> Iterator[asyncio.Future[None]]:
    """Of a loop that does not run."""
    loop = asyncio.new_event_loop()
    yield loop.create_future()
    loop.close()


async def awaiting(what: Awaitable[Any]) -> str:
    await what
    return "never"


def test_what_is_asyncios_is_refused_where_it_is_awaited(foreign: asyncio.Future[None]) -> None:
    """It was an AttributeError of the kernel's own, and the conversation hung for good."""
    kernel = Kernel()
    task = kernel.spawn(awaiting(foreign))
    said = r"awaited <Future pending>.*kernel\.sleep.*kernel\.spawn"
    with pytest.raises(TypeError, match=said) as raised:
        kernel.run_until(task)
    assert "awaiting" in [entry.name for entry in raised.traceback]
    assert raised.value.__suppress_context__
    assert task.done()


@pytest.mark.parametrize("awaited", [None, 5, "text", object()])
def test_so_is_all_else_that_is_no_wait(awaited: object) -> None:
    kernel = Kernel()
    with pytest.raises(TypeError, match="which nothing settles here"):
        kernel.run_until(kernel.spawn(awaiting(Bare(awaited))))
    with pytest.raises(TypeError, match="which nothing settles here"):
        kernel.run_until(kernel.spawn(awaiting(asyncio.sleep(0))))


def test_a_conversation_may_go_on_after_such_a_wait() -> None:
    kernel = Kernel()
    bare = Bare(None)

    async def learns() -> float:
        for _ in range(3):
            with pytest.raises(TypeError, match="nothing settles"):
                await bare
        await kernel.sleep(2.0)
        return kernel.now()

    assert kernel.run_until(kernel.spawn(learns())) == 2.0
    assert bare.times == 3

    async def gives_up() -> str:
        try:
            await bare
        except TypeError:
            return "instead"
        return "never"

    assert kernel.run_until(kernel.spawn(gives_up())) == "instead"


def test_where_nobody_waits_for_it_the_run_stops() -> None:
    kernel = Kernel()
    kernel.spawn(awaiting(Bare(None)))
    with pytest.raises(TypeError, match="nothing settles"):
        kernel.run()
