"""Streams of notifications: order, de-duplication, acknowledgement, overflow, renewal, ends."""

from __future__ import annotations

import pytest

import meteor
from meteor.wire.messages import Notice
from tests.meteor.asking import HOT, settle
from tests.meteor.fake_peer import FakeOverlay


def test_notifications_come_in_order_and_are_acknowledged_to_their_source(
    overlay: FakeOverlay,
) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        for number in range(20):
            await client.store(HOT, str(number))
        assert [(await interest.recv(1)).text for _ in range(20)] == [str(n) for n in range(20)]
        await settle(client)
        acknowledged = overlay.peers[0].acknowledged
        assert {one.source for one in acknowledged} == {overlay.peers[0].contact}
        assert sum(len(one.ids) for one in acknowledged) == 20
        assert not overlay.unacknowledged

    overlay.run(scenario())


def test_notices_of_one_turn_are_acknowledged_in_batches(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client(config=meteor.ClientConfig(acknowledge_batch=8)).open()
        interest = await client.notify_data("temperature>=80")
        await client.store(HOT)
        first = (await interest.recv(1))._notice
        await settle(client)
        overlay.peers[0].acknowledged.clear()
        for number in range(20):
            notice = Notice(
                f"{first.id}{number}", first.interest, "match", first.found, first.source
            )
            client._session.handlers[Notice](overlay.peers[0].contact, notice, 0.0)
        await settle(client)
        assert [len(one.ids) for one in overlay.peers[0].acknowledged] == [8, 8, 4]

    overlay.run(scenario())


def test_a_notice_that_comes_again_is_delivered_once_and_acknowledged_again(
    overlay: FakeOverlay,
) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        await client.store(HOT, b"one")
        notification = await interest.recv(1)
        await settle(client)
        before = len(overlay.peers[0].acknowledged)
        for _ in range(3):
            overlay.peers[0].runtime.send(client._runtime.contact, notification._notice)
        await client.store(HOT, b"two")
        assert (await interest.recv(1)).data == b"two"
        await settle(client)
        assert len(interest._items) == 0
        ids = [id for one in overlay.peers[0].acknowledged[before:] for id in one.ids]
        assert ids.count(notification.notification_id) == 3

    overlay.run(scenario())


def test_a_new_version_is_a_new_notification(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        receipt = await client.store(HOT, b"one")
        await client.replace(receipt.id, HOT, b"two")
        assert [(await interest.recv(1)).data for _ in range(2)] == [b"one", b"two"]

    overlay.run(scenario())


def test_a_slow_consumer_gets_what_was_queued_and_then_the_error(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80", queue=3)
        for number in range(5):
            await client.store(HOT, str(number))
        await settle(client)
        assert [(await interest.recv()).text for _ in range(3)] == ["0", "1", "2"]
        with pytest.raises(meteor.SlowConsumer, match="queue=") as caught:
            await anext(interest)
        assert caught.value.limit == 3
        assert interest.dropped >= 1
        assert interest.state == "failed"
        with pytest.raises(meteor.SlowConsumer):
            await interest.recv()
        await settle(client)
        acknowledged = [id for one in overlay.peers[0].acknowledged for id in one.ids]
        assert len(acknowledged) == 3, "what was not queued is not acknowledged"
        assert not [one for one in overlay.living() if one.action == "notify_data"]

    overlay.run(scenario())


def test_recv_times_out_and_goes_on(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        began = overlay.kernel.now()
        with pytest.raises(meteor.Timeout, match="no notification within 2"):
            await interest.recv(timeout=2)
        assert overlay.kernel.now() - began == pytest.approx(2, abs=0.01)
        await client.store(HOT, b"late")
        assert (await interest.recv(timeout=2)).data == b"late"

    overlay.run(scenario())


def test_leaving_the_loop_keeps_the_interest(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = client.notify_data("temperature>=80")
        await interest
        for number in range(3):
            await client.store(HOT, str(number))
        async for notification in interest:
            assert notification.text == "0"
            break
        async for notification in interest:
            assert notification.text == "1"
            break
        assert interest.state == "active"

    overlay.run(scenario())


def test_an_interest_follows_its_walking_client(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("type=kitchen")
        before = interest.id
        await client.store("type=kitchen temperature=1", b"kitchen")
        receipt = await interest.replace("type=hall")
        assert receipt.id == interest.id != before
        assert interest.id.split(".")[0] == before.split(".")[0]
        await client.store("type=kitchen temperature=2", b"behind")
        await client.store("type=hall temperature=3", b"hall")
        assert [(await interest.recv(1)).data for _ in range(2)] == [b"kitchen", b"hall"]
        await client.replace(interest.id, "type=garden")
        await client.store("type=garden temperature=3", b"garden")
        assert (await interest.recv(1)).data == b"garden"
        overlay.peers[0].crash()
        await settle(client, 1)
        (renewal,) = overlay.peers[1].amends("renew")
        assert renewal.id == interest.id
        await client.cancel(interest.id)
        assert interest.state == "closed"
        assert [one async for one in interest] == []

    overlay.run(scenario())


def test_posting_an_interest_again_under_its_name_takes_its_place(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        first = await client.notify_data("type=kitchen", id="mine")
        second = await client.notify_data("type=hall", id="mine")
        assert (first.state, second.state) == ("closed", "active")
        await client.store("type=hall temperature=3", b"hall")
        assert (await second.recv(1)).data == b"hall"
        await first.close()
        assert second.state == "active"

    overlay.run(scenario())


def test_closing_is_harmless_when_repeated_or_when_nobody_hears(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client("p0:1", on_error=errors.append).open()
        interest = await client.notify_data("temperature>=80")
        await interest.close()
        await interest.close()
        assert len(overlay.peers[0].amends("cancel")) == 1
        other = await client.notify_data("temperature>=80")
        never = client.notify_data("temperature>=80")
        await never.close()
        overlay.peers[0].crash()
        await other.close()
        assert other.state == "closed"
        assert [type(error) for error in errors] == [meteor.NotConnected]

    overlay.run(scenario())


def test_an_interest_opens_once_for_all_who_await_it(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = client.notify_data("temperature>=80")
        runtime = client._runtime

        async def opened() -> str:
            return (await interest).state

        tasks = [runtime.spawn(opened()) for _ in range(3)]
        assert [await task for task in tasks] == ["active"] * 3
        assert len(overlay.peers[0].posts()) == 1

    overlay.run(scenario())


def test_an_interest_that_timed_out_is_taken_back(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client("p0:1").open()
        overlay.peers[0].answer = lambda _: overlay.peers[0].silence()
        with pytest.raises(meteor.Timeout):
            await client.notify_data("temperature>=80", timeout=1)
        overlay.peers[0].answer = None
        await settle(client, 5)
        assert len(overlay.peers[0].amends("cancel")) == 1

    overlay.run(scenario())


def test_a_watch_that_nobody_reads_does_not_fail(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        watch = await client.notify_interest("type=lamp temperature=*", queue=2)
        for _ in range(4):
            await (await client.notify_data("type=lamp")).close()
        await settle(client)
        assert (watch.active, watch.state, watch.dropped) == (False, "active", 6)
        assert (await watch.recv(1)).kind == "appeared"
        for _ in range(4):
            await (await client.notify_data("type=lamp")).close()
        await settle(client)
        with pytest.raises(meteor.SlowConsumer):
            _ = [one async for one in watch]

    overlay.run(scenario())


def test_a_notification_is_a_value(overlay: FakeOverlay) -> None:
    import pickle

    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        await client.store(HOT, b"x")
        notification = await interest.recv(1)
        (match,) = await client.retrieve("temperature>=80")
        copy = pickle.loads(pickle.dumps(notification))
        assert (copy, hash(copy), copy.data) == (notification, hash(notification), b"x")
        assert pickle.loads(pickle.dumps(match)) == match
        assert match != notification, "one was asked for, the other came"
        assert repr(notification).startswith("<Notification ")

    overlay.run(scenario())


def test_a_bad_option_of_an_interest_is_refused(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        with pytest.raises(ValueError, match="overflow"):
            client.notify_data(HOT, overflow="drop_newest")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="queue: 0"):
            client.notify_data(HOT, queue=0)

    overlay.run(scenario())


def test_what_lives_already_never_makes_a_slow_consumer(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        for number in range(10):
            await client.store(HOT, str(number))
        interest = await client.notify_data("temperature>=80", queue=2)
        await client.store(HOT, "10")
        await client.store(HOT, "11")
        assert [(await interest.recv(1)).text for _ in range(12)] == [str(n) for n in range(12)]

    overlay.run(scenario())


def test_an_interest_closed_while_it_opens_stays_closed(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = client.notify_data("temperature>=80")
        outcomes: list[str] = []

        async def opened() -> None:
            try:
                await interest
            except meteor.Closed:
                outcomes.append("closed")

        tasks = [client._runtime.spawn(opened()) for _ in range(2)]
        await settle(client, 0)
        assert interest.state == "opening"
        await interest.close()
        for task in tasks:
            await task
        assert outcomes == ["closed", "closed"]
        assert interest.state == "closed"
        await settle(client)
        assert overlay.living() == []
        assert not client._session.streams

    overlay.run(scenario())
