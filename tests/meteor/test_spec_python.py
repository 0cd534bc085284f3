"""What the specification says of Python and of errors and is tested nowhere else, its block of
code first; all its sentences stand in tests/spec with the tests that show them."""

from __future__ import annotations

import inspect
import json
import pickle
import re
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

import arms
import chord
import meteor
import sim
import squid
from meteor.wire.codec import wire_codec
from tests.meteor.building import SPACE
from tests.meteor.lost_arcs import lose_arc

HOT = "type=temperature temperature=21.5"


async def test_the_block_of_the_specification_runs(tmp_path: Path) -> None:
    """Section 4, line by line; the addresses alone are others."""
    space = meteor.KeywordSpace(
        "building",
        [
            meteor.Word("type"),
            meteor.Number("temperature", -40, 125),
            meteor.Number("humidity", 0, 100),
        ],
        extra="allow",
        max_attributes=8,
    )
    founder = meteor.Peer(space=space, listen="127.0.0.1:0")
    async with (
        founder as first,
        meteor.Peer(
            space=space, listen="127.0.0.1:0", join=[first.address], data_dir=tmp_path / "data"
        ) as peer,
    ):
        await peer.store(HOT, b"...")
        assert re.fullmatch(r"127\.0\.0\.1:\d+", peer.address)
        assert isinstance(peer.id, int)
        async with meteor.connect(peer.address, first.address) as client:
            assert client.space == space
            assert client.peer_address == peer.address
            await use(client)


async def use(client: meteor.Client) -> None:
    """The lines of the block that have a client."""
    receipt = await client.post(HOT, "store", data=b"...", ttl=600)
    answer = client.retrieve("type=temp* temperature=20..30")
    assert [match.data async for match in answer] == [b"...", b"..."]
    assert await client.retrieve("type=none").all() == []
    assert await client.retrieve("type=none").first() is None
    interest = await client.notify_data("temperature>=80", ttl=3600)
    watch = await client.notify_interest("type=lamp temperature=* humidity=*")
    await watch.wait_active()
    assert watch.active, "a hot lamp would be told of"
    await client.store("type=oven temperature=90", "hot")
    assert (await interest.recv(timeout=10)).text == "hot"
    assert (await client.delete_data("type=oven")).matches == 1
    assert (await client.delete_interest("temperature>=80")).matches == 1
    await watch.wait_idle()
    assert (await client.renew(receipt.id, ttl=600)).matches == 1
    replaced = await client.replace(receipt.id, "type=temperature temperature=25", b"new")
    assert (await client.cancel(replaced.id)).matches == 1
    messages = [meteor.Message(HOT, data=b"1"), meteor.Message(HOT, data=b"2")]
    assert len([one async for one in client.post_many(messages, concurrency=64)]) == 2


async def test_what_can_be_awaited_can_be_entered() -> None:
    async with meteor.LocalOverlay(peers=2, space=SPACE) as overlay:
        client = await overlay.connect()
        async with client.retrieve("type=t") as answer:
            assert await answer == []
        async with client.notify_data("type=t") as interest:
            assert interest.receipt is not None
        assert interest.state == "closed"
        posted = client.store("type=t temperature=1")
        assert isinstance(posted, Awaitable)
        assert (await posted).complete


async def test_values_have_what_the_specification_names() -> None:
    async with meteor.LocalOverlay(peers=2, space=SPACE) as overlay:
        client = await overlay.connect()
        interest = await client.notify_data("type=t")
        receipt = await client.store(
            "type=t temperature=1", json={"a": 1}, context={"zone": "b"}, ttl=60
        )
        (match,) = await client.retrieve("type=t")
        notification = await interest.recv(10)
    assert (receipt.complete, receipt.missing, receipt.matches, receipt.peers) == (True, (), 1, 1)
    for one in (match, notification):
        assert (one.id, one.owner, dict(one.context)) == (receipt.id, "", {"zone": "b"})
        assert (one.data, one.text, one.json()) == (b'{"a": 1}', '{"a": 1}', {"a": 1})
        assert (one.content_type, str(one.profile)) == ("application/json", "type=t temperature=1")
        assert 50 < one.ttl <= 60
    assert (notification.kind, notification.interest) == ("match", interest.id.split(".")[0])
    assert isinstance(notification, meteor.Match)


async def test_data_is_bytes_or_text_and_objects_go_by_json() -> None:
    async with meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        client = await overlay.connect()
        await client.store("type=t temperature=1", "grün")
        (match,) = await client.retrieve("type=t")
        assert (match.data, match.text) == ("grün".encode(), "grün")
        for data in ({"a": 1}, [1], 3, None):
            with pytest.raises(TypeError, match="give objects by json="):
                client.store("type=t temperature=1", data)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="either data or json"):
            client.store("type=t temperature=1", "both", json=1)


# -- the layers alone ------------------------------------------------------------------------


def test_the_layers_can_be_used_alone() -> None:
    for codec in ("native", "reference"):
        curve = squid.HilbertCurve(2, 4, codec=codec)
        index = curve.encode((3, 5))
        assert tuple(curve.decode(index)) == (3, 5)
        indexes = curve.encode_array([[3, 5]])
        assert [int(one) for one in indexes] == [index]
        assert [tuple(map(int, one)) for one in curve.decode_array(indexes)] == [(3, 5)]
        clusters = curve.clusters([(0, 3), (0, 7)])
        assert clusters == sorted(clusters)
        assert sum(last - first + 1 for first, last in clusters) == 4 * 8
        assert len(curve.clusters([(0, 3), (0, 7)], limit=1)) == 1
    selector = arms.Profile.parse("temperature>=20", SPACE)
    subject = arms.Profile.parse(HOT, SPACE)
    assert selector.matches(subject)
    assert arms.Profile.from_xml(b"<profile><type value='t'/></profile>") == arms.Profile.parse(
        "type=t"
    )
    subjects = arms.ProfileIndex[str]("subjects")
    subjects.add("one", subject)
    assert list(subjects.match(selector)) == ["one"]
    subjects.remove("one")
    assert list(subjects.match(selector)) == []
    selectors = arms.ProfileIndex[str]("selectors")
    selectors.add("two", selector)
    assert list(selectors.match_subject(subject)) == ["two"]
    assert 0 <= chord.identifier("a name") < 1 << 160


def test_a_ring_can_be_looked_up_in_alone() -> None:
    overlay = sim.Overlay(peers=8, space=SPACE, seed=5)
    nodes = [peer.core.node for peer in overlay.peers]
    key = chord.identifier("a name")
    owners = {overlay.run(node.lookup(key)).contact.id for node in nodes}
    assert len(owners) == 1


def test_an_overlay_in_virtual_time() -> None:
    network = sim.Network(sim.Kernel(1), codec=wire_codec())
    overlay = sim.Overlay(peers=3, space=SPACE, seed=1, network=network)
    client = overlay.client()
    overlay.run(client.store("type=t temperature=1", ttl=3600))
    now = overlay.kernel.now()
    overlay.run(until=now + 100)
    assert overlay.kernel.now() == now + 100
    assert overlay.trace is overlay.kernel.trace
    assert len(overlay.run(client.retrieve("type=t").all())) == 1


# -- errors ----------------------------------------------------------------------------------


async def raised(work: Any) -> Exception:
    try:
        await work() if inspect.iscoroutinefunction(work) else await work
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


async def test_errors_that_were_raised_pickle_with_what_they_carry() -> None:
    """Not only fresh ones: with tracebacks, causes and notes behind them."""
    async with meteor.LocalOverlay(peers=4, space=SPACE, copies=1) as overlay:
        client = await overlay.connect()
        receipt = await client.store(HOT, b"kept")
        await lose_arc(overlay, overlay.peers[2])
        errors = [
            await raised(client.retrieve("temperature=*", everywhere=True, timeout=1).all()),
            await raised(client.attach(receipt.id)),
            await raised(client.perform("nothing", "type=t")),
            await raised(anext(client.post_many([("type=t temperature=warm", b"")]))),
        ]
    for error in errors:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again).keys() >= vars(error).keys() - {"__notes__"}
    assert isinstance(errors[0], meteor.Incomplete)
    assert pickle.loads(pickle.dumps(errors[0])).missing == errors[0].missing != ()


async def test_errors_carry_what_the_specification_names() -> None:
    async with meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        client = await overlay.connect()
        with pytest.raises(meteor.LimitExceeded) as limit:
            client.store("type=t", ttl=1e9)
        with pytest.raises(meteor.Refused) as refused:
            client.retrieve("type=*")
        partial = json.loads(json.dumps({"rule": refused.value.rule}))
    assert (limit.value.name, limit.value.value, limit.value.limit) == ("ttl", 1e9, 2592000)
    assert isinstance(limit.value, ValueError)
    assert (partial["rule"], isinstance(refused.value, PermissionError)) == ("everywhere", True)
    with pytest.raises(meteor.NotConnected) as alone:
        await meteor.connect("127.0.0.1:1")
    assert alone.value.tried
    assert isinstance(alone.value, ConnectionError)
    assert issubclass(meteor.Timeout, TimeoutError)
    assert issubclass(meteor.JoinFailed, ConnectionError)
    assert issubclass(meteor.DataDirLocked, OSError)
    assert issubclass(meteor.AddressInUse, OSError)
