"""An interest that is given no time any more is over, and says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import meteor
from tests.meteor.asking import HOT, settle
from tests.meteor.fake_peer import FakeOverlay

RENEWS: dict[str, Callable[[meteor.Client, meteor.Interest], Any]] = {
    "itself": lambda _, interest: interest.renew(0),
    "by its id": lambda client, interest: client.renew(interest.id, ttl=0),
}


@pytest.mark.parametrize("keep_alive", [True, False])
@pytest.mark.parametrize("by", RENEWS)
def test_it_ends_as_one_that_has_run_out(overlay: FakeOverlay, keep_alive: bool, by: str) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await client.store(HOT, "before")
        interest = await client.notify_data("temperature>=80", keep_alive=keep_alive)
        await RENEWS[by](client, interest)
        await settle(client, 10)
        asked = len(overlay.peers[0].requests)
        await client.store(HOT, "later")
        await settle(client, 10)
        assert interest.state == "expired"
        assert [one.text async for one in interest] == ["before"]
        assert len(overlay.peers[0].requests) == asked + 1

    overlay.run(scenario())


def test_one_that_is_given_time_again_before_it_ends_lives(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        await interest.renew(60)
        await settle(client, 200)
        await client.store(HOT, "later")
        assert (await interest.recv(timeout=1)).text == "later"

    overlay.run(scenario())
