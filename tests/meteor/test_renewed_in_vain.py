"""An interest that is not kept alive ends with its record, although somebody tried to renew it."""

from __future__ import annotations

from typing import Any

import pytest

import meteor
from chord import Fault
from meteor.wire.messages import Amend
from tests.meteor.fake_peer import FakeOverlay


@pytest.mark.parametrize("how", ["refused", "silent"])
def test_a_renewal_that_fails_lets_nothing_live_longer(overlay: FakeOverlay, how: str) -> None:
    """The caller had his error; the iteration went on as if the record lived, for hours."""
    peer = overlay.peers[0]

    def answer(request: Any) -> Any:
        if not isinstance(request, Amend):
            return None
        if how == "silent":
            return peer.silence()
        raise Fault("Refused", "too many")

    async def scenario() -> None:
        client = await overlay.new_client("p0:1").open()
        interest = await client.notify_data("temperature>=80", ttl=20, keep_alive=False)
        await client._runtime.sleep(10)
        peer.answer = answer
        with pytest.raises(meteor.MeteorError):
            await interest.renew(36_000, timeout=1)
        await client._runtime.sleep(15)
        assert overlay.living() == []
        assert interest.state == "expired"
        assert [one async for one in interest] == []

    overlay.run(scenario())


def test_what_was_renewed_although_nobody_said_so_goes_with_its_interest(
    overlay: FakeOverlay,
) -> None:
    peer = overlay.peers[0]

    def carry_out_in_silence(request: Any) -> Any:
        if not isinstance(request, Amend) or request.verb == "cancel":
            return None
        (record,) = overlay.records.values()
        record.expires_s = peer.runtime.now() + request.ttl_s
        return peer.silence()

    async def scenario() -> None:
        client = await overlay.new_client("p0:1").open()
        interest = await client.notify_data("temperature>=80", ttl=20, keep_alive=False)
        await client._runtime.sleep(10)
        peer.answer = carry_out_in_silence
        with pytest.raises(meteor.Timeout):
            await interest.renew(36_000, timeout=1)
        await client._runtime.sleep(15)
        assert interest.state == "expired"
        assert overlay.living() == []

    overlay.run(scenario())


@pytest.mark.parametrize("keep_alive", [True, False])
def test_one_that_fails_undoes_none_that_was_carried_out_since(
    overlay: FakeOverlay, keep_alive: bool
) -> None:
    """It ended with the life of before both of them: what matched it then was told to nobody."""
    peer = overlay.peers[0]

    async def in_vain(interest: meteor.Interest) -> None:
        with pytest.raises(meteor.Timeout):
            await interest.renew(36_000, timeout=5)

    async def scenario() -> None:
        client = await overlay.new_client("p0:1").open()
        interest = await client.notify_data("temperature>=80", ttl=20, keep_alive=keep_alive)
        peer.silent = True
        failing = client._runtime.spawn(in_vain(interest))
        await client._runtime.sleep(1)
        peer.silent = False
        await interest.renew(600)
        await failing
        await client._runtime.sleep(60)
        asked = {one.ttl_s for one in peer.amends("renew")[1:]}
        assert asked == {600.0}
        await client.store("type=t temperature=99", "later")
        assert (await interest.recv(timeout=1)).text == "later"

    overlay.run(scenario())


@pytest.mark.parametrize("keep_alive", [True, False])
@pytest.mark.parametrize("timeouts_s", [(2, 5), (5, 2)], ids=["in turn", "crossing"])
def test_two_that_fail_leave_the_life_that_was_acknowledged(
    overlay: FakeOverlay, keep_alive: bool, timeouts_s: tuple[float, float]
) -> None:
    """The second put back what the first had wished for, which nobody had acknowledged."""
    peer = overlay.peers[0]

    async def in_vain(interest: meteor.Interest, ttl_s: float, timeout_s: float) -> None:
        with pytest.raises(meteor.Timeout):
            await interest.renew(ttl_s, timeout=timeout_s)

    async def scenario() -> None:
        client = await overlay.new_client("p0:1").open()
        interest = await client.notify_data("temperature>=80", ttl=60, keep_alive=keep_alive)
        peer.silent = True
        first = client._runtime.spawn(in_vain(interest, 36_000, timeouts_s[0]))
        await client._runtime.sleep(1)
        second = client._runtime.spawn(in_vain(interest, 72_000, timeouts_s[1]))
        await first
        await second
        peer.silent = False
        await client._runtime.sleep(70)
        assert peer.amends()[-1].ttl_s <= 60
        assert interest.state == ("active" if keep_alive else "expired")

    overlay.run(scenario())
