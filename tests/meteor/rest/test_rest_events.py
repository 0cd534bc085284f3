"""`/events` and `/live` on whole peers: what lives, what comes, and streams that break."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

import meteor
from tests.meteor.building import SPACE
from tests.meteor.lost_arcs import lose_arc
from tests.meteor.rest.http_client import Http, events, take

pytestmark = pytest.mark.sockets



async def test_events_bring_what_lives_then_what_comes(http: Http) -> None:
    first = await http.store(21.0)
    async with http.session.get(http.url("/events", 1, select="temperature>=20")) as reply:
        assert reply.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert reply.headers["Meteor-Complete"] == "true"
        stream = events(reply)
        (opened, name, _), (kind, _, match) = await take(stream, 2)
        assert (opened, kind, match["id"]) == ("open", "match", first)
        second = await http.store(22.0)
        ((kind, event_id, match),) = await take(stream, 1)
        assert (kind, match["id"], match["notification"]) == ("match", second, event_id)
        assert event_id.startswith(f"{name}:")
        async for one in stream:
            if one[0] == "keep-alive":
                break


async def test_a_broken_stream_resumes_without_loss_and_without_repeats(http: Http) -> None:
    url = http.url("/events", select="temperature>=20")
    async with http.session.get(url) as reply:
        stream = events(reply)
        await take(stream, 1)
        ids = [await http.store(20.0 + number) for number in range(3)]
        seen = await take(stream, 3)
    assert [match["id"] for _, _, match in seen] == ids
    ids += [await http.store(30.0 + number) for number in range(3)]
    # the last of them was written, but never read: the client knows the one before
    headers = {"Last-Event-ID": seen[1][1]}
    async with http.session.get(url, headers=headers) as reply:
        again = await take(events(reply), 4)
    assert [kind for kind, _, _ in again] == ["match"] * 4, "no reset: nothing was lost"
    assert [match["id"] for _, _, match in again] == ids[2:]


async def test_who_comes_back_too_late_begins_anew_under_the_same_ids(http: Http) -> None:
    """Fifty events are kept for it here: who counts by ids sees none of what lives twice."""
    kept = await http.store(21.0)
    url = http.url("/events", select="temperature>=20")
    async with http.session.get(url) as reply:
        stream = events(reply)
        (_, name, _), (_, first, _) = await take(stream, 2)
        for number in range(51):
            await http.store(30.0 + number, id="moves")
            seen = await take(stream, 1)
    async with http.session.get(url, headers={"Last-Event-ID": first}) as reply:
        (reset, _, why), (_, again, _), *living = await take(events(reply), 4)
    assert (reset, again) == ("reset", name)
    assert "more came since" in why["reason"]
    assert {event_id for _, event_id, _ in living} == {first, seen[0][1]}
    assert kept in {match["id"] for _, _, match in living}


async def test_another_peer_begins_anew_and_says_so(http: Http) -> None:
    kept = await http.store(21.0)
    async with http.session.get(http.url("/events", select="temperature>=20")) as reply:
        (_, name, _), (_, last, _) = await take(events(reply), 2)
    other = http.url("/events", 1, select="temperature>=20")
    async with http.session.get(other, headers={"Last-Event-ID": last}) as reply:
        stream = events(reply)
        (reset, _, why), (opened, again, _), (_, event_id, match) = await take(stream, 3)
        assert (reset, opened, again) == ("reset", "open", name)
        assert "does not know the stream" in why["reason"]
        assert (match["id"], event_id) == (kept, last), "the same id: who counts by it sees it once"
        later = await http.store(23.0)
        ((_, _, match),) = await take(stream, 1)
        assert match["id"] == later


async def test_an_id_of_somebody_elses_interest_takes_nothing_over(http: Http) -> None:
    async with await http.peers[0].notify_data("temperature>=20", id="alarm") as interest:
        headers = {"Last-Event-ID": "alarm:x:1"}
        url = http.url("/events", select="temperature>=20")
        async with http.session.get(url, headers=headers) as reply:
            (reset, name, _), _ = await take(events(reply), 2)
        assert reset == "reset"
        assert name.startswith("events-")
        stored = await http.store(40.0)
        assert (await interest.recv(timeout=20)).id == stored


async def test_a_stream_of_a_region_with_a_lost_arc_begins_and_says_so() -> None:
    """As every other answer: 200, the header, and by name what is missing; the rest is told."""
    async with (
        meteor.LocalOverlay(
            peers=3, space=SPACE, copies=1, transport="websocket", ids=[1, 1 << 158, 3 << 158]
        ) as overlay,
        aiohttp.ClientSession() as session,
    ):
        http = Http(session, [overlay.peers[0]])
        await lose_arc(overlay, overlay.peers[2])
        whole = {"select": "temperature=*", "everywhere": "true", "timeout": "2"}
        async with session.get(http.url("/events", **whole)) as reply:
            assert (reply.status, reply.headers["Meteor-Complete"]) == (200, "false")
            stream = events(reply)
            (opened, _, _), (word, _, said) = await take(stream, 2)
            assert (opened, word) == ("open", "incomplete")
            assert all(int(first) <= int(last) for first, last in said["missing"])
            assert said["missing"]


async def test_a_watch_as_events(http: Http) -> None:
    url = http.url("/events", select="type=lamp temperature=*", action="notify_interest")
    async with http.session.get(url) as reply:
        stream = events(reply)
        await take(stream, 1)
        interest = await http.peers[1].notify_data("type=lamp")
        ((kind, event_id, _),) = await take(stream, 1)
        assert (kind, event_id.endswith(":appeared")) == ("appeared", True)
        await interest.close()
        assert (await take(stream, 1))[0][0] == "gone"


async def test_a_deleted_interest_ends_its_stream(http: Http) -> None:
    async with http.session.get(http.url("/events", select="temperature>=20")) as reply:
        stream = events(reply)
        ((_, _, said),) = await take(stream, 1)
        record = next(
            one for peer in http.peers for one in peer.core.shelf.store.records()
            if one.stem == said["interest"]
        )  # fmt: skip
        await http.peers[0].cancel(record.id)
        assert (await take(stream, 1))[0][0] == "end"


async def test_who_reads_the_name_of_a_stream_takes_it_not_over(http: Http) -> None:
    """A watch tells the names of interests; by that alone an unsigned stream was anybody's."""
    async with http.session.get(http.url("/events", select="temperature>=20")) as reply:
        stream = events(reply)
        ((_, secret, said),) = await take(stream, 1)
        name = said["interest"]
        assert secret != name
        watched: list[str] = []
        async with await http.peers[1].notify_interest("temperature>=20") as watch:
            watched.append((await watch.recv(timeout=20)).id.partition(".")[0])
        assert watched == [name]
        for peer in (0, 1):
            url = http.url("/events", peer, select="temperature>=20")
            for stolen in (name, f"{name}:x:1"):
                async with http.session.get(url, headers={"Last-Event-ID": stolen}) as theirs:
                    (reset, _, _), (_, _, other) = await take(events(theirs), 2)
                assert (reset, other["interest"] == name) == ("reset", False)
        stored = await http.store(40.0)
        ((_, event_id, match),) = await take(stream, 1)
        assert (match["id"], event_id.startswith(f"{secret}:")) == (stored, True)


async def test_streams_are_bounded_and_refused_like_requests(http: Http) -> None:
    status, _, form = await http.ask("GET", "/events", select="temperature=")
    assert (status, form["type"]) == (400, "urn:meteor:error:SelectorError")
    assert isinstance(form["position"], int)
    assert (await http.ask("GET", "/events", select="type=*"))[2]["rule"] == "everywhere"
    replies = []
    for number in range(4):
        reply = await http.session.get(http.url("/events", select=f"temperature={number}"))
        await take(events(reply), 1)
        replies.append(reply)
    assert (await http.ask("GET", "/events", select="temperature=9"))[0] == 503
    for reply in replies:
        reply.close()
    status = 503
    async with asyncio.timeout(20):  # those that wait for their clients give way
        while status == 503:
            reply = await http.session.get(http.url("/events", select="temperature=9"))
            status = reply.status
            reply.close()
    assert status == 200


async def test_an_open_stream_does_not_hold_a_peer_that_stops() -> None:
    async with aiohttp.ClientSession() as session:
        async with meteor.Peer(space=SPACE) as peer:
            http = Http(session, [peer])
            reply = await session.get(http.url("/events", select="temperature=1"))
            live = await session.get(http.url("/live"))
            await take(events(reply), 1)
        async with asyncio.timeout(20):
            while await reply.content.readany():
                continue
            while await live.content.readany():
                continue


async def test_who_looks_on_sees_posts_pairs_and_notifications(http: Http) -> None:
    async with http.session.get(http.url("/live")) as reply:
        stream = events(reply)
        async with await http.peers[0].notify_data("temperature>=20"):
            await http.store(21.0)
            seen: dict[str, Any] = {}
            async with asyncio.timeout(20):
                async for kind, _, one in stream:
                    seen.setdefault(kind, one)
                    if {"post", "notification"} <= seen.keys():
                        break
        assert seen["post"]["action"] == "notify_data"
        assert seen["notification"]["profile"] == "type=temperature temperature=21.0"
