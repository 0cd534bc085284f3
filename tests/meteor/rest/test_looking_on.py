"""Looking on is bounded and changes nothing: the monitor, the registry, the report of links."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import meteor
from arms import Record, Store
from chord import replace
from meteor.keeping.registry import EXAMINED_MAX, Looking
from meteor.rendezvous.link_report import ask_all, own_links
from meteor.rendezvous.monitor import Monitor
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Amend, Document, Post
from sim import Overlay
from tests.meteor.building import SPACE


def post_of(text: str, data: bytes = b"x") -> Post:
    profile = pack_profile(meteor.Profile.parse(text))
    return Post(1, encode_document(Document("store", profile, data)), "s", 1, 60.0, 1.0)


def test_nobody_looks_on_and_nothing_is_kept() -> None:
    monitor = Monitor()
    monitor.message(post_of("a=1"))
    assert not monitor.is_watched
    onlooker = monitor.watch(10, lambda: None)
    assert onlooker.take() == ([], 0)
    monitor.leave(onlooker)
    assert not monitor.is_watched


@pytest.mark.parametrize("ttl_s", [math.nan, math.inf, 60.0])
def test_what_nobody_has_looked_at_yet_is_cut(ttl_s: float) -> None:
    """Names as long as a frame filled the queues, five hundred each; and `NaN` is no JSON."""
    monitor = Monitor()
    onlooker = monitor.watch(10, lambda: None)
    name, document = "a" * 1_000_000, encode_document(Document("b" * 1_000_000, b""))
    monitor.message(Post(1, document, name, 1, ttl_s, 1.0))
    monitor.message(Amend(1, name, name, 1, ttl_s, 1.0))
    seen, _ = onlooker.take()
    assert [one["kind"] for one in seen] == ["post", "amend"]
    for one in seen:
        assert len(json.dumps(one, allow_nan=False)) < 20_000


def test_who_is_slow_loses_the_oldest_and_is_told_how_many() -> None:
    monitor, woken = Monitor(), []
    slow = monitor.watch(3, lambda: woken.append("slow"))
    quick = monitor.watch(10, lambda: woken.append("quick"))
    for number in range(5):
        monitor.message(post_of(f"a={number}"))
    seen, dropped = slow.take()
    assert ([one["profile"] for one in seen], dropped) == (["a=2", "a=3", "a=4"], 2)
    assert slow.take() == ([], 0)
    seen, dropped = quick.take()
    assert (len(seen), dropped) == (5, 0)
    assert woken.count("slow") == woken.count("quick") == 5


@pytest.mark.parametrize(
    "message",
    [
        Post(1, b"\xc1 no document", "s", 1, 60.0, 1.0),
        Post(1, encode_document(Document("store", b"\xc1")), "s", 1, 60.0, 1.0),
        post_of("a=1", b"\xff" * 10_000),
        Amend(1, "cancel", "x", 1, 0.0, 1.0),
        object(),
    ],
    ids=["document", "profile", "payload", "amend", "other"],
)
def test_whatever_comes_is_shown_or_passed_by(message: Any) -> None:
    monitor = Monitor()
    onlooker = monitor.watch(10, lambda: None)
    monitor.message(message)
    for one in onlooker.take()[0]:
        assert len(one.get("text", "")) <= 120


def record(number: int, kind: Any = "data") -> Record:
    profile = meteor.Profile.parse(f"room=Lab{number % 7} number={number}")
    return Record(kind, f"s{number}", "", 1, f"s{number}.x", "store", profile, b"", 60.0)


def look(records: list[Record], **options: Any) -> Any:
    defaults: dict[str, Any] = {
        "kind": None, "search": "", "limit": 10, "begin": 0, "belongs": lambda _: True
    }  # fmt: skip
    options = {**defaults, **options}
    begin = options.pop("begin")
    looking = Looking(**options)
    for one in records[begin:]:
        if looking.is_full:
            return looking.page(begin, more=True)
        looking.look_at(one)
    return looking.page(begin, more=False)


def test_every_record_is_on_one_page() -> None:
    records = [record(number, ("data", "interest")[number % 2]) for number in range(57)]
    for options in ({}, {"kind": "interest"}, {"search": "LAB3"}, {"search": "lab3 number=1"}):
        found, begin = [], 0
        while begin is not None:
            page = look(records, begin=begin, **options)
            found += page.records
            begin = page.next
        words = str(options.get("search", "")).lower().split()
        assert found == [
            one
            for one in records
            if options.get("kind") in (None, one.kind)
            and all(word in str(one.profile).lower() for word in words)
        ]


def test_a_search_in_vain_examines_so_much_and_says_where_to_go_on() -> None:
    records = [record(number) for number in range(EXAMINED_MAX + 5)]
    page = look(records, search="nowhere")
    assert (page.records, page.examined, page.next) == ((), EXAMINED_MAX, EXAMINED_MAX)
    assert look(records, search="nowhere", begin=page.next).next is None


def test_what_stands_before_a_page_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """To make a record of each of a million, to pass it by, held the peer for a second."""
    store = Store()
    store.load(record(number) for number in range(1000))
    looked_at: list[object] = []
    find = Store._find
    monkeypatch.setattr(Store, "_find", lambda *which: (looked_at.append(which), find(*which))[1])
    found = store.public_records(998)
    assert [one.stem for one in found if one is not None] == ["s998", "s999"]
    assert len(looked_at) == 2


@pytest.mark.parametrize("hidden", [0, 1, 4])
def test_others_get_their_turn_as_they_are_passed(
    hidden: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred thousand keys, half of them hidden, took 29 ms in one turn.  What goes meanwhile is
    not shown, nor what is hidden by then."""
    monkeypatch.setattr("arms.store.PASSED_AT_ONCE", 10)
    store, seen = Store(), ("x",)
    every = [replace(record(n), visible_to=seen if n % 5 < hidden else ()) for n in range(100)]
    store.load(every)
    public = [one.stem for one in every if not one.visible_to]
    begin, turns = len(public) - 2, 0
    for found in store.public_records(begin):
        if found is not None:
            break
        turns += 1
        if turns == 1:
            store.remove("", public[-2])
            store.put(replace(record(7), stem="later"), 0.0)
            store.put(replace(record(99), version=2, visible_to=seen), 0.0)
    assert found is None
    assert turns >= 9


def test_what_another_answers_for_is_not_shown() -> None:
    records = [record(number) for number in range(6)]
    page = look(records, belongs=lambda one: one.stem != "s3")
    assert [one.stem for one in page.records] == ["s0", "s1", "s2", "s4", "s5"]


def test_links_are_reported_by_both_ends_and_a_silent_peer_is_named() -> None:
    overlay = Overlay(peers=5, space=SPACE, seed=3)
    client = overlay.client()
    for number in range(30):
        overlay.run(client.store(f"type=light temperature={number}"))
    first, second = overlay.peers[0], overlay.peers[1]
    report = overlay.run(first.core.links(10))
    assert report["silent"] == []
    ids = {f"{peer.contact.id:x}" for peer in overlay.peers}
    assert {link["from"] for link in report["links"]} == ids
    assert {link["to"] for link in report["links"]} <= ids
    assert all(0 < link["round_trip_ms"] < 1000 for link in report["links"])
    assert all(link["from"] != link["to"] for link in report["links"])
    picture = overlay.run(first.core.picture())
    second.crash()
    own = own_links(first.runtime, first.core.node)
    report = overlay.run(ask_all(first.runtime, own, picture.peers, 10))
    assert report["silent"] == [f"{second.contact.id:x}"]
