"""An interest that is replaced twice at once asks for what was said last, whichever answer comes
first."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Deferred
from meteor import Interest, Receipt
from meteor.wire.messages import Amend
from tests.meteor.asking import settle
from tests.meteor.fake_peer import FakeOverlay


def answer_late(overlay: FakeOverlay, delays_s: list[float]) -> None:
    """Let the peer carry replaces out at once, and say so after these times."""
    peer = overlay.peers[0]

    async def say_late(request: Amend, delay_s: float) -> Any:
        reply = peer.amend(peer.clients[0], request)
        await peer.runtime.sleep(delay_s)
        return reply

    def answer(request: Any) -> Any:
        if not isinstance(request, Amend) or request.verb != "replace":
            return None
        return Deferred(say_late(request, delays_s.pop(0)))

    peer.answer = answer


@pytest.mark.parametrize("delays_s", [(2.0, 0.2), (0.2, 2.0)], ids=["crossing", "in turn"])
def test_it_is_what_was_said_last(overlay: FakeOverlay, delays_s: tuple[float, ...]) -> None:
    """The earlier answer came later: the interest had the id of before, and as the overlay had lost
    it, it was posted again as it had been before, and told nothing of what was asked for."""

    async def scenario() -> None:
        client = await overlay.new_client("p0:1").open()
        interest = await client.notify_data("temperature>=80")
        answer_late(overlay, list(delays_s))
        told: list[Receipt] = []

        async def replace(wanted: Interest, profile: str) -> None:
            told.append(await wanted.replace(profile))

        for profile in ("temperature>=90", "temperature<=0"):
            client._runtime.spawn(replace(interest, profile))
            await settle(client)
        await settle(client, 5)
        (record,) = overlay.living()
        assert (len(told), interest.id) == (2, record.id)
        overlay.records.clear()
        await settle(client, 300)
        await client.store("type=t temperature=-5", "cold")
        assert (await interest.recv(timeout=1)).text == "cold"

    overlay.run(scenario())


@pytest.mark.parametrize("ahead", ["replace", "renewal"])
def test_one_that_is_posted_again_as_it_is_replaced_is_what_was_said(
    overlay: FakeOverlay, ahead: str
) -> None:
    """A renewal that found nothing posted it as it was before, under a later version than the
    replace's: the overlay kept that and so did the client, who was told that it is replaced."""

    async def scenario() -> None:
        client = await overlay.new_client("p0:1").open()
        interest = await client.notify_data("temperature>=80")
        overlay.records.clear()
        peer = overlay.peers[0]

        async def carry_out_late(request: Amend) -> Any:
            await peer.runtime.sleep(0.5 if request.verb == "replace" else 0.2)
            return peer.amend(peer.clients[0], request)

        peer.answer = lambda one: Deferred(carry_out_late(one)) if isinstance(one, Amend) else None

        async def replace() -> None:
            await interest.replace("temperature<=0")

        both = {"replace": replace, "renewal": interest._attachment.reattach}
        first, second = sorted(both, key=ahead.__ne__)
        begun = [client._runtime.spawn(both[first]())]
        await settle(client)
        begun.append(client._runtime.spawn(both[second]()))
        for one in begun:
            await one
        peer.answer = None
        await settle(client, 5)
        await client.store("type=t temperature=-5", "cold")
        assert (await interest.recv(timeout=1)).text == "cold"

    overlay.run(scenario())
