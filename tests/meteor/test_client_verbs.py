"""Every verb of a client against a scripted overlay, in virtual time."""

from __future__ import annotations

import inspect
import math
from typing import Any

import pytest

import meteor
from arms import Profile
from meteor.wire.document import decode_document
from tests.meteor.fake_peer import SPACE, FakeOverlay

WARM = "type=temperature temperature=21.5"


def test_store_sends_the_whole_document_and_gives_its_receipt(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        receipt = await client.post(
            WARM, "store", data=b"x", ttl=600, id="mote-7", context={"floor": "2"}
        )
        assert receipt.id.startswith("mote-7.")
        assert (receipt.complete, receipt.missing, receipt.ttl) == (True, (), 600)
        (post,) = overlay.peers[0].posts("store")
        document = decode_document(post.document)
        assert (document.data, document.context) == (b"x", (("floor", "2"),))
        assert post.timeout_s < 10, "the peer must have time left to say what is missing"

    overlay.run(scenario())


def test_retrieve_streams_every_match_of_every_page(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        for degrees in range(8):
            await client.store(f"type=temperature temperature={degrees}", str(degrees))
        answer = client.retrieve("type=temp* temperature=0..30")
        texts = [match.text async for match in answer]
        assert texts == [str(degrees) for degrees in range(8)], "page by page, in order"
        assert answer.receipt is not None
        assert (answer.complete, answer.receipt.matches) == (True, 8)

    overlay.run(scenario())


def test_an_answer_is_all_first_or_awaited(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await client.store(WARM, json={"degrees": [21.5, None]})
        everything = await client.retrieve("type=temp*").all()
        assert [match.json() for match in everything] == [{"degrees": [21.5, None]}]
        assert await client.retrieve("type=temp*") == everything
        assert await client.retrieve("type=temp*").first() == everything[0]
        assert await client.retrieve("type=lamp").first() is None
        assert await client.retrieve("type=lamp").all() == []
        async with client.retrieve("type=temp*") as answer:
            assert await answer.all() == everything
            assert await answer.all() == everything, "asked once, given as often as wanted"

    overlay.run(scenario())


def test_a_match_knows_its_profile_text_context_and_owner(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await client.store(WARM, "wärm", context={"floor": "2"}, id="mote")
        (match,) = await client.retrieve("type=temp*")
        assert match.profile == Profile.parse(WARM)
        assert (match.text, match.content_type) == ("wärm", "text/plain; charset=utf-8")
        assert (dict(match.context), match.owner) == ({"floor": "2"}, "")
        assert match.id.startswith("mote.")
        assert 3500 < match.ttl <= 3600, "data lives an hour unless its poster says otherwise"

    overlay.run(scenario())


def test_profiles_are_text_or_profiles_or_mappings(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await client.store({"type": "temperature", "temperature": 21.5})
        for selector in (
            "temperature=20..30",
            Profile.parse("temperature=20..30"),
            {"temperature": meteor.between(20, 30), "type": meteor.prefix("temp")},
            {"type": meteor.ANY, "temperature": 21.5},
            "(temp*, 20..30)",
        ):
            assert len(await client.retrieve(selector)) == 1, selector

    overlay.run(scenario())


def test_an_interest_is_told_what_lives_and_what_comes(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client, sensor = await overlay.new_client().open(), await overlay.new_client().open()
        await sensor.store("type=t temperature=90", b"before")
        async with client.notify_data("temperature>=80") as interest:
            assert (interest.state, interest.missing) == ("active", ())
            await sensor.store("type=t temperature=20", b"too cold")
            await sensor.store("type=t temperature=80", b"after")
            first, second = await interest.recv(timeout=5), await interest.recv(timeout=5)
            assert (first.data, second.data) == (b"before", b"after")
            assert {first.kind, second.kind} == {"match"}
            assert interest.id.startswith(first.interest + ".")
        assert interest.state == "closed"
        assert not [one for one in overlay.living() if one.action == "notify_data"]

    overlay.run(scenario())


def test_a_clients_own_data_matches_its_own_interest(overlay: FakeOverlay) -> None:
    """Rule 36."""

    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        await client.store("type=t temperature=81", b"mine")
        assert (await interest.recv(timeout=5)).data == b"mine"

    overlay.run(scenario())


def test_a_watch_follows_who_is_interested(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        lamp, people = await overlay.new_client().open(), await overlay.new_client().open()
        watch = await lamp.notify_interest("type=lamp temperature=*")
        assert isinstance(watch, meteor.Watch)
        assert not watch.active
        await watch.wait_idle()
        with pytest.raises(meteor.Timeout, match="nobody was interested"):
            await watch.wait_active(timeout=1)
        one, two = await people.notify_data("type=lamp"), await people.notify_data("type=la*")
        await watch.wait_active(timeout=5)
        await one.close()
        assert watch.active, "the second is still interested"
        await two.close()
        await watch.wait_idle(timeout=5)
        kinds = [(await watch.recv(timeout=1)).kind for _ in range(4)]
        assert kinds == ["appeared", "appeared", "gone", "gone"]

    overlay.run(scenario())


def test_deletes_count_and_dry_runs_only_count(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await client.store(WARM)
        await client.store(WARM)
        await client.notify_data("type=temp*")
        assert (await client.delete_data("type=temp*", dry_run=True)).matches == 2
        assert (await client.delete_data("type=temp*", mode="overlap")).matches == 2
        assert overlay.peers[0].posts("delete_data")[-1].mode == "overlap"
        assert await client.retrieve("type=temp*") == []
        assert (await client.delete_interest("type=*", everywhere=True)).matches == 1

    overlay.run(scenario())


def test_renew_cancel_and_replace_go_by_the_receipts_id(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        receipt = await client.store(WARM, b"old", ttl=60)
        assert (await client.renew(receipt.id, ttl=600)).ttl == 600
        moved = await client.replace(receipt.id, "type=lamp temperature=1", b"new")
        assert moved.id.split(".")[0] == receipt.id.split(".")[0]
        assert moved.id != receipt.id
        assert [match.data for match in await client.retrieve("type=lamp")] == [b"new"]
        assert await client.retrieve("type=temp*") == []
        assert (await client.cancel(moved.id)).matches == 1
        assert (await client.cancel(moved.id)).matches == 0
        assert (await client.renew(moved.id)).matches == 0

    overlay.run(scenario())


def test_posts_of_one_name_are_ordered_as_they_were_made(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        first, second = await overlay.new_client().open(), await overlay.new_client().open()
        for number in range(4):
            client = (first, second)[number % 2]
            await client.store(WARM, str(number), id="mote-7")
        (match,) = await first.retrieve("type=temp*")
        assert match.text == "3", "the later post replaces the earlier, whoever made it"

    overlay.run(scenario())


@pytest.mark.parametrize(
    ("post", "error", "text"),
    [
        (("type=a,b",), meteor.SelectorError, "type=a,b"),
        (("",), meteor.SelectorError, "empty"),
        (({"type": object()},), meteor.ProfileError, "object"),
        (("type=t temperature=warm",), meteor.TypeMismatch, "temperature"),
        ((" ".join(f"a{n}=1" for n in range(9)),), meteor.LimitExceeded, "8"),
        (("colour=red",), meteor.ProfileError, "temperature"),
        ((WARM, "notify-data"), meteor.UnknownAction, "notify-data"),
        (("type=*", "retrieve"), meteor.Refused, "everywhere"),
        (("type=*", "delete_data"), meteor.Refused, "everywhere"),
    ],
)
def test_what_is_wrong_with_a_post_is_raised_before_anything_is_sent(
    overlay: FakeOverlay, post: tuple[Any, ...], error: type[Exception], text: str
) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        with pytest.raises(error, match=text):
            client.post(*post)
        assert overlay.peers[0].requests == []
        await client.store(WARM)

    overlay.run(scenario())


@pytest.mark.parametrize("ttl", [-1, -0.001, math.inf, math.nan, 30 * 86_400 + 1, "600", True])
def test_an_absurd_lifetime_is_refused(overlay: FakeOverlay, ttl: Any) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        for action in ("store", "retrieve", "notify_data", "notify_interest"):
            with pytest.raises(meteor.LimitExceeded, match="2592000") as caught:
                client.post(WARM, action, ttl=ttl)
            assert caught.value.name == "ttl"
        assert overlay.peers[0].requests == []

    overlay.run(scenario())


def test_lifetimes_left_out_are_those_of_the_action(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await client.store(WARM)
        await client.retrieve(WARM)
        await client.notify_data(WARM)
        await client.notify_interest(WARM)
        posts = overlay.peers[0].posts()
        assert [post.ttl_s for post in posts] == [3600, 0, 300, 300]

    overlay.run(scenario())


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"data": 7}, TypeError),
        ({"data": b"x", "json": {}}, ValueError),
        ({"json": float("nan")}, ValueError),
        ({"data": bytes(1_000_001)}, meteor.LimitExceeded),
        ({"context": {"a": "b" * 5000}}, meteor.LimitExceeded),
        ({"id": "no spaces"}, meteor.ProfileError),
        ({"id": "a" * 65}, meteor.ProfileError),
        ({"timeout": 0}, meteor.LimitExceeded),
        ({"timeout": math.nan}, meteor.LimitExceeded),
    ],
)
def test_a_bad_option_is_refused(
    overlay: FakeOverlay, options: dict[str, Any], error: type[Exception]
) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        with pytest.raises(error):
            client.post(WARM, **options)
        assert overlay.peers[0].requests == []

    overlay.run(scenario())


def test_null_is_json_too(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await client.store(WARM, json=None)
        (match,) = await client.retrieve("type=temp*")
        assert (match.data, match.json(), match.content_type) == (b"null", None, "application/json")

    overlay.run(scenario())


def test_post_has_exactly_the_parameters_that_the_spec_names() -> None:
    parameters = inspect.signature(meteor.Client.post).parameters
    assert {name: one.default for name, one in parameters.items() if name != "self"} == {
        "profile": inspect.Parameter.empty,
        "action": "store",
        "data": b"",
        "json": ...,
        "content_type": None,
        "ttl": None,
        "id": None,
        "context": None,
        "visible_to": None,
        "timeout": 10,
        "allow_partial": False,
        "everywhere": False,
    }
    assert not inspect.iscoroutinefunction(meteor.Client.post)
    for verb in ("store", "retrieve", "notify_data", "notify_interest", "delete_data"):
        assert inspect.signature(getattr(meteor.Client, verb)).parameters["timeout"].default == 10


def test_the_space_is_the_rings(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = overlay.new_client()
        with pytest.raises(meteor.Closed, match="not connected"):
            client.post(WARM)
        await client.open()
        assert client.space.digest == SPACE.digest
        assert client.peer_address == "p0:1"

    overlay.run(scenario())
