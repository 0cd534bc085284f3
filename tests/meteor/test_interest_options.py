"""What may be asked of an interest: told once, told without payload, and a full queue's policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import meteor
from meteor import Client, Timeout
from meteor.rendezvous.outbox import Outbox
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.fake_peer import FakeOverlay

Run = Callable[[Any], Any]
HOT = "type=t temperature=99"


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=8, space=SPACE, seed=23)


@pytest.fixture
def run(overlay: Overlay) -> Run:
    return overlay.run


async def settle(client: Client, seconds: float = 1.0) -> None:
    await client._runtime.sleep(seconds)


async def taken(interest: meteor.Interest) -> list[meteor.Notification]:
    return [notification async for notification in interest]


def test_once_tells_that_there_is_a_match_and_is_over(overlay: Overlay, run: Run) -> None:
    """Over the whole space, where many peers have something to tell."""

    async def scenario() -> None:
        listener, sensor = overlay.client(peer=0), overlay.client(peer=5)
        for degrees in range(-40, 120, 8):
            await sensor.store(f"type=sensor temperature={degrees}")
        interest = await listener.notify_data("temperature>=-40", once=True)
        (only,) = await taken(interest)
        assert only.kind == "match"
        assert interest.state == "closed"
        await settle(listener)
        assert (await listener.delete_interest("temperature>=-40", dry_run=True)).matches == 0

    run(scenario())


def test_once_waits_for_the_first_match(overlay: Overlay, run: Run) -> None:
    async def scenario() -> None:
        listener = overlay.client(peer=0)
        interest = await listener.notify_data("temperature>=80", once=True)
        with pytest.raises(Timeout):
            await interest.recv(timeout=1)
        for _ in range(3):
            await listener.store(HOT, b"hot")
        assert (await interest.recv(timeout=1)).data == b"hot"
        with pytest.raises(meteor.Closed):
            await interest.recv(timeout=1)

    run(scenario())


def test_once_again_under_its_name_is_told_again(overlay: Overlay, run: Run) -> None:
    """What the one before it was told of does not count."""

    async def scenario() -> None:
        listener = overlay.client(peer=0)
        interest = await listener.notify_data("temperature>=80", id="hot")
        await listener.store(HOT, b"first", ttl=2)
        assert (await interest.recv(timeout=1)).data == b"first"
        await settle(listener, 4)
        again = await listener.notify_data("temperature>=80", id="hot", once=True)
        for data in (b"second", b"third"):
            await listener.store(HOT, data)
        assert (await again.recv(timeout=5)).data == b"second"
        with pytest.raises(meteor.Closed):
            await again.recv(timeout=5)

    run(scenario())


def test_once_calls_its_handler_once(overlay: Overlay, run: Run) -> None:
    async def scenario() -> None:
        listener, came = overlay.client(peer=0), list[meteor.Notification]()
        await listener.store(HOT)
        await listener.store("type=t temperature=98")
        await listener.notify_data("temperature>=80", once=True, handler=came.append)
        await listener.store("type=t temperature=97")
        await settle(listener)
        assert len(came) == 1

    run(scenario())


def test_a_watch_may_be_told_once_too(overlay: Overlay, run: Run) -> None:
    async def scenario() -> None:
        lamp, one, two = (overlay.client(peer=peer) for peer in range(3))
        watch = await lamp.notify_interest("type=lamp temperature=*", once=True)
        await one.notify_data("type=lamp")
        await two.notify_data("type=lamp temperature>=1")
        assert [notification.kind for notification in await taken(watch)] == ["appeared"]
        assert watch.active

    run(scenario())


def test_a_rendezvous_peer_keeps_one_notice_for_who_is_told_once() -> None:
    """The others would travel for nothing: 20 data, one peer, one notice."""
    overlay = Overlay(codec=wire_codec(), peers=1, space=SPACE, seed=23)

    async def scenario() -> None:
        sensor = overlay.client(peer=0)
        for degrees in range(20):
            await sensor.store(f"type=sensor temperature={degrees}")
        told: list[str] = []
        add = Outbox.add

        def counting(self: Outbox, notice: Any, *said: Any, **named: Any) -> bool:
            told.append(notice.id)
            return add(self, notice, *said, **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Outbox, "add", counting)
            await taken(await sensor.notify_data("type=sensor", once=True))
        assert len(told) == 1

    overlay.run(scenario())


def test_without_data_a_notice_says_what_not_how_much(overlay: Overlay, run: Run) -> None:
    """Figure 2.2: notify, then retrieve."""

    async def scenario() -> None:
        listener, sensor = overlay.client(peer=0), overlay.client(peer=5)
        interest = await listener.notify_data("temperature>=80", with_data=False)
        await sensor.store(HOT, b"x" * 1000, context={"zone": "a"})
        notice = await interest.recv(timeout=1)
        assert (notice.data, dict(notice.context)) == (b"", {"zone": "a"})
        assert str(notice.profile) == HOT
        (match,) = await listener.retrieve(notice.profile)
        assert (match.id, match.data) == (notice.id, b"x" * 1000)

    run(scenario())


def test_an_interest_keeps_its_wishes_when_it_moves_or_is_attached_to(
    overlay: Overlay, run: Run
) -> None:
    async def scenario() -> None:
        listener, later = overlay.client(peer=0), overlay.client(peer=3)
        interest = await listener.notify_data("temperature>=120", with_data=False, once=True)
        await interest.replace("temperature>=80")
        taken_up = await later.attach(await interest.detach())
        await later.store(HOT, b"hot")
        (only,) = await taken(taken_up)
        assert only.data == b""

    run(scenario())


def test_the_oldest_goes_where_that_was_asked_for(overlay: Overlay, run: Run) -> None:
    async def scenario() -> None:
        listener = overlay.client(peer=0)
        interest = await listener.notify_data("type=t", queue=3, overflow="drop_oldest")
        for degrees in range(10):
            await listener.store(f"type=t temperature={degrees}", str(degrees))
        await settle(listener)
        assert interest.dropped == 7
        assert interest.state == "active"
        assert [(await interest.recv(1)).text for _ in range(3)] == ["7", "8", "9"]
        await listener.store("type=t temperature=10", "10")
        assert (await interest.recv(1)).text == "10"

    run(scenario())


def test_a_standing_retrieve_has_a_queue_and_a_policy(overlay: Overlay, run: Run) -> None:
    async def scenario() -> None:
        listener = overlay.client(peer=0)
        async with listener.retrieve("type=t", ttl=60, queue=2, overflow="drop_oldest") as answer:
            await settle(listener)
            for degrees in range(5):
                await listener.store(f"type=t temperature={degrees}", str(degrees))
            await settle(listener)
            assert answer.dropped == 3
            matches = aiter(answer)
            assert [(await anext(matches)).text for _ in range(2)] == ["3", "4"]

    run(scenario())


@pytest.mark.parametrize("verb", ["notify_data", "notify_interest", "retrieve"])
def test_a_queue_or_a_policy_that_is_none_is_refused_at_once(
    overlay: Overlay, run: Run, verb: str
) -> None:
    async def scenario() -> None:
        client: Client = overlay.client(peer=0)
        with pytest.raises(ValueError, match="overflow is one of error, drop_oldest, not 'block'"):
            getattr(client, verb)("type=t", overflow="block")
        with pytest.raises(ValueError, match="queue: 0 is no length"):
            getattr(client, verb)("type=t", queue=0)

    run(scenario())


def test_a_payload_on_its_way_stays_out_of_memory_that_remembers() -> None:
    """Documents above the limit are read each time."""
    from meteor.wire.document import REMEMBERED_BYTES_MAX, encode_document, wishes_in
    from meteor.wire.messages import Document

    for size in (0, REMEMBERED_BYTES_MAX + 1):
        blob = encode_document(Document("notify_data", b"", b"x" * size, once=True))
        assert wishes_in(blob) == (True, True)


def test_the_fake_overlay_and_old_peers_need_not_know_of_once(overlay: Overlay) -> None:
    """A peer that tells of everything all the same is heard once."""
    fake = FakeOverlay()
    fake.add_peer()

    async def scenario() -> None:
        client = await fake.new_client().open()
        for _ in range(3):
            await client.store(HOT)
        interest = await client.notify_data("type=t", once=True)
        assert len(await taken(interest)) == 1
        await client._runtime.sleep(0.1)
        assert [amend.verb for amend in fake.peers[0].amends()] == ["cancel"]

    fake.run(scenario())
