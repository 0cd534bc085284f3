"""Answers: never silently partial, each match once, ended by leaving the loop."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

import meteor
from meteor.wire.found_pages import pack
from meteor.wire.messages import Post, PostReply, ResultPage
from tests.meteor.asking import settle, store_many, texts_of
from tests.meteor.fake_peer import MISSING, FakeOverlay

WARM = "type=temperature temperature=21.5"


def test_all_raises_incomplete_with_what_was_found(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 4)
        overlay.complete = False
        answer = client.retrieve("type=temp*")
        with pytest.raises(meteor.Incomplete, match="allow_partial=True") as caught:
            await answer.all()
        assert [match.text for match in caught.value.matches] == ["0", "1", "2", "3"]
        assert caught.value.missing == MISSING == answer.missing
        assert caught.value.receipt == answer.receipt
        assert not answer.complete
        with pytest.raises(meteor.Incomplete):
            await answer

    overlay.run(scenario())


def test_iteration_hands_out_what_came_and_then_raises(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 4)
        overlay.complete = False
        received: list[str] = []
        with pytest.raises(meteor.Incomplete) as caught:
            await texts_of(client.retrieve("type=temp*"), received)
        assert received == ["0", "1", "2", "3"]
        assert caught.value.missing == MISSING

    overlay.run(scenario())


def test_first_is_content_with_a_match_and_raises_without_one(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 1)
        overlay.complete = False
        match = await client.retrieve("type=temp*").first()
        assert match is not None
        assert match.text == "0"
        with pytest.raises(meteor.Incomplete):
            await client.retrieve("type=lamp").first()
        assert await client.retrieve("type=lamp", allow_partial=True).first() is None

    overlay.run(scenario())


Verb = Callable[[meteor.Client, str, bool], Awaitable[Any]]
AWAITED: dict[str, Verb] = {
    "store": lambda client, _, partial: client.store(WARM, allow_partial=partial),
    "delete_data": lambda client, _, partial: client.delete_data(WARM, allow_partial=partial),
    "delete_interest": lambda client, _, partial: client.delete_interest(
        WARM, allow_partial=partial
    ),
    "renew": lambda client, id, partial: client.renew(id, allow_partial=partial),
    "replace": lambda client, id, partial: client.replace(id, WARM, allow_partial=partial),
    "cancel": lambda client, id, partial: client.cancel(id, allow_partial=partial),
}


@pytest.mark.parametrize("verb", AWAITED)
def test_every_awaited_post_raises_incomplete_unless_partial_is_allowed(
    overlay: FakeOverlay, verb: str
) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        id = (await client.store(WARM)).id
        overlay.complete = False
        with pytest.raises(meteor.Incomplete) as caught:
            await AWAITED[verb](client, id, False)
        assert caught.value.missing == MISSING
        receipt = await AWAITED[verb](client, id, True)
        assert (receipt.complete, receipt.missing) == (False, MISSING)

    overlay.run(scenario())


@pytest.mark.parametrize("action", ["notify_data", "notify_interest"])
def test_an_incomplete_interest_raises_and_is_taken_back(overlay: FakeOverlay, action: str) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        overlay.complete = False
        notify = getattr(client, action)
        interest = notify(WARM)
        with pytest.raises(meteor.Incomplete) as caught:
            await interest
        assert caught.value.missing == MISSING
        assert interest.state == "closed"
        await settle(client)
        assert overlay.living() == []
        partial = await notify(WARM, allow_partial=True)
        assert (partial.state, partial.missing) == ("active", MISSING)

    overlay.run(scenario())


def test_a_replaced_interest_that_is_incomplete_raises_and_goes_on(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("type=kitchen")
        overlay.complete = False
        with pytest.raises(meteor.Incomplete):
            await interest.replace("type=hall")
        assert interest.state == "active"
        await client.store("type=hall temperature=1", b"hall", allow_partial=True)
        assert (await interest.recv(1)).data == b"hall"

    overlay.run(scenario())


def test_a_lost_page_is_never_a_complete_answer(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 4)
        peer = overlay.peers[0]

        def lose_a_page(request: Any) -> Any:
            return replace(peer.reply("x.y", 4), pages=2) if isinstance(request, Post) else None

        peer.answer = lose_a_page
        with pytest.raises(meteor.Incomplete):
            await client.retrieve("type=temp*").all()

    overlay.run(scenario())


def test_each_stem_and_version_is_handed_out_once_and_all_keeps_the_newest(
    overlay: FakeOverlay,
) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await client.store(WARM, b"old", id="mote")
        (old,) = await client.retrieve("type=temp*")
        new = replace(old._found, version=old.version + 1)
        peer = overlay.peers[0]

        def answer(request: Any) -> PostReply:
            for number, found in enumerate([old._found, new, old._found]):
                page = ResultPage(request.token, number, (found,))
                peer.runtime.send(client._runtime.contact, page)
            return peer.reply("x.y", 3, pages=3)

        peer.answer = answer
        assert [match.version for match in await client.retrieve("type=temp*")] == [new.version]
        streamed = [match.version async for match in client.retrieve("type=temp*")]
        assert streamed == [old.version, new.version]

    overlay.run(scenario())


def test_matches_come_while_the_overlay_still_answers(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 5)
        peer = overlay.peers[0]

        def only_pages(request: Any) -> Any:
            peer.send_pages(client._runtime.contact, request.token, request_profile())
            return peer.silence()

        def request_profile() -> Any:
            return meteor.Profile.parse("type=temp*", client.space)

        peer.answer = only_pages
        answer = client.retrieve("type=temp*", timeout=3)
        received: list[str] = []
        loop = client._runtime.spawn(texts_of(answer, received))
        await settle(client, 1)
        assert len(received) == 5
        with pytest.raises(meteor.Timeout):
            await loop
        match = await client.retrieve("type=temp*").first()
        assert match is not None, "the first match does not wait for the last peer"

    overlay.run(scenario())


def test_leaving_the_loop_ends_the_asking(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 5)
        answer = client.retrieve("type=temp*")
        async for match in answer:
            assert match.text == "0"
            break
        gc.collect()
        await settle(client)
        assert not client._session._requests._attempts
        assert not client._session.pending
        with pytest.raises(meteor.Closed, match="retrieve again"):
            await answer.all()

    overlay.run(scenario())


def test_a_page_that_cannot_be_read_is_never_passed_over_in_silence(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 2)
        peer = overlay.peers[0]
        rows = [
            (one.id, one.version, one.owner, one.ttl_ms, one.blob)
            for one in map(overlay.found, overlay.living())
        ]
        pages = [pack(rows[:1]), pack(rows[1:])]

        def answer(request: Any) -> PostReply:
            page = ResultPage(request.token, 0, (), (pages[0],))
            peer.runtime.send(client._runtime.contact, page)
            return replace(peer.reply("x.y", 2, pages=1), packed=(pages[1],))

        peer.answer = answer
        assert len(await client.retrieve("type=temp*")) == 2
        pages[1] = pages[1][:-1]
        with pytest.raises(meteor.Incomplete) as caught:
            await client.retrieve("type=temp*").all()
        assert len(caught.value.matches) == 1

    overlay.run(scenario())


def test_a_broken_link_in_mid_answer_costs_nothing_and_doubles_nothing(
    overlay: FakeOverlay,
) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await store_many(client, 7)
        first = overlay.peers[0]

        def die_half_way(request: Any) -> Any:
            found = [overlay.found(one) for one in overlay.living()[:3]]
            page = ResultPage(request.token, 0, tuple(found))
            first.runtime.send(client._runtime.contact, page)
            first.runtime.spawn(die())
            return first.silence()

        async def die() -> None:
            await first.runtime.sleep(0.01)
            first.crash()

        first.answer = die_half_way
        texts = [match.text async for match in client.retrieve("type=temp*")]
        assert texts == [str(number) for number in range(7)]

    overlay.run(scenario())


def test_an_error_of_the_asking_is_the_answers(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        for peer in overlay.peers:
            peer.crash()
        answer = client.retrieve("type=temp*", timeout=1)
        with pytest.raises(meteor.NotConnected):
            await answer.all()
        with pytest.raises(meteor.NotConnected):
            await answer
        with pytest.raises(meteor.NotConnected):
            _ = [one async for one in client.retrieve("type=temp*", timeout=1)]
        with pytest.raises(meteor.NotConnected):
            await client.retrieve("type=temp*", timeout=1).first()

    overlay.run(scenario())


def test_closing_an_answer_is_harmless_at_any_time(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        never = client.retrieve("type=temp*")
        await never.close()
        with pytest.raises(meteor.Closed):
            await never
        overlay.peers[0].answer = lambda _: overlay.peers[0].silence()
        async with client.retrieve("type=temp*", ttl=60) as answer:
            await settle(client)
        await answer.close()
        overlay.peers[0].answer = None
        await settle(client, 1)
        assert len(overlay.peers[0].amends("cancel")) == 1, "it may be kept somewhere"

    overlay.run(scenario())
