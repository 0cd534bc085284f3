"""The shelf: what is durable, what shows, and that both are the same story at any moment."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from arms import Profile, Rendezvous, Store
from meteor.journal.journal import Journal, JournalFailed, UnreadJournal
from meteor.keeping.holdings import Holdings
from meteor.keeping.placement import GONE, MOVED, Admission, key_of
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.rendezvous.outbox import PENDING_BYTES_MAX, PENDING_MAX
from meteor.rendezvous.telling import Telling
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.letters import NOTICES_BYTES
from meteor.wire.messages import Acknowledge, Document
from meteor.wire.operations import Carried, Route
from meteor.wire.record_id import make_id
from meteor.wire.view import View
from sim.disk import SimDisk
from sim.kernel import Kernel
from sim.network import Network
from sim.runtime import SimRuntime
from tests.meteor.building import SPACE

from chord import Contact  # isort: skip
from squid import merge  # isort: skip

CURVE = SPACE.curve
EVERYTHING = ((0, CURVE.size - 1),)
HERE = Contact(1, "10.0.0.1:1")
CLIENT = Route(Contact(2, "10.0.0.2:1"), 77)


class World:
    """One shelf on a slow disk."""

    def __init__(self) -> None:
        self.kernel = Kernel(1)
        self.disk = SimDisk(self.kernel, write_latency_s=0.01)
        self.shelf = self.new_shelf(self.disk.journal("shelf"))

    def new_shelf(self, journal: Journal) -> Shelf:
        return Shelf(Store(), journal, CURVE, self.kernel.now, self.wall_clock)

    def wall_clock(self) -> float:
        return 1_000_000.0 + self.kernel.now()

    def run(self, *work: Any) -> list[Any]:
        tasks = [self.kernel.spawn(one) for one in work]
        return [self.kernel.run_until(task) for task in tasks]

    def restarted(self) -> Shelf:
        shelf = self.new_shelf(self.disk.journal("shelf"))
        self.run(shelf.restore())
        return shelf


def carried(
    stem: str, text: str, *, kind: str = "data", version: int = 1, number: int = 0, **more: Any
) -> Carried:
    profile = Profile.parse(text, SPACE)
    terms = profile.subject_terms(SPACE) if kind == "data" else profile.selector_terms(SPACE)
    action = {"data": "store", "interest": "notify_data"}[kind]
    blob = encode_document(Document(action, pack_profile(profile), more.pop("data", b"")))
    made = Carried(
        kind, make_id(stem, SPACE.box(terms), CURVE), "", version, action, 60_000, blob, number, 0,
        CLIENT if kind == "interest" else None,
    )  # fmt: skip
    return replace(made, **more)


def test_a_pair_that_no_client_acknowledged_is_told_of_after_a_hand_off() -> None:
    """An old interest is known here already, the newer one is not: their numbers keep the giver's
    order, so that the newer one's watermark does not cover what it has not been told of."""
    world = World()
    old = carried("old", "type=lamp", kind="interest", number=10)
    world.run(world.shelf.admit([old], Admission()))
    admission = Admission()
    page = [
        old,
        carried("new", "temperature=0..10", kind="interest", number=60, acknowledged=50),
        carried("told", "type=a temperature=3", number=40),
        carried("untold", "type=b temperature=5", number=70),
    ]
    world.run(world.shelf.admit(sorted(page, key=lambda one: one.number), admission))
    runtime = SimRuntime(world.kernel, Network(world.kernel), HERE)
    rendezvous = Rendezvous(world.shelf.store, random.Random(1))
    telling = Telling(runtime, world.shelf, Holdings(EVERYTHING), rendezvous)
    telling.derive(EVERYTHING, admission)
    world.kernel.run(until_s=world.kernel.now() + 1.0)
    pending = telling._outbox._streams["new"].pending
    assert "new:untold:1" in pending


def test_numbers_show_in_their_order_while_writes_are_under_way() -> None:
    """A hand-off that has read up to a number never misses a change below it."""
    world = World()
    known = carried("known", "type=lamp", kind="interest", number=1)
    world.run(world.shelf.admit([known], Admission()))

    async def post(stem: str) -> None:
        for one in await world.shelf.write([carried(stem, "type=a temperature=1")]):
            world.shelf.show(one)

    async def later(stem: str) -> None:
        await world.kernel.sleep(0.005)
        await post(stem)

    world.run(post("a"), world.shelf.admit([known], Admission()), post("b"), later("c"))
    numbers = [number for number, _ in world.shelf.table.changed_after(0, EVERYTHING[0])]
    assert numbers == sorted(numbers)


def test_what_is_given_and_gained_at_once_is_noted_as_it_is() -> None:
    world, views = World(), Views()
    views.put_own(View(HERE, 1, 1, ((0, 99),), ()))

    async def give(first: int, last: int) -> None:
        views.give(((first, last),))
        await world.shelf.note(views)

    async def gain(first: int, last: int) -> None:
        views.put_own(View(HERE, 2, 9, ((first, last),), (), ((first, first + 4),)))
        await world.shelf.note(views)

    world.run(give(0, 9), give(50, 59), gain(200, 209))
    note = world.run(world.new_shelf(world.disk.journal("shelf")).restore())[0].note
    assert merge(*(view.intervals for view in note.own)) == ((10, 49), (60, 99), (200, 209))
    assert merge(*(view.lost for view in note.own)) == ((200, 204),)


def test_what_expires_while_it_is_posted_anew_stays() -> None:
    """The removal is decided after the new write has begun, and must not follow it to disk."""
    world = World()
    first = carried("x", "type=a temperature=1", ttl_ms=int(world.wall_clock() * 1000) + 50)
    world.run(_shown(world, first))
    world.kernel.run(until_s=world.kernel.now() + 0.1)
    again = carried("x", "type=a temperature=1", version=2, ttl_ms=_later_ms(world))

    async def expire() -> None:
        gone = world.shelf.store.expire(world.kernel.now())
        await world.shelf.drop([record.key for record in gone])

    world.run(_shown(world, again), expire())
    assert world.shelf.find(("", "x")) is not None
    assert world.restarted().find(("", "x")) is not None


def test_what_is_given_away_and_posted_anew_elsewhere_stays() -> None:
    world = World()
    old = carried("x", "type=a temperature=1", ttl_ms=_later_ms(world))
    new = carried("x", "type=z temperature=99", version=2, ttl_ms=_later_ms(world))
    world.run(_shown(world, old))
    (left,) = [world.shelf.find(("", "x"))]
    assert left is not None
    held = ((0, left.lowest - 1), (left.lowest + 1, CURVE.size - 1))

    async def give() -> None:
        await world.shelf.erase(world.shelf.forget_outside(held))

    world.run(_shown(world, new), give())
    found = world.restarted().find(("", "x"))
    assert found is not None
    assert found.carried.version == 2


def test_word_of_a_move_lives_beside_the_record_and_survives_a_restart() -> None:
    world = World()
    here = carried("x", "type=a temperature=1", version=3, ttl_ms=_later_ms(world))
    word = replace(here, kind=MOVED, version=2, blob=b"", moved_to=here.id)
    gone = carried("y", "type=a temperature=2", ttl_ms=_later_ms(world), kind="data")
    stone = replace(gone, kind=GONE, blob=b"", operation=b"delete")
    world.run(_shown(world, here), _shown(world, word), _shown(world, gone), _shown(world, stone))
    restarted = world.restarted()
    for shelf in (world.shelf, restarted):
        assert shelf.find(("", "x")) is not None
        assert shelf.find(key_of(word)) is not None
        assert shelf.store.get("", "x") is not None
        assert shelf.store.get("", "y") is None
        assert [placed.carried.id for placed in shelf.buried(b"delete")] == [gone.id]
    world.run(restarted.drop([("", "y")]))
    assert list(restarted.buried(b"delete")) == []


def test_a_record_that_moves_while_it_is_handed_over_does_not_stay_with_the_taker() -> None:
    """The first page brought the record, the last one only the word that it is elsewhere."""
    world = World()
    before = carried("x", "type=a temperature=1", number=5)
    word = replace(before, kind=MOVED, version=2, blob=b"", number=9, moved_to=before.id)
    world.run(world.shelf.admit([before], Admission()))
    world.run(world.shelf.admit([word], Admission()))
    for shelf in (world.shelf, world.restarted()):
        assert shelf.store.get("", "x") is None
        assert shelf.find(("", "x")) is None
        assert shelf.find(key_of(word)) is not None


def test_where_no_later_life_reads_it_nothing_is_written_and_all_shows() -> None:
    world, journal = World(), UnreadJournal()
    shelf = world.new_shelf(journal)
    mine, theirs = carried("a", "type=lamp"), carried("b", "type=lamp", number=9)

    async def write() -> None:
        for one in await shelf.write([mine]):
            shelf.show(one)
        await shelf.admit([theirs], Admission())
        assert not shelf.is_coming([key_of(mine), key_of(theirs)])
        assert not (await journal.scan()).entries
        await journal.close()
        with pytest.raises(JournalFailed):  # nothing is acknowledged after the end
            await shelf.write([carried("c", "type=lamp")])

    world.run(write())
    assert {placed.carried.id for placed in shelf.table} == {mine.id, theirs.id}


def test_an_unreadable_record_in_the_journal_is_set_aside() -> None:
    world = World()
    good = carried("x", "type=a temperature=1", ttl_ms=_later_ms(world))
    bad = replace(good, id="rubbish", blob=b"rubbish")
    world.run(world.shelf.write([good, bad]))
    shelf = world.new_shelf(world.disk.journal("shelf"))
    (restored,) = world.run(shelf.restore())
    assert restored.records == 1
    assert len(restored.damaged) == 1


class Told:
    """A peer with one interest and many data that match it, and a client that acknowledges."""

    def __init__(self, count: int, data: bytes = b"") -> None:
        self.world = World()
        self.network = Network(self.world.kernel)
        self.runtime = SimRuntime(self.world.kernel, self.network, HERE)
        self.client = SimRuntime(self.world.kernel, self.network, CLIENT.peer)
        self.sizes: list[int] = []
        self.seen: dict[str, int] = {}
        self.client.serve(self._on_notices, lambda _: None)
        shelf = self.world.shelf
        rendezvous = Rendezvous(shelf.store, random.Random(1))
        self.telling = Telling(self.runtime, shelf, Holdings(EVERYTHING), rendezvous)
        handlers = self.telling.handlers
        self.runtime.serve(lambda *told: handlers[type(told[1])](*told), lambda _: None)
        interest = carried("i", "temperature=0..10", kind="interest", ttl_ms=_later_ms(self.world))
        batch = [
            carried(f"d{n}", "type=a temperature=3", data=data, ttl_ms=_later_ms(self.world))
            for n in range(count)
        ]
        self.world.run(_shown(self.world, *batch), _shown(self.world, interest))
        self.telling.derive(EVERYTHING, Admission())

    def _on_notices(self, _: Contact, message: Any, __: float) -> None:
        self.sizes.append(sum(len(notice.found.blob) for notice in message.notices))
        for notice in message.notices:
            self.seen[notice.id] = self.seen.get(notice.id, 0) + 1
        ids = tuple(notice.id for notice in message.notices)
        self.client.send(HERE, Acknowledge("i", ids, HERE, client=CLIENT.client))

    def run_for(self, seconds: float) -> None:
        for _ in range(int(seconds)):
            self.world.kernel.run(until_s=self.world.kernel.now() + 1.0)
            self.telling.retry()


@pytest.mark.long
def test_an_interest_that_meets_more_than_fits_is_told_of_all() -> None:
    """All pairs of a new interest have one number; the second half comes after the first."""
    told = Told(PENDING_MAX + 500)
    told.run_for(5)
    assert len(told.seen) == PENDING_MAX + 500
    assert sum(told.seen.values()) <= 2 * len(told.seen)


def test_large_data_is_told_of_in_messages_that_can_travel() -> None:
    """Ten data of 900 kB: more than fits at once, and more than one frame may hold."""
    told = Told(10, b"x" * 900_000)
    assert PENDING_BYTES_MAX < 10 * 900_000
    told.run_for(5)
    assert len(told.seen) == 10
    assert max(told.sizes) <= max(NOTICES_BYTES, 901_000)


def _later_ms(world: World) -> int:
    return int(world.wall_clock() * 1000) + 3_600_000


async def _shown(world: World, *some: Carried) -> None:
    for one in await world.shelf.write(some):
        world.shelf.show(one)
