"""A watch whose handler cannot keep up says so, as an interest does: a handler reads it."""

from __future__ import annotations

import meteor
from tests.meteor.fake_peer import FakeOverlay


def test_a_slow_handler_of_a_watch_is_a_slow_consumer(overlay: FakeOverlay) -> None:
    """It lost the oldest without a word, although `overflow` was `"error"`."""

    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client(on_error=errors.append).open()

        async def stuck(_: meteor.Notification) -> None:
            await client._runtime.sleep(50)

        watch = await client.notify_interest(
            "type=lamp temperature=*", handler=stuck, queue=2, ttl=600
        )
        for _ in range(6):
            await client.notify_data("type=lamp", ttl=600, keep_alive=False)
        await client._runtime.sleep(190)
        assert [type(error) for error in errors] == [meteor.SlowConsumer]
        assert (watch.state, watch.dropped) == ("failed", 1)

    overlay.run(scenario())


def test_it_may_forget_its_oldest_where_that_was_asked_for(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client(on_error=errors.append).open()

        async def stuck(_: meteor.Notification) -> None:
            await client._runtime.sleep(50)

        watch = await client.notify_interest(
            "type=lamp temperature=*", handler=stuck, queue=2, overflow="drop_oldest", ttl=600
        )
        for _ in range(6):
            await client.notify_data("type=lamp", ttl=600, keep_alive=False)
        await client._runtime.sleep(190)
        assert errors == []
        assert (watch.state, watch.dropped) == ("active", 3)

    overlay.run(scenario())
