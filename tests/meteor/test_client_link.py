"""A client whose peer dies, leaves, is silent or busy: it goes to the next and loses nothing."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import meteor
from chord import Fault
from meteor.wire.messages import Farewell, Post
from tests.meteor.fake_peer import SPACE, FakeOverlay

WARM = "type=temperature temperature=21.5"


def test_without_any_peer_the_error_says_who_was_tried(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        with pytest.raises(meteor.NotConnected, match="nowhere:1") as caught:
            await overlay.new_client("nowhere:1", "nowhere:2").open()
        assert len(caught.value.tried) == 2
        with pytest.raises(ConnectionError):
            await overlay.new_client("nowhere:1").open()

    overlay.run(scenario())


def test_the_first_peer_that_serves_is_taken(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        overlay.peers[0].ready = False
        client = await overlay.new_client("nowhere:1", "p0:1", "p1:1").open()
        assert client.peer_address == "p1:1"

    overlay.run(scenario())


def test_a_silent_peer_costs_its_greeting_time_only(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        overlay.peers[0].silent = True
        client = await overlay.new_client().open()
        assert client.peer_address == "p1:1"
        assert overlay.kernel.now() < 4

    overlay.run(scenario())


def test_another_space_is_refused_with_the_difference(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        other = meteor.KeywordSpace("building", [meteor.Word("kind")], bits=16)
        with pytest.raises(meteor.SpaceMismatch):
            await overlay.new_client(space=other).open()
        assert (await overlay.new_client(space=SPACE).open()).space is SPACE

    overlay.run(scenario())


def test_a_post_in_flight_is_repeated_at_the_next_peer_with_the_same_identity(
    overlay: FakeOverlay,
) -> None:
    async def scenario() -> None:
        first, second = overlay.peers

        def die(_: Any) -> Any:
            first.crash()
            return first.silence()

        first.answer = die
        client = await overlay.new_client().open()
        receipt = await client.store(WARM, b"x")
        (lost,), (repeated,) = first.posts(), second.posts()
        assert (lost.stem, lost.version) == (repeated.stem, repeated.version)
        assert receipt.id.startswith(lost.stem)
        assert repeated.timeout_s < lost.timeout_s, "the caller's time is spent once"

    overlay.run(scenario())


def test_callbacks_tell_of_the_link(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        events: list[str] = []

        async def reconnected(address: str) -> None:
            await client._runtime.sleep(0.001)
            events.append(f"to {address}")

        client = overlay.new_client(
            on_disconnected=lambda error: events.append(type(error).__name__),
            on_reconnected=reconnected,
        )
        await client.open()
        assert events == []
        overlay.peers[0].crash()
        await client.store(WARM)
        await client._runtime.sleep(1)
        assert events[-1] == "to p1:1"
        assert len(events) == 2

    overlay.run(scenario())


def test_a_farewell_moves_the_client_at_once(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        overlay.peers[0].farewell()
        await client._runtime.sleep(1)
        assert client.peer_address == "p1:1"
        assert len(overlay.peers[1].amends("renew")) == 1
        await client.store("type=t temperature=99", b"hot")
        assert (await interest.recv(timeout=5)).data == b"hot"

    overlay.run(scenario())


def test_interests_are_re_attached_and_what_was_missed_comes(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client("p0:1", "p1:1").open()
        sensor = await overlay.new_client("p1:1").open()
        interest = await client.notify_data("temperature>=80")
        overlay.peers[0].crash()
        await sensor.store("type=t temperature=81", b"while away")
        assert (await interest.recv(timeout=5)).data == b"while away"
        (renewal,) = overlay.peers[1].amends("renew")
        assert (renewal.id, renewal.ttl_s) == (interest.id, 300)

    overlay.run(scenario())


def test_an_interest_that_the_overlay_lost_is_posted_again(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        (posted,) = overlay.peers[0].posts()
        overlay.records.clear()
        overlay.peers[0].crash()
        await client._runtime.sleep(1)
        (again,) = overlay.peers[1].posts()
        assert (again.stem, again.document) == (posted.stem, posted.document)
        assert again.version > posted.version  # watches may have heard that it was gone
        await client.store("type=t temperature=99", b"hot")
        assert (await interest.recv(timeout=5)).data == b"hot"

    overlay.run(scenario())


def test_re_attachment_in_the_background_reports_and_does_not_raise(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        errors: list[Exception] = []
        client = await overlay.new_client(on_error=errors.append).open()
        interest = await client.notify_data("temperature>=80")
        overlay.complete = False
        overlay.peers[0].crash()
        await client._runtime.sleep(1)
        assert [type(error) for error in errors] == [meteor.Incomplete]
        assert interest.missing == ((100, 200),)
        assert interest.state == "active"
        overlay.complete = True
        await client._runtime.sleep(150)
        assert interest.missing == (), "the next renewal has healed it"

    overlay.run(scenario())


def test_with_every_peer_gone_posts_say_so_and_a_returning_one_serves(
    overlay: FakeOverlay,
) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        for peer in overlay.peers:
            peer.crash()
        with pytest.raises(meteor.NotConnected, match="p1:1"):
            await client.store(WARM, timeout=2)
        assert not client.connected
        with pytest.raises(meteor.Closed):
            _ = client.peer_address
        overlay.peers.clear()
        overlay.add_peer()
        await client.store("type=t temperature=99", b"hot", timeout=20)
        assert (await interest.recv(timeout=5)).data == b"hot"

    overlay.run(scenario())


def test_silence_is_a_timeout_that_names_the_peer_and_moves_on(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        overlay.peers[0].silent = True
        with pytest.raises(meteor.Timeout, match=r"p0:1.*within 2 s") as caught:
            await client.store(WARM, timeout=2)
        assert isinstance(caught.value, TimeoutError)
        await client.store(WARM)
        assert client.peer_address == "p1:1"

    overlay.run(scenario())


def test_a_refusal_of_the_peer_is_its_typed_error(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()

        def refuse(_: Any) -> Any:
            raise Fault("Refused", "not yours", ('[["not yours"], {"rule": "owner"}]',))

        overlay.peers[0].answer = refuse
        with pytest.raises(meteor.Refused, match="not yours") as caught:
            await client.delete_data(WARM)
        assert caught.value.rule == "owner"
        assert client.peer_address == "p0:1", "a refusal is no reason to go elsewhere"

    overlay.run(scenario())


def test_an_answer_of_the_wrong_type_is_an_error_not_a_crash(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        overlay.peers[0].answer = lambda _: Farewell()
        with pytest.raises(meteor.MeteorError, match="Farewell"):
            await client.store(WARM)

    overlay.run(scenario())


def test_closing_ends_every_wait(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        bystander = overlay.peers[1].runtime
        interest = await client.notify_data("temperature>=80")
        watch = await client.notify_interest("type=lamp temperature=1")
        overlay.peers[0].silent = True
        outcomes: list[str] = []

        async def told(name: str, conversation: Any) -> None:
            try:
                outcomes.append(f"{name}: {await conversation}")
            except (meteor.Closed, StopAsyncIteration) as error:
                outcomes.append(f"{name}: {type(error).__name__}")

        async def loop() -> str:
            return f"ended after {len([one async for one in interest])}"

        tasks = [
            bystander.spawn(told("loop", loop())),
            bystander.spawn(told("recv", interest.recv())),
            bystander.spawn(told("watch", watch.wait_active())),
            bystander.spawn(told("store", client.store(WARM))),
            bystander.spawn(told("all", client.retrieve("type=t").all())),
        ]
        await bystander.sleep(0.1)
        await client.close()
        await client.close()
        for task in tasks:
            await task
        assert sorted(outcomes) == [
            "all: Closed",
            "loop: ended after 0",
            "recv: Closed",
            "store: Closed",
            "watch: Closed",
        ]
        assert interest.state == "closed"
        assert len(overlay.living()) == 2, "what the overlay keeps lives on by its ttl"
        with pytest.raises(meteor.Closed):
            await client.store(WARM)

    overlay.run(scenario())


def test_a_token_is_used_once(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        for _ in range(3):
            await client.retrieve("type=t")
        tokens = [one.token for one in overlay.peers[0].requests if isinstance(one, Post)]
        assert len(set(tokens)) == 3
        kept = client._session._requests._attempts
        assert not kept, "nothing is kept of answers that are complete"

    overlay.run(scenario())


@pytest.mark.parametrize("kind", ["NotJoined", "Closed"])
def test_a_peer_that_is_no_member_any_more_is_left_for_another(
    overlay: FakeOverlay, kind: str
) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()

        def gone(_: Any) -> Any:
            raise Fault(kind, "I have left the ring")

        overlay.peers[0].answer = gone
        receipt = await client.store(WARM)
        assert receipt.complete
        assert client.peer_address == "p1:1"

    overlay.run(scenario())


def test_a_peer_of_another_wire_version_is_named_so(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        def mismatch(*_: Any) -> Any:
            raise Fault("VersionMismatch", "upgrade", ('[["upgrade"], {"ours": 1, "theirs": 2}]',))

        overlay.peers[0].runtime.serve(mismatch, lambda _: None)
        with pytest.raises(meteor.VersionMismatch) as caught:
            await overlay.new_client().open()
        assert (caught.value.ours, caught.value.theirs) == (1, 2)

    overlay.run(scenario())


def test_a_verb_whose_result_is_dropped_warns(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()

        def drop(verb: Any) -> None:
            verb(WARM)
            gc.collect()

        for verb in (client.retrieve, client.notify_data, client.notify_interest):
            with pytest.warns(RuntimeWarning, match="never awaited"):
                drop(verb)
        assert overlay.peers[0].requests == []

    overlay.run(scenario())
