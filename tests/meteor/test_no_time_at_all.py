"""Who gives a request no time hears so; the link, which nobody asked anything, stays."""

from __future__ import annotations

import math

import pytest

import meteor
from tests.meteor.fake_peer import FakeOverlay


@pytest.mark.parametrize("timeout", [0, -1, math.nan, math.inf])
def test_an_interest_takes_no_time_out_that_a_client_refuses(
    overlay: FakeOverlay, timeout: float
) -> None:
    async def scenario() -> None:
        lost: list[Exception] = []
        client = await overlay.new_client(on_disconnected=lost.append).open()
        interest = await client.notify_data("type=kitchen")
        with pytest.raises(meteor.LimitExceeded, match="timeout"):
            await interest.renew(600, timeout=timeout)
        with pytest.raises(meteor.LimitExceeded, match="timeout"):
            await interest.replace("type=hall", timeout=timeout)
        assert lost == []
        await client.close()

    overlay.run(scenario())


def test_a_request_whose_time_is_spent_costs_no_link(overlay: FakeOverlay) -> None:
    """As one that waited for a peer until its very last moment, and found one."""

    async def scenario() -> None:
        lost: list[Exception] = []
        client = await overlay.new_client(on_disconnected=lost.append).open()
        draft = (await client.notify_data("type=kitchen"))._attachment.draft
        await client._runtime.sleep(1)
        with pytest.raises(meteor.Timeout):
            await client._session.post(draft, 0.0)
        assert lost == []
        assert client.peer_address == "p0:1"
        await client.close()

    overlay.run(scenario())
