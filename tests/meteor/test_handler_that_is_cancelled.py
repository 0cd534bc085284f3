"""What awaits something that was cancelled ends as that did: a handler is called again all the
same, and an action has come to nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

import meteor
from meteor import ActionContext, Match
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.asking import HOT, settle
from tests.meteor.building import SPACE
from tests.meteor.fake_peer import FakeOverlay


def test_a_handler_goes_on_after_it_was_cancelled_once(overlay: FakeOverlay) -> None:
    """As when it awaits a task of the application's that somebody cancelled."""

    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client(on_error=errors.append).open()
        runtime, heard = client._runtime, list[str]()

        async def sleep_long() -> None:
            await runtime.sleep(3600)

        async def handler(notification: meteor.Notification) -> None:
            heard.append(notification.text)
            if notification.text == "1":
                connecting = runtime.spawn(sleep_long())
                connecting.cancel()
                await connecting

        interest = await client.notify_data("temperature>=80", handler=handler)
        for number in range(4):
            await client.store(HOT, str(number))
        await runtime.sleep(1)
        assert heard == ["0", "1", "2", "3"]
        assert len(errors) == 1
        assert "was cancelled" in str(errors[0])
        assert interest.state == "active"

    overlay.run(scenario())


def test_a_plain_handler_that_takes_what_was_cancelled_is_called_on(overlay: FakeOverlay) -> None:
    """What that raises is no `Exception`: it broke the link by which the notification came, which
    came again by the next one, hundreds of times a second."""

    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client(on_error=errors.append).open()
        heard = list[str]()

        def handler(notification: meteor.Notification) -> None:
            heard.append(notification.text)
            if notification.text == "1":
                raise asyncio.CancelledError  # as `Future.result` does

        await client.notify_data("temperature>=80", handler=handler)
        for number in range(4):
            await client.store(HOT, str(number))
        await settle(client)
        assert heard == ["0", "1", "2", "3"]
        assert ["was cancelled" in str(error) for error in errors] == [True]
        assert not overlay.unacknowledged

    overlay.run(scenario())


def test_so_is_a_callback(overlay: FakeOverlay, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        def callback(_: object) -> None:
            raise asyncio.CancelledError

        client = await overlay.new_client(on_disconnected=callback, on_reconnected=callback).open()
        overlay.peers[0].crash()
        await settle(client, 5)
        assert client.connected
        assert len(caplog.records) == 2

    overlay.run(scenario())


def test_an_action_that_was_cancelled_is_missing_at_once() -> None:
    """It was said not to have ended, after the whole time of the post."""
    overlay = Overlay(codec=wire_codec(), peers=2, space=SPACE, seed=31)

    async def cancelled(_: ActionContext, __: Match, ___: Sequence[Match]) -> bytes:
        runtime = overlay.peers[0].runtime
        connecting = runtime.spawn(sleep_long())
        connecting.cancel()
        await connecting
        return b""

    async def sleep_long() -> None:
        await overlay.peers[0].runtime.sleep(3600)

    for peer in overlay.peers:
        peer.core.actions.add("average", cancelled)

    async def scenario() -> None:
        client = overlay.client(peer=1)
        began_s = overlay.kernel.now()
        with pytest.raises(meteor.Incomplete, match="it was cancelled"):
            await client.perform("average", "temperature>=-40", timeout=60)
        assert overlay.kernel.now() - began_s < 1

    overlay.run(scenario())
