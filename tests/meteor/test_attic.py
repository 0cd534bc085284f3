"""The attic against a plain dictionary, and over the journal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from meteor.keeping import attic as attic_module
from meteor.keeping.attic import LOOKED_AT, PAGE_BYTES, Attic
from meteor.keeping.placement import Admission
from meteor.keeping.views import Views
from meteor.wire.operations import Carried
from meteor.wire.record_id import split_id
from meteor.wire.view import View
from tests.meteor.test_shelf import CURVE, EVERYTHING, HERE, World, carried

WHOLE = EVERYTHING[0]


def ids(attic: Attic, *lots: int) -> list[str]:
    """Everything in some lots, page by page."""
    found, cursor, more = [], 0, True
    while more:
        page = attic.page(lots, WHOLE, cursor, lambda one: one)
        found += [one.id for one in page.carried]
        assert page.cursor > cursor or not page.more
        cursor, more = page.cursor, page.more
    return found


def some(count: int, size: int = 0) -> list[Carried]:
    found = [carried(f"s{n}", f"type=a temperature={n}", number=n, ttl_ms=9) for n in range(count)]
    return [replace(one, blob=one.blob + bytes(size)) for one in found]


def test_a_lot_is_what_was_put_into_it() -> None:
    attic, records = Attic(CURVE), some(12)
    first, second = attic.put(records[:8]), attic.put(records[5:])
    assert ids(attic, first) == [one.id for one in records[:8]]
    assert ids(attic, second) == [one.id for one in records[5:]]
    assert len(attic) == 8 + 7
    attic.keep_only({second})
    assert ids(attic, first) == []
    assert ids(attic, second) == [one.id for one in records[5:]]


def test_large_lots_come_in_pages() -> None:
    attic, records = Attic(CURVE), some(30, PAGE_BYTES // 10)
    lot = attic.put(records)
    assert attic.page((lot,), WHOLE, 0, lambda one: one).more
    assert ids(attic, lot) == [one.id for one in records]


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[None]:
    """One entry for each call of a function of the attic's."""
    real, calls = getattr(attic_module, name), list[None]()

    def calling(*args: Any) -> Any:
        calls.append(None)
        return real(*args)

    monkeypatch.setattr(attic_module, name, calling)
    return calls


def test_who_asks_for_all_pages_goes_through_lots_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them were put in order for each page: of 30,000, 228 times."""
    attic, records = Attic(CURVE), some(400, PAGE_BYTES // 4)
    lots = attic.put(records[:300]), attic.put(records[200:])
    compared = counted(monkeypatch, "_by_number")
    assert ids(attic, *lots) == [one.id for one in (*records[:300], *records[200:])]
    assert len(compared) <= 20 * len(records), "once, and a search for where a page begins"


def test_a_page_is_looked_for_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many records few may live in an interval: the loop was held until all were looked at."""
    attic, last = Attic(CURVE), carried("last", "type=a temperature=-10", number=1, ttl_ms=9)
    lot, found, cursor, more = attic.put([*some(3 * LOOKED_AT), last]), [], 0, True
    lowest = CURVE.next_match(split_id(last.id, CURVE)[1], 0)
    assert lowest is not None
    looked = counted(monkeypatch, "split_id")
    while more:
        page = attic.page((lot,), (lowest, lowest), cursor, lambda one: one)
        found += [one.id for one in page.carried]
        assert page.cursor > cursor or not page.more
        cursor, more = page.cursor, page.more
        assert len(looked) <= LOOKED_AT
        looked.clear()
    assert found == [last.id]


def test_what_has_expired_stays_where_it_is() -> None:
    attic, records = Attic(CURVE), some(3)
    lot = attic.put(records)
    page = attic.page((lot,), WHOLE, 0, lambda one: replace(one, ttl_ms=0))
    assert page.carried == ()


def test_each_lot_is_written_once_and_read_back() -> None:
    """Beside what is on the shelf under the same identities; what is let go is gone there too."""
    world, views = World(), Views()
    later = int(world.wall_clock() * 1000) + 60_000
    old = [carried(f"x{n}", f"type=a temperature={n}", ttl_ms=later) for n in range(5)]
    old_view = View(HERE, 1, 1, EVERYTHING, ())
    views.restore([old_view], whole=True)
    world.run(world.shelf.admit([replace(one, ttl_ms=60_000) for one in old], Admission()))
    views.store(old_view, world.shelf.store_lot(EVERYTHING))
    world.run(world.shelf.note(views))
    new = replace(old[0], version=2, ttl_ms=60_000)
    world.run(world.shelf.admit([new], Admission()))
    for _ in range(2):
        shelf = world.new_shelf(world.disk.journal("shelf"))
        (restored,) = world.run(shelf.restore())
        ((stored),) = restored.note.stored
        assert stored.view == old_view
        page = shelf.attic.page((stored.lot,), WHOLE, 0, shelf.outgoing)
        assert {(one.id, one.version) for one in page.carried} == {(one.id, 1) for one in old}
        again = Views()
        again.restore((), restored.note.stored, whole=True)
        world.run(shelf.rewrite(again))  # the second time from a journal begun anew
    shelf.attic.keep_only(())
    again.forget_stored(EVERYTHING)
    world.run(shelf.note(again))
    last = world.new_shelf(world.disk.journal("shelf"))
    world.run(last.restore())
    assert len(last.attic) == 0
    assert last.find(("", "x0")) is not None
