"""A handler that gives an awaitable without being a coroutine function is one all the same: one
notification at a time, in order, and no more of them waiting than its queue is long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import meteor
from tests.meteor.asking import HOT, settle
from tests.meteor.fake_peer import FakeOverlay


class _Slow:
    """Takes long over the first ones, and notes who begins and ends."""

    def __init__(self, client: meteor.Client) -> None:
        self.noted: list[str] = []
        self._client = client

    async def __call__(self, notification: meteor.Notification) -> None:
        self.noted.append(f"begins {notification.text}")
        await settle(self._client, 1 / (1 + int(notification.text)))
        self.noted.append(f"ends {notification.text}")


def _kinds(slow: _Slow) -> dict[str, Callable[[meteor.Notification], Any]]:
    return {
        "an object": slow,
        "a function": lambda notification: slow(notification),  # noqa: PLW0108 - hides it
        "a coroutine function": slow.__call__,
    }


@pytest.mark.parametrize("kind", ["an object", "a function", "a coroutine function"])
def test_one_notification_at_a_time_in_order(overlay: FakeOverlay, kind: str) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        slow = _Slow(client)
        for number in range(2):
            await client.store(HOT, str(number))
        interest = await client.notify_data("temperature>=80", handler=_kinds(slow)[kind])
        for number in range(2, 5):
            await client.store(HOT, str(number))
        await settle(client, 10)
        assert slow.noted == [f"{what} {n}" for n in range(5) for what in ("begins", "ends")]
        await interest.close()

    overlay.run(scenario())


@pytest.mark.parametrize("kind", ["an object", "a function", "a coroutine function"])
def test_a_slow_one_is_a_slow_consumer(overlay: FakeOverlay, kind: str) -> None:
    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client(on_error=errors.append).open()
        handler = _kinds(_Slow(client))[kind]
        interest = await client.notify_data("temperature>=80", handler=handler, queue=2)
        for _ in range(6):
            await client.store(HOT, "0")
        await settle(client, 100)
        assert [type(error) for error in errors] == [meteor.SlowConsumer]
        assert interest.state == "failed"

    overlay.run(scenario())


def test_told_once_it_is_waited_for(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        slow = _Slow(client)
        await client.store(HOT, "0")
        interest = await client.notify_data("temperature>=80", handler=slow, once=True)
        await settle(client, 10)
        assert slow.noted == ["begins 0", "ends 0"]
        assert interest.state == "closed"

    overlay.run(scenario())
