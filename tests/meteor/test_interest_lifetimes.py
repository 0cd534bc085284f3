"""How long an interest lives: renewed while its client does, and what ends it."""

from __future__ import annotations

from typing import Any

import pytest

import meteor
from chord import Fault
from meteor.wire.messages import Post
from tests.meteor.asking import HOT, settle
from tests.meteor.fake_peer import FakeOverlay


def test_an_interest_is_renewed_at_a_third_while_its_client_lives(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        await settle(client, 1000)
        renewals = overlay.peers[0].amends("renew")
        assert len(renewals) == 9
        assert {one.ttl_s for one in renewals} == {300}
        assert interest.state == "active"
        await interest.renew(30)
        await settle(client, 35)
        assert overlay.peers[0].amends("renew")[-1].ttl_s == 30
        assert len(overlay.peers[0].amends("renew")) == 9 + 1 + 3

    overlay.run(scenario())


def test_renewal_outlives_a_failure_and_reports_it(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client("p0:1", on_error=errors.append).open()
        interest = await client.notify_data("temperature>=80", ttl=60)
        overlay.peers[0].silent = True
        await settle(client, 35)
        assert [type(error) for error in errors] == [meteor.Timeout]
        overlay.peers[0].silent = False
        await settle(client, 100)
        assert interest.state == "active"
        assert len(overlay.living()) == 1

    overlay.run(scenario())


def test_without_keep_alive_it_expires_and_the_iteration_ends(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80", ttl=20, keep_alive=False)
        await client.store(HOT, b"x")
        began = overlay.kernel.now()
        assert [one.data async for one in interest] == [b"x"]
        assert overlay.kernel.now() - began == pytest.approx(20, abs=0.1)
        assert interest.state == "expired"
        assert not overlay.peers[0].amends()
        with pytest.raises(meteor.Closed, match="expired"):
            await interest.recv()
        with pytest.raises(meteor.Closed, match="expired"):
            await interest.renew(20)

    overlay.run(scenario())


def test_a_renewed_interest_without_keep_alive_lives_longer(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80", ttl=20, keep_alive=False)
        await settle(client, 15)
        await client.renew(interest.id, ttl=20)
        await settle(client, 15)
        assert interest.state == "active"
        await settle(client, 6)
        assert interest.state == "expired"

    overlay.run(scenario())


def test_an_interest_that_somebody_deleted_ends_at_its_next_renewal(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client(on_error=errors.append).open()
        interest = await client.notify_data("temperature>=80", ttl=30)
        await client.delete_interest("temperature=*", everywhere=True)

        def refuse(request: Any) -> Any:
            if isinstance(request, Post):
                raise Fault("Refused", "deleted", ('[["deleted"], {"rule": "deleted"}]',))

        overlay.peers[0].answer = refuse
        assert [one async for one in interest] == []
        assert interest.state == "closed"
        assert [type(error) for error in errors] == [meteor.Refused]

    overlay.run(scenario())


def test_a_replaced_interest_keeps_its_lifetime(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        kept = await client.notify_data("type=kitchen")
        await kept.renew(600)
        await kept.replace("type=hall")
        await client.renew(kept.id)
        assert [one.ttl_s for one in overlay.peers[0].amends()] == [600, 600, 600]
        passing = await client.notify_data("type=kitchen", ttl=20, keep_alive=False)
        await settle(client, 15)
        await passing.replace("type=hall")
        await settle(client, 6)
        assert passing.state == "expired"

    overlay.run(scenario())
