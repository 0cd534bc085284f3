"""What is written while other words on the same record are on their way: a restart finds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chord import Contact, RingState
from meteor.journal.journal import Scan
from meteor.keeping.placement import GONE, MOVED, Admission, key_of
from meteor.keeping.views import Views
from meteor.rendezvous.ring_note import RingNote
from meteor.wire.operations import Carried
from sim.network import Network
from sim.runtime import SimRuntime
from tests.meteor.test_shelf import HERE, World, carried


@pytest.mark.parametrize("kind", [GONE, "data"])
def test_a_journal_that_begins_anew_has_what_is_durable_and_waits_for_its_copies(kind: str) -> None:
    """A change is durable here and shows when the copies have it as well: between the two it is
    neither on its way to the journal nor among what shows."""
    world, before = World(), carried("it", "type=a temperature=1", number=3)
    world.run(world.shelf.admit([before], Admission()))
    after = carried("it", "type=a temperature=1", version=2)
    if kind == GONE:
        after = replace(before, kind=GONE, blob=b"", ttl_ms=10**10)
    after = replace(after, ttl_ms=after.ttl_ms + world.shelf.wall_ms())
    numbered = world.shelf.begin([after])
    world.run(world.shelf.commit(numbered))
    world.run(world.shelf.rewrite(Views()))  # what had been damaged is here again
    for one in numbered:
        world.shelf.show(one)
    world.shelf.end(numbered)
    found = world.restarted().find(key_of(after))
    assert found is not None
    assert (found.carried.kind, found.carried.version) == (kind, after.version)


def test_a_journal_that_begins_anew_does_not_bring_back_what_was_deleted_meanwhile() -> None:
    """A renewal waits for a copy; another holder's tombstone came after it."""
    world, before = World(), carried("it", "type=a temperature=1", number=3)
    world.run(world.shelf.admit([before], Admission()))
    renewed = replace(before, renewed=9, ttl_ms=60_000 + world.shelf.wall_ms())
    numbered = world.shelf.begin([renewed])
    world.run(world.shelf.commit(numbered))
    stone = replace(before, kind=GONE, blob=b"", ttl_ms=10**9, number=4)
    world.run(world.shelf.admit([stone], Admission()))
    world.run(world.shelf.rewrite(Views()))
    world.shelf.end(numbered)
    found = world.restarted().find(key_of(before))
    assert found is not None
    assert found.carried.kind == GONE


def moved() -> tuple[Carried, Carried, Carried]:
    """A record, its next version elsewhere, and the word of that at the old place."""
    before = carried("it", "type=a temperature=1", number=3)
    after = carried("it", "type=b temperature=90", version=2, number=4)
    assert before.id != after.id
    word = replace(
        before, kind=MOVED, version=2, blob=b"", ttl_ms=10**9, moved_to=after.id, number=5
    )
    return before, after, word


def test_the_word_of_a_move_does_not_erase_what_moved_here() -> None:
    """Both places lie at one copy.  A page has brought the next version, as the copy is just being
    filled there, and the word at the old place comes while that is on its way to the disk."""
    world = World()
    before, after, word = moved()
    world.run(world.shelf.admit([before], Admission()))
    world.run(world.shelf.admit([after], Admission()), world.shelf.admit([word], Admission()))
    for shelf in (world.shelf, world.restarted()):
        found = shelf.find(key_of(after))
        assert found is not None
        assert (found.carried.id, found.carried.version) == (after.id, 2)


def test_a_journal_that_begins_anew_has_what_others_wrote_while_it_was_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The note of the ring as it was before came back: who was restarted then asked peers that had
    left long ago."""
    world = World()
    journal = world.shelf._journal
    scan = journal.scan
    runtime = SimRuntime(world.kernel, Network(world.kernel), HERE)
    note = RingNote(journal, runtime)
    world.shelf.others = note.entries
    before = RingState(HERE, Contact(2, "two:1"), (Contact(4, "four:1"),), ())
    after = replace(before, predecessor=Contact(7, "seven:1"))
    note.keep(before)
    world.kernel.run(until_s=world.kernel.now() + 1.0)

    async def slowly() -> Scan:
        found = await scan()
        note.keep(after)
        await world.kernel.sleep(1.0)
        return found

    monkeypatch.setattr(journal, "scan", slowly)
    world.run(world.shelf.rewrite(Views()))
    monkeypatch.undo()
    assert world.run(note.read()) == [after]
