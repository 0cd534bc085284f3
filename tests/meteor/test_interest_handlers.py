"""Handlers of interests and watches: each notification in order, slow ones, what they raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import meteor
from tests.meteor.asking import HOT, settle
from tests.meteor.fake_peer import FakeOverlay


@pytest.mark.parametrize("kind", ["sync", "async", "hidden async"])
def test_a_handler_gets_every_notification_in_order(overlay: FakeOverlay, kind: str) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        received: list[str] = []

        async def slowly(notification: meteor.Notification) -> None:
            await settle(client, 0.001)
            received.append(notification.text)

        handlers: dict[str, Callable[[meteor.Notification], Any]] = {
            "sync": lambda notification: received.append(notification.text),
            "async": slowly,
            "hidden async": lambda notification: slowly(notification),  # noqa: PLW0108 - hides it
        }
        interest = await client.notify_data("temperature>=80", handler=handlers[kind])
        for number in range(5):
            await client.store(HOT, str(number))
        await settle(client)
        assert received == ["0", "1", "2", "3", "4"]
        await interest.close()
        assert not overlay.unacknowledged

    overlay.run(scenario())


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_what_a_handler_raises_is_told_and_harms_nobody(overlay: FakeOverlay, kind: str) -> None:
    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client(on_error=errors.append).open()
        received: list[str] = []

        def fail(notification: meteor.Notification) -> None:
            received.append(notification.text)
            raise LookupError(notification.text)

        async def fail_later(notification: meteor.Notification) -> None:
            fail(notification)

        handler = fail if kind == "sync" else fail_later
        await client.notify_data("temperature>=80", handler=handler)
        for number in range(3):
            await client.store(HOT, str(number))
        await settle(client)
        assert received == ["0", "1", "2"]
        assert [type(error) for error in errors] == [LookupError] * 3

    overlay.run(scenario())


def test_a_slow_handler_is_a_slow_consumer_too(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client(on_error=errors.append).open()

        async def stuck(_: meteor.Notification) -> None:
            await settle(client, 50)

        interest = await client.notify_data("temperature>=80", handler=stuck, queue=2)
        for _ in range(6):
            await client.store(HOT)
        await settle(client, 500)
        assert [type(error) for error in errors] == [meteor.SlowConsumer]
        assert interest.state == "failed"

    overlay.run(scenario())


def test_a_handlers_notifications_cannot_be_taken_by_somebody_else(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80", handler=lambda _: None)
        with pytest.raises(RuntimeError, match="handler"):
            await interest.recv()
        with pytest.raises(RuntimeError, match="handler"):
            await anext(interest)

    overlay.run(scenario())


def test_the_handler_of_a_watch_sees_the_new_state(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        seen: list[tuple[str, bool]] = []

        def note(notification: meteor.Notification) -> None:
            seen.append((notification.kind, watch.active))

        watch = client.notify_interest("type=lamp temperature=*", handler=note)
        await watch
        await (await client.notify_data("type=lamp")).close()
        await settle(client)
        assert seen == [("appeared", True), ("gone", False)]

    overlay.run(scenario())
