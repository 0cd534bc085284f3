"""Records back from the journal at once: against the same shelf, record by record."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import meteor
from arms import DATA, INTEREST, WATCH, Profile, Store
from meteor.journal.journal import Entries, Entry, MemoryJournal
from meteor.journal.no_collections import WORTH_AGEING, no_collections
from meteor.keeping import plain_rows
from meteor.keeping.attic import Attic
from meteor.keeping.placement import GONE, MOVED, journal_key, key_of
from meteor.keeping.plain_rows import read_plain
from meteor.keeping.record_front import FORM, carried_in
from meteor.keeping.shelf import Shelf
from meteor.keeping.shelf_journal import Restored, entry_of
from meteor.wire import codec
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document
from meteor.wire.operations import Carried, Route
from meteor.wire.record_id import make_id
from squid import HilbertCurve
from tests.meteor.building import SPACE
from tests.meteor.copies_world import build, crash, store_some

from chord import Contact  # isort: skip

CURVE = SPACE.curve
NOW_S = 1_000_000.0
LONG = "x" * 70
TEXTS = {
    DATA: [
        "p={number}", "q={number}",
        "type={word} temperature={number} humidity=7", "type={word}", "type=* temperature={number}",
        "type=lamp x={word} y={number} z", "type={word} a(b={number})", f"type=lamp x={LONG}",
        "temperature={number} temperature=4", 'x="{word} {word} {word} ü" y=*',
    ],
    INTEREST: [
        "type={word}* temperature={number}..120", "type=* humidity>={number}", "type={word}",
        "type={word} | humidity={number}", "//b={number}", "x>={word} y<={number} z=*",
    ],
}  # fmt: skip
TEXTS[WATCH] = TEXTS[DATA]


def drawn(random: Random, stem: str) -> Carried:
    kind = random.choice([DATA, DATA, INTEREST, WATCH])
    text = random.choice(TEXTS[kind]).format(
        word=random.choice(["lamp", "lampshade", "ü", "a-b", "zz"]), number=random.randrange(99)
    )
    profile = Profile.parse(text, SPACE)
    ask = profile.selector_terms if kind == INTEREST else profile.subject_terms
    action = {DATA: "store", INTEREST: "notify_data", WATCH: "notify_interest"}[kind]
    one = Carried(
        kind, make_id(stem, SPACE.box(ask(SPACE)), CURVE), random.choice(["", "", "me", "you"]),
        random.randrange(1, 9), action, int((NOW_S + random.choice([-5, 5, 50, 500])) * 1000),
        encode_document(Document(action, pack_profile(profile), b"21.5")), random.randrange(9**5),
        0, Route(Contact(2, "a"), 7) if kind == INTEREST else None, renewed=random.randrange(3),
        visible_to=random.choice([(), (), ("me",)]),
    )  # fmt: skip
    if random.random() < 0.1:
        return replace(one, kind=random.choice([GONE, MOVED]), blob=b"", operation=b"delete")
    return one


async def shelf_of(entries: Sequence[Entry]) -> tuple[Shelf, Restored]:
    journal = MemoryJournal()
    await journal.append(entries)
    shelf = Shelf(Store(), journal, CURVE, lambda: 7.25, lambda: NOW_S)
    return shelf, await shelf.restore()


def plainly(one: Carried) -> Entry:
    """As a release before this one wrote it."""
    return Entry(journal_key(key_of(one)), codec.encode(one))


def story(shelf: Shelf) -> dict[str, Any]:
    """All that a shelf says of its records, whatever it is asked first."""
    section = shelf.table.fingerprints.section(((0, CURVE.size - 1),))
    assert section.learn(10**6)
    store = shelf.store
    changes = [placed for _, placed in shelf.table.changed_after(0, (0, CURVE.size - 1))]
    return {
        "counts": [(store.count(k), store.public_count(k)) for k in (DATA, INTEREST, WATCH)],
        "whole": section.whole,
        "pieces": sorted((at, p.carried) for s in section.spans for at, p in section.entries(s)),
        "owners": {
            stem: sorted(store.owners(stem))
            for stem in (p.carried.id.partition(".")[0] for p in shelf.table)
        },
        "changes": sorted((repr(p.carried), p.box, p.lowest, p.is_point) for p in changes),
        "records": sorted(map(repr, store.records())),
        "number": shelf.number,
    }


def answers(shelf: Shelf) -> list[list[str]]:
    asked = [
        "p=*",
        "q>=50",
        "type=lamp*",
        "temperature<=50",
        "x>=a",
        "z",
        "type=* humidity=7",
        "y=*",
        'x>="zz z"',
    ]
    offered = ["type=lamp temperature=30 humidity=50", "x=zz y=3 z=1 type=ü", "a(b=4)", "y=7 z"]
    found = [
        shelf.store.selected(kind, Profile.parse(text, SPACE), 7.25)
        for text in asked
        for kind in (DATA, WATCH)
    ] + [shelf.store.selecting(INTEREST, Profile.parse(text, SPACE), 7.25) for text in offered]
    for first in range(0, CURVE.size, CURVE.size // 4):  # where things live is known too
        span = first, first + CURVE.size // 4 - 1
        sifted = shelf.store.sift_selected(DATA, Profile.parse("type=*", SPACE), span)
        found.append([*sifted.sure, *sifted.doubtful])
    return [sorted(record.id for record in each) for each in found]


@pytest.mark.parametrize("seed", range(40))
async def test_at_once_is_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    monkeypatch.setattr(plain_rows, "AT_ONCE", random.choice([7, 1000]))
    many = [drawn(random, f"s{at}") for at in range(random.choice([0, 5, 60, 300]))]
    shelf, restored = await shelf_of([entry_of(one, CURVE) for one in many])
    twin, of_twin = await shelf_of([plainly(one) for one in many])
    assert restored == of_twin
    first, second = (answers, story) if seed % 2 else (story, answers)
    assert first(shelf) == first(twin)
    assert second(shelf) == second(twin)
    for one in random.sample(many, len(many) // 2):
        assert shelf.store.remove(*key_of(one)) == twin.store.remove(*key_of(one))
        for each in (shelf, twin):
            each.table.remove(key_of(one), int(NOW_S * 1000))
    assert answers(shelf) == answers(twin)
    assert story(shelf) == story(twin)
    for later_s in (10.0, 100.0, 1000.0):
        gone = [sorted(r.id for r in each.store.expire(later_s)) for each in (shelf, twin)]
        assert gone[0] == gone[1]
    assert not len(shelf.store)


async def test_rows_rest_until_somebody_asks() -> None:
    random = Random(3)
    many = [one for one in (drawn(random, f"s{at}") for at in range(300)) if one.kind == DATA]
    shelf, _ = await shelf_of([entry_of(one, CURVE) for one in many])
    resting = [record for record in shelf.store.records() if hasattr(record, "rest")]
    assert len(resting) > 40
    one = resting[0]
    assert one.lives(7.25)
    assert shelf.table[one.key].carried.owner == one.owner
    assert hasattr(one, "rest"), "its expiry and its key are known without looking"
    public = [r for r in shelf.store.public_records() if hasattr(r, "rest")]
    hidden = [r for r in shelf.store.records() if r.visible_to]
    assert len(public) > 20
    assert len(hidden) > 10
    assert not {r.id for r in public} & {r.id for r in hidden}
    later = replace(one, expires_s=99.0)
    assert (later.id, later.expires_s) == (one.id, 99.0)
    assert not hasattr(one, "rest")
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = one.nothing_like_it  # type: ignore[attr-defined]


@pytest.mark.parametrize("first", ["the tree", "the table"])
async def test_a_row_becomes_one_object_and_leaves_none_behind(first: str) -> None:
    random = Random(13)
    many = [one for one in (drawn(random, f"s{at}") for at in range(300)) if one.kind == DATA]
    shelf, _ = await shelf_of([entry_of(one, CURVE) for one in many])
    if first == "the table":
        assert len([*shelf.table]) > 100
    section = shelf.table.fingerprints.section(((0, CURVE.size - 1),))
    in_tree = {key_of(p.carried): p for _, p in section.entries((0, CURVE.size << 64))}
    assert len(in_tree) > 40
    for record in list(shelf.store.records()):
        assert in_tree.setdefault(record.key, shelf.table[record.key]) is shelf.table[record.key]
        assert shelf.forget([record.key]) == [record.key]
    assert shelf.table._resting is not None
    assert not any(shelf.table._resting._rows), "who expired is held by nobody"


async def test_where_rows_lie_is_known_without_looking() -> None:
    random = Random(17)
    many = [drawn(random, f"s{at}") for at in range(300)]
    shelf, _ = await shelf_of([entry_of(one, CURVE) for one in many])
    twin, _ = await shelf_of([plainly(one) for one in many])
    half = ((0, CURVE.size // 2),)
    assert set(shelf.table.outside(half)) == set(twin.table.outside(half))
    both = zip(shelf.table.point_indexes(1), twin.table.point_indexes(1), strict=True)
    assert all(sorted(ours) == sorted(theirs) for ours, theirs in both)
    assert len(shelf.table.point_indexes(3)[0]) > len(twin.table.point_indexes(1)[0]) // 9
    resting = [record for record in shelf.store.records() if hasattr(record, "rest")]
    assert sum(hasattr(record.rest, "rest") for record in resting) > 50, "nobody has looked"


def test_a_row_holds_its_record_and_is_read_with_others() -> None:
    random = Random(5)
    many = [drawn(random, f"s{at}") for at in range(200)]
    entries = Entries.of([entry_of(one, CURVE) for one in many])
    assert [carried_in(value) for value in entries.values] == many
    rows, others = read_plain(entries, CURVE, int(NOW_S * 1000))
    fronted = [value for value in entries.values if value[0] == FORM]
    assert len(fronted) > 80
    assert len(others) == len(many) - len(fronted)
    assert rows.values == [v for v in fronted if carried_in(v).ttl_ms > NOW_S * 1000]  # type: ignore[attr-defined]


@pytest.mark.parametrize("what", ["another curve", "cut", "many shapes", "one sum", "another key"])
async def test_unusual_rows_go_one_by_one(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(11)
    many = [drawn(random, f"s{at}") for at in range(300)]
    if what == "one sum":  # shapes are told apart by what they are
        monkeypatch.setattr("meteor.keeping.record_front.zlib.crc32", lambda _: 7)
    entries = [entry_of(one, CURVE) for one in many]
    if what == "another curve":
        monkeypatch.setattr("meteor.keeping.record_front._HEAD", _OtherCurve())
        entries = [entry_of(one, CURVE) for one in many]
        monkeypatch.undo()
    elif what == "many shapes":
        monkeypatch.setattr(plain_rows, "_FEW_SHAPES", 1)
        monkeypatch.setattr(plain_rows, "_ROWS_A_SHAPE", 10**6)
    elif what == "another key":
        at = next(at for at, e in enumerate(entries) if e.value and e.value[0] == FORM)
        entries[at] = Entry(b"r:", entries[at].value)
    elif what == "cut":
        cut = next(at for at, e in enumerate(entries) if e.value and e.value[0] == FORM)
        value = entries[cut].value
        assert value is not None
        for length in (1, 20, 50):
            entries.append(Entry(f"r:\0cut{length}".encode(), value[:length]))
    shelf, restored = await shelf_of(entries)
    twin, _ = await shelf_of([plainly(one) for one in many])
    assert len(restored.damaged) == (3 if what == "cut" else 0)
    assert answers(shelf) == answers(twin)
    assert {p.carried.id for p in shelf.table} == {p.carried.id for p in twin.table}


class _OtherCurve:
    """Writes the head of a row as if it was of a curve with fewer bits."""

    def pack(self, *fields: Any) -> bytes:
        from meteor.keeping import record_front

        head = record_front.struct.Struct("<BBBBBHHIqqQ")
        return head.pack(*fields[:4], fields[4] - 1, *fields[5:])


async def test_the_attic_and_other_keys_stay_as_they_are() -> None:
    attic = Attic(CURVE)
    one = drawn(Random(1), "s")
    attic.put([one])
    shelf, restored = await shelf_of([*attic.unwritten(), Entry(b"ring", b"\xc1ring")])
    assert (len(shelf.attic), restored.records, restored.damaged) == (1, 0, ())


def test_wide_indexes_have_several_words() -> None:
    curve = HilbertCurve(5, 32)
    profile = Profile.parse("a=1")
    blob = encode_document(Document("store", pack_profile(profile)))
    random = Random(2)
    entries, lowest = [], []
    for at in range(20):
        index = random.getrandbits(160)
        lowest.append(index)
        cell = curve.decode(index)
        box = type(SPACE.box(profile.subject_terms(SPACE)))(cell, cell)
        full_id = make_id(f"s{at}", box, curve)
        one = Carried(DATA, full_id, "", 1, "store", 10**15, blob, 1, 0, None)
        entries.append(entry_of(one, curve))
    rows, others = read_plain(Entries.of(entries), curve, 0)
    assert not len(others)
    assert [*rows.lowest] == rows.lowest[:] == lowest
    assert rows.lowest.as_floats().tolist() == [float(index) for index in lowest]


# -- the collector of cycles


def test_the_collector_works_again_when_the_last_is_done() -> None:
    """Of two that let it rest the later one ended last, and left it off for ever."""
    first, second = no_collections(), no_collections()
    for step in (first.__enter__, second.__enter__):
        step()
        assert not gc.isenabled()
    first.__exit__(None, None, None)
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_who_left_it_off_finds_it_off() -> None:
    gc.disable()
    try:
        with no_collections():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("count", [100, 2 * WORTH_AGEING])
def test_only_many_objects_count_as_old_at_once(count: int) -> None:
    """What becomes old so is not counted, and a simulation that starts a peer again and again never
    looked at its old objects: each ring that was over stayed in memory, a hundred megabytes."""
    gc.collect()
    with no_collections():
        made = [[] for _ in range(count)]  # type: ignore[var-annotated]
    young = {id(one) for one in gc.get_objects(generation=0)}
    assert (id(made[0]) in young) is (count < WORTH_AGEING)


def test_a_peer_that_falls_while_it_reads_leaves_the_collector_on() -> None:
    """Nobody goes on with what it was about, in a simulation: 24 gigabytes of rings that were long
    over lay in memory."""
    overlay = build(1, 4, disk_s=0.05)
    store_some(overlay, overlay.client(), Random(1), 8)
    first, second, *_ = overlay.living
    crash(first, second)
    for one in (first, second):
        overlay.kernel.spawn(overlay.restart(one))
    overlay.run_for(0.01)
    assert gc.isenabled()
    overlay.run_for(5.0)
    assert gc.isenabled()


async def test_peers_that_read_their_files_at_once_leave_the_collector_on(tmp_path: Path) -> None:
    peers = [meteor.Peer(space=SPACE, data_dir=tmp_path / name) for name in ("a", "b", "c")]
    await asyncio.gather(*(peer.start() for peer in peers))
    try:
        assert gc.isenabled()
    finally:
        await asyncio.gather(*(peer.close() for peer in peers))
