"""What is owed is brought along while a later word on the same record is on its way to the journal:
written behind that, it would be what a restart finds.  And there may be more of it than one message
takes."""

from __future__ import annotations

from dataclasses import replace

from meteor.keeping.placement import GONE, Admission
from meteor.keeping.readable_shelf import PAGE_BYTES
from meteor.keeping.shelf import OWED_AT_ONCE
from meteor.wire.operations import Carried
from tests.meteor.test_shelf import EVERYTHING, World, carried

WIDE = "type=*"


def owing(*records: Carried) -> World:
    """Another holder wrote these here, and nobody else has them."""
    world = World()
    world.run(world.shelf.admit(records, Admission()))
    world.shelf.owe([placed.carried for placed in world.shelf.table], EVERYTHING)
    return world


def test_a_tombstone_that_is_on_its_way_stays_the_last_word() -> None:
    record = carried("lamp", WIDE, number=7)
    world = owing(record)

    async def bring_along() -> None:
        await world.kernel.sleep(0.005)
        for some in world.shelf.owed_in(EVERYTHING):
            await world.shelf.write(some)

    stone = replace(record, kind=GONE, number=9, blob=b"")
    world.run(world.shelf.admit([stone], Admission()), bring_along())
    assert [placed.carried.kind for placed in world.restarted().table] == [GONE]
    assert len(world.shelf.owed) == 1, "whoever wrote the stone has it noted as owed then"


def test_no_page_of_it_is_more_than_a_message_takes() -> None:
    payload = b"x" * (PAGE_BYTES // 3)
    world = owing(*(carried(f"s{at}", WIDE, number=at, data=payload) for at in range(1, 9)))
    pages = list(world.shelf.owed_in(EVERYTHING))
    assert [len(page) for page in pages] == [3, 3, 2]


def test_what_was_paid_between_two_pages_is_not_in_the_second() -> None:
    payload = b"x" * PAGE_BYTES
    world = owing(*(carried(f"s{at}", WIDE, number=at, data=payload) for at in (1, 2)))
    pages = world.shelf.owed_in(EVERYTHING)
    next(pages)
    world.shelf.paid([placed.carried for placed in world.shelf.table], ())
    assert list(pages) == []


def test_who_looks_in_vain_stops_now_and_then() -> None:
    names = [f"s{at}" for at in range(OWED_AT_ONCE + 1)]
    world = owing(*(carried(one, WIDE, number=at) for at, one in enumerate(names, 1)))
    assert list(world.shelf.owed_in((), None)) == [[]]
    found = [one.id for page in world.shelf.owed_in(EVERYTHING) for one in page]
    assert len(found) == len(set(found)) == OWED_AT_ONCE + 1


def test_who_names_a_record_waits_for_that_one_alone() -> None:
    world = owing(carried("one", WIDE, number=1), carried("other", WIDE, number=2))
    ((one,),) = world.shelf.owed_in(EVERYTHING, [("", "one"), ("", "none")])
    assert one.id.startswith("one.")


def test_who_selects_waits_for_what_is_there() -> None:
    world = owing(carried("lamp", "type=lamp", number=1), carried("oven", "type=oven", number=2))
    box = world.shelf.table["", "oven"].box
    ((one,),) = world.shelf.owed_in(EVERYTHING, None, box)
    assert one.id.startswith("oven.")


def test_what_is_answered_for_elsewhere_is_owed_no_more() -> None:
    world = owing(carried("one", WIDE, number=1))
    world.shelf.owes_within(world.shelf.owed, EVERYTHING)
    assert len(world.shelf.owed) == 1
    world.shelf.owes_within(world.shelf.owed, ())
    assert len(world.shelf.owed) == 0


def test_of_what_nobody_looked_at_a_point_is_with_all_copies() -> None:
    """It has one holder, from whom they have it too."""
    world = World()
    wide, point = (
        carried("wide", WIDE, number=1),
        carried("point", "type=a temperature=1 humidity=1", number=2),
    )
    world.run(world.shelf.admit([wide, point], Admission()))
    keys = [("", "wide"), ("", "point"), ("", "gone since")]
    world.shelf.owed.note_all(keys)
    pages = world.shelf.owed_in(EVERYTHING)
    assert [one.id for page in pages for one in page] == [wide.id]
    assert list(world.shelf.owed) == [("", "wide")]
    world.shelf.paid([wide], ())
    assert len(world.shelf.owed) == 0


def test_what_was_noted_as_it_came_stays_so() -> None:
    world = owing(carried("wide", WIDE, number=1, version=3))
    world.shelf.owed.note_all([("", "wide")])
    world.shelf.paid([carried("wide", WIDE, number=1, version=2)], ())
    assert len(world.shelf.owed) == 1


def test_what_cannot_be_read_is_news_to_nobody() -> None:
    """Another peer says it, and what can be read of the same message counts."""
    world, fine = World(), carried("fine", WIDE, number=1)
    strange = [replace(fine, id=one) for one in ("fine", "fine.x", "", ".", "a.b.c", "fine.\0")]
    assert [one.id for one in world.shelf.news_of([*strange, fine], EVERYTHING)] == [fine.id]
