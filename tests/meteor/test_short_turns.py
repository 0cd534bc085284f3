"""No turn of a peer takes long, whatever is asked of it: work is counted, not time.

Every candidate of a match costs one question for the lowest cell that a pair shares, or, where data
is only sent, a place in a list that is looked through; every record that goes one removal from the
store.  All are counted by the turn in which they happen.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from arms import Store
from meteor import Client, Interest, LocalOverlay
from meteor.client.session import Session
from meteor.copies.their_marks import TheirMarks
from meteor.keeping.placement import Admission
from meteor.rendezvous import census, changes, deletes, deriving, outbox, point, reactions, telling
from meteor.rendezvous.outbox import Outbox
from meteor.wire.codec import wire_codec
from sim.kernel import Kernel
from sim.overlay import Overlay
from squid.reporting import Reporting
from tests.meteor.building import SPACE
from tests.meteor.counted_work import AT_ONCE, BURIED_AT_ONCE, STORED, SWEPT_AT_ONCE, Work, _Turns


@pytest.fixture(autouse=True)
def _small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reactions, "AT_ONCE", AT_ONCE)
    monkeypatch.setattr(reactions, "SURE_AT_ONCE", AT_ONCE)
    monkeypatch.setattr(reactions, "FEW_SURE", AT_ONCE)
    monkeypatch.setattr(reactions, "FIRST_AT_ONCE", AT_ONCE // 4)
    monkeypatch.setattr(deletes, "AT_ONCE", AT_ONCE)
    monkeypatch.setattr(deletes, "COUNTED_AT_ONCE", AT_ONCE)
    monkeypatch.setattr(changes, "SWEPT_AT_ONCE", SWEPT_AT_ONCE)
    monkeypatch.setattr(point, "BURIED_AT_ONCE", BURIED_AT_ONCE)
    monkeypatch.setattr(census, "A_TURN", AT_ONCE)


@pytest.fixture
def overlay() -> Overlay:
    kernel = Kernel(5)
    kernel._ready = _Turns()
    kernel.take = kernel._ready.append  # whoever is built on it keeps this
    return Overlay(codec=wire_codec(), peers=1, space=SPACE, seed=5, kernel=kernel)


@pytest.fixture
def client(overlay: Overlay) -> Client:
    return overlay.client(peer=0)


@pytest.fixture
def work(overlay: Overlay, client: Client, monkeypatch: pytest.MonkeyPatch) -> Work:
    return Work(overlay, monkeypatch)


async def store_all(client: Client, ttl: float = 3600) -> None:
    for at in range(STORED):
        await client.store(f"type=lamp temperature={at % 100}", b"%d" % at, ttl=ttl)


async def taken(interest: Interest, count: int) -> list[bytes]:
    found = [(await interest.recv(timeout=30)).data for _ in range(count)]
    return sorted(found, key=int)


EVERYTHING = [b"%d" % at for at in range(STORED)]


def test_a_query_that_finds_much(overlay: Overlay, client: Client, work: Work) -> None:
    overlay.run(store_all(client))
    work.done.clear()
    matches = overlay.run(client.retrieve("type=lamp").all())
    assert sorted((match.data for match in matches), key=int) == EVERYTHING
    assert work.most("looked through") <= AT_ONCE


def test_a_picture_of_a_ring_that_holds_much(overlay: Overlay, client: Client, work: Work) -> None:
    overlay.run(store_all(client))
    work.done.clear()
    (peer,) = overlay.run(client.ring()).peers
    assert peer.data == STORED
    assert work.most("lives_in") <= AT_ONCE


def test_the_first_of_much_leaves_before_the_rest_is_looked_at(
    overlay: Overlay, client: Client, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    real = Reporting._send_frame

    def noted(self: Reporting, *args: Any) -> None:
        sent.append(work.turn)
        real(self, *args)

    monkeypatch.setattr(Reporting, "_send_frame", noted)
    overlay.run(store_all(client))
    work.done.clear()
    assert len(overlay.run(client.retrieve("type=lamp").all())) == STORED
    looked = [turn for what, turn in work.done if what == "looked through"]
    assert sent[0] == min(looked) < max(looked) <= sent[-1]


def test_a_query_about_which_many_trees_must_be_asked(
    overlay: Overlay, client: Client, work: Work
) -> None:
    async def found() -> int:
        for at in range(STORED):
            text = f"type=lamp light(level={at} colour=red) light(level=200 colour=blue)"
            await client.store(text)
        work.done.clear()
        return len(await client.retrieve("type=lamp light(level<=500 colour=red)").all())

    assert overlay.run(found()) == STORED
    assert work.most("matches") <= AT_ONCE // 8 + 1


def test_an_interest_in_much_that_is_there(overlay: Overlay, client: Client, work: Work) -> None:
    overlay.run(store_all(client))
    work.done.clear()

    async def notified() -> list[bytes]:
        async with client.notify_data("type=lamp", queue=2 * STORED) as interest:
            return await taken(interest, STORED)

    assert overlay.run(notified()) == EVERYTHING
    assert work.most("lowest_common") <= AT_ONCE


def test_a_client_that_catches_up_with_more_than_may_wait(
    overlay: Overlay, client: Client, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its stream is derived again and again, from what did not fit on."""
    monkeypatch.setattr(outbox, "PENDING_MAX", 30)
    monkeypatch.setattr(deriving, "DERIVED_AT_ONCE", AT_ONCE)
    test_an_interest_in_much_that_is_there(overlay, client, work)


def test_an_interval_gained_in_which_much_was_not_told_of(
    overlay: Overlay, client: Client, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until all was looked at, what its clients acknowledged is what it was at the giver."""
    monkeypatch.setattr(deriving, "DERIVED_AT_ONCE", AT_ONCE)
    tells, stems = overlay.peers[0].core.telling, list[str]()

    def marks() -> list[int]:
        return [tells.watermark("", stem) for stem in stems]

    async def acknowledged() -> None:
        await store_all(client)
        for _ in range(3):
            interest = await client.notify_data("type=lamp", ttl=3600, queue=2 * STORED)
            stems.append(interest.id.partition(".")[0])

    overlay.run(acknowledged())
    overlay.run_for(5.0)
    before = marks()
    assert all(before)
    work.done.clear()
    tells.derive(overlay.peers[0].core.holdings.held, Admission())
    assert not any(marks())
    overlay.run_for(5.0)
    assert work.most("lowest_common") <= AT_ONCE
    assert marks() == before


def test_data_that_many_wait_for(overlay: Overlay, client: Client, work: Work) -> None:
    async def all_told() -> None:
        interests = [
            await client.notify_data(f"temperature<={100 + at}", ttl=3600) for at in range(STORED)
        ]
        work.done.clear()
        receipt = await client.store("type=lamp temperature=21", b"0")
        assert receipt.matches == STORED
        for interest in interests:
            assert (await interest.recv(timeout=30)).data == b"0"

    overlay.run(all_told())
    assert work.most("lowest_common") <= AT_ONCE


def test_many_interests_of_which_nothing_was_acknowledged(
    overlay: Overlay, client: Client, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is due to all of them at once is sent again in several turns."""
    monkeypatch.setattr(telling, "SENT_AT_ONCE", AT_ONCE)
    real = Outbox.due

    def counted(*args: Any) -> Any:
        notices = real(*args)
        work.done["sent", work._turns.number] += len(notices)
        return notices

    async def told() -> None:
        for at in range(STORED):
            await client.notify_data(f"temperature<={100 + at}", ttl=3600)
        monkeypatch.setattr(Session, "_acknowledge", lambda _: None)
        await client.store("type=lamp temperature=21", b"0")

    overlay.run(told())
    monkeypatch.setattr(Outbox, "due", counted)
    overlay.run_for(2.5)
    assert work.most("sent") <= AT_ONCE


def test_data_about_which_many_trees_must_be_asked(
    overlay: Overlay, client: Client, work: Work
) -> None:
    """A tree counts for eight candidates: it may be a hostile one."""

    async def stored() -> int:
        for at in range(STORED):
            await client.notify_data(f"type=lamp //light(level<={at + 40} colour=*)", ttl=3600)
        work.done.clear()
        return (await client.store("type=lamp light(level=50 colour=red)")).matches

    assert overlay.run(stored()) == STORED - 10
    assert work.most("matches") <= AT_ONCE // 8 + 1


def test_who_leaves_while_others_are_told_hears_nothing(
    overlay: Overlay, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A delete that comes between two slices of one match."""
    peer = overlay.peers[0]
    heard: list[str] = []
    real = peer.core.telling.tell

    def tell(reaction: Any) -> None:
        heard.append(reaction.to.stem)
        if len(heard) == AT_ONCE:
            left = next(stem for stem in stems if stem not in heard)
            peer.core.shelf.store.remove("", left)
            gone.append(left)
        real(reaction)

    stems: list[str] = []
    gone: list[str] = []

    async def run() -> None:
        for _ in range(2 * AT_ONCE):
            interest = await client.notify_data("type=lamp", ttl=3600)
            stems.append(interest.id.partition(".")[0])
        monkeypatch.setattr(peer.core.telling, "tell", tell)
        await client.store("type=lamp temperature=1", b"x")

    overlay.run(run())
    assert gone
    assert sorted([*heard, *gone]) == sorted(stems)


def test_no_watermark_passes_what_was_not_told_yet(overlay: Overlay, client: Client) -> None:
    tells = overlay.peers[0].core.telling

    def changed() -> list[int]:
        return [mark for part, _ in tells.watermarks() for _, _, mark in part]

    tells._outbox.start("i", 9)
    assert changed() == [9]
    first, second = tells.hold_back(7), tells.hold_back(5)
    assert changed() == [4]
    tells.let_go(second)
    assert changed() == [6]
    tells.let_go(first)
    assert changed() == [9]


def test_what_is_late_is_looked_for_some_interests_at_a_time(
    overlay: Overlay, monkeypatch: pytest.MonkeyPatch
) -> None:
    tells, looked_at = overlay.peers[0].core.telling, list[str]()

    def get(_: Store, owner: str, stem: str) -> None:
        looked_at.append(stem)

    monkeypatch.setattr(telling, "LOOKED_AT_ONCE", AT_ONCE)
    monkeypatch.setattr(Store, "get", get)
    monkeypatch.setattr(Outbox, "drop", lambda *_: None)
    for number in range(STORED):
        tells._outbox.start(f"{number:03}", 0)
    tells.retry()
    assert len(looked_at) == AT_ONCE
    tells.retry()  # the round before is still under way
    assert len(looked_at) == AT_ONCE
    overlay.run_for(0.001)
    assert sorted(looked_at) == [f"{number:03}" for number in range(STORED)]
    tells.retry()
    assert len(looked_at) == STORED + AT_ONCE
    overlay.run_for(0.001)


def test_of_many_interests_the_watermarks_are_told_some_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every copy has heard of all in the end; those of few are told in the turn as ever."""
    overlay = Overlay(peers=2, space=SPACE, seed=1, copies=2)
    overlay.run_for(10.0)
    first, second = overlay.peers
    tells, tending, asked = first.core.telling, first.core._tending, list[str]()
    told: list[int] = []
    real_watermark, real_marks = Outbox.watermark, TheirMarks.note

    def watermark(of: Outbox, name: str) -> int:
        asked.append(name)
        return real_watermark(of, name)

    def note(marks: TheirMarks, primary_id: int, news: dict[Any, int]) -> None:
        told.append(len(news))
        real_marks(marks, primary_id, news)

    monkeypatch.setattr(Outbox, "watermark", watermark)
    monkeypatch.setattr(TheirMarks, "note", note)
    monkeypatch.setattr(tells, "retry", lambda: None)  # there are no interests behind these
    monkeypatch.setattr(outbox, "MARKED_AT_ONCE", AT_ONCE * outbox.MARK_SIZE)
    for number in range(STORED):
        tells._outbox.start(f"{number:03}", 1 + number)
    tending._marked_s = -100.0
    tending._mark()
    assert len(asked) == AT_ONCE
    tells._outbox.drop("086")
    tending._marked_s = -100.0
    tending._mark()  # the round before is still under way
    assert len(asked) == AT_ONCE
    tending._marked_s = overlay.kernel.now()
    overlay.run_for(1.0)
    assert asked == [f"{number:03}" for number in range(STORED) if number != 86]
    assert told == [AT_ONCE] * 4 + [STORED % AT_ONCE - 1]
    kept = second.core._keeper.marks.of(first.contact.id).watermarks
    assert kept["", "085"] == 86
    assert len(kept) == STORED - 1
    told.clear()
    tells._outbox.start("new", 5)
    overlay.run_for(5.0)
    assert told == [1]  # of the others there is no news


def test_a_delete_of_much(overlay: Overlay, client: Client, work: Work) -> None:
    overlay.run(store_all(client))
    work.done.clear()
    assert overlay.run(client.delete_data("type=lamp", dry_run=True)).matches == STORED
    work.done.clear()
    assert overlay.run(client.delete_data("type=lamp")).matches == STORED
    looked_up = max(count for (what, _), count in work.done.items() if what == "__getitem__")
    assert looked_up <= 3 * AT_ONCE < STORED
    assert work.most("remove") <= 2 * BURIED_AT_ONCE
    assert overlay.run(client.retrieve("type=lamp").all()) == []


def test_a_sweep_of_much_goes_on_until_nothing_is_left(
    overlay: Overlay, client: Client, work: Work
) -> None:
    overlay.run(store_all(client, ttl=60))
    work.done.clear()
    overlay.run_for(62.0)
    assert work.most("remove") <= SWEPT_AT_ONCE
    assert len(overlay.peers[0].core.shelf.store) == 0


async def test_a_delete_where_nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A peer alone, with its journal in memory: no write ever gives the turn away."""
    monkeypatch.setattr(point, "BURIED_AT_ONCE", BURIED_AT_ONCE)
    async with LocalOverlay(peers=1, space=SPACE, transport="memory") as overlay:
        client = await overlay.connect()
        for number in range(5 * BURIED_AT_ONCE):
            await client.store(f"type=lamp temperature={number}", b"")
        turn, removed, real = [0], Counter[int](), Store.remove

        def counted(store: Store, *key: str) -> Any:
            removed[turn[0]] += 1
            return real(store, *key)

        async def count_turns() -> None:
            while True:
                turn[0] += 1
                await asyncio.sleep(0)

        monkeypatch.setattr(Store, "remove", counted)
        counting = asyncio.ensure_future(count_turns())
        await client.delete_data("type=lamp")
        counting.cancel()
    assert sum(removed.values()) >= 5 * BURIED_AT_ONCE
    assert max(removed.values()) <= 2 * BURIED_AT_ONCE, removed
