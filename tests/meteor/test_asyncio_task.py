"""Conversations that were stepped once before they became tasks: how they go on, and end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from chord import CallError
from meteor.links.asyncio_task import Conversation


class Stepped:
    """A conversation that waits for an answer, and what came of it."""

    def __init__(self) -> None:
        self.answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.owned: dict[Conversation[Any], None] = {}
        self.failures: list[BaseException] = []
        self.outcomes: list[tuple[object, type]] = []
        self.cleaned_up = False
        waiting = self._wait()
        self.conversation: Conversation[str] | None = Conversation(
            asyncio.get_running_loop(),
            waiting,
            self.owned,
            self.failures.append,
            waiting.send(None),
        )

    async def _wait(self) -> str:
        try:
            return await self.answered
        finally:
            self.cleaned_up = True

    def going_on(self) -> Conversation[str]:
        """The conversation, whose end is heard."""
        assert self.conversation is not None
        self.conversation.concluded = self.conclude
        return self.conversation

    def conclude(self, value: object, error: BaseException | None) -> None:
        self.outcomes.append((value, type(error)))


async def test_it_goes_on_as_a_coroutine_that_every_loop_takes() -> None:
    """Since Python 3.12 a task takes no generator, however it is decorated."""
    stepped = Stepped()
    conversation = stepped.conversation
    assert conversation is not None
    assert isinstance(conversation.task.get_coro(), Coroutine)
    await asyncio.sleep(0)
    stepped.answered.set_result("at last")
    assert await conversation == "at last"
    assert not stepped.owned


async def test_its_end_is_known_in_the_step_that_ends_it() -> None:
    stepped = Stepped()
    conversation = stepped.going_on()
    await asyncio.sleep(0)
    stepped.answered.set_result("at last")
    assert not conversation.done(), "a resolved wait resumes in a later turn"
    await asyncio.sleep(0)
    assert conversation.done()
    assert stepped.outcomes == [("at last", type(None))]
    assert not stepped.owned


async def test_cancelled_before_it_goes_on_it_has_an_outcome_all_the_same() -> None:
    stepped = Stepped()
    conversation = stepped.going_on()
    conversation.cancel()
    conversation.cancel()
    await asyncio.wait([conversation.task])
    await asyncio.sleep(0)
    assert stepped.outcomes == [(None, asyncio.CancelledError)]
    assert stepped.cleaned_up
    assert not stepped.owned


async def test_cancelled_as_it_waits_it_ends_there() -> None:
    stepped = Stepped()
    conversation = stepped.going_on()
    await asyncio.sleep(0)
    conversation.cancel()
    await asyncio.wait([conversation.task])
    assert conversation.task.cancelled()
    assert stepped.outcomes == [(None, asyncio.CancelledError)]
    assert stepped.cleaned_up


async def test_a_failure_is_told_when_the_handle_is_dropped_without_having_been_awaited() -> None:
    stepped = Stepped()
    await asyncio.sleep(0)
    stepped.answered.set_exception(CallError("nobody asked"))
    await asyncio.sleep(0)
    assert stepped.failures == []
    stepped.conversation = None
    await asyncio.sleep(0)
    assert [str(error) for error in stepped.failures] == ["nobody asked"]
