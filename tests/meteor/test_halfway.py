"""What one peer remembers of replaces that came halfway: one shelf, no ring."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from meteor.keeping.holdings import Holdings
from meteor.keeping.placement import GONE, MOVED, Admission, key_of
from meteor.rendezvous.halfway import HALFWAY_MAX, LEFT_ALONE_S, Halfway
from meteor.rendezvous.task import Task
from meteor.wire.entropy_messages import RecordState
from meteor.wire.operations import Carried, Operation
from meteor.wire.record_id import place_of
from squid import Intervals
from tests.meteor.test_shelf import CURVE, EVERYTHING, World, carried

OLD, NEW = "type=oven temperature=3 humidity=3", "type=lamp temperature=-40..120"


def asked(text: str, verb: str = "retrieve") -> Task:
    box = place_of(carried("question", text, kind="interest").id, CURVE)[1]
    return Task(b"", box, Operation(verb, "", 1, "", 0), None)


def lies_at(one: Carried) -> Intervals:
    lowest = CURVE.encode(place_of(one.id, CURVE)[1].low)
    return ((lowest, lowest),)


class Peer:
    """It has the new versions, and had the old ones."""

    def __init__(self, count: int = 1, held: Intervals = ()) -> None:
        self.world = World()
        self.halfway = Halfway(self.world.shelf, Holdings(held), CURVE, lambda: held)
        self.old = [carried(f"s{at}", OLD, version=1) for at in range(count)]
        self.new = [carried(f"s{at}", NEW, version=2) for at in range(count)]
        self.comes(*self.new)
        for one in self.old:
            self.halfway.note(one, 0.0)

    def comes(self, *carried: Carried) -> None:
        self.world.run(self.world.shelf.admit(carried, Admission()))

    def untold(self, text: str, part: Intervals, after_s: float = -inf) -> Intervals:
        return self.halfway.untold(asked(text), part, after_s)


def test_who_asks_for_the_old_place_alone_is_told_of_nothing() -> None:
    peer = Peer()
    part = lies_at(peer.old[0])
    assert peer.untold(OLD, part) == part
    assert peer.untold(NEW, part) == ()
    assert peer.halfway.untold(asked(OLD, "delete_data"), part) == part
    assert peer.halfway.untold(asked(OLD, "notify_data"), part) == ()


def test_who_is_told_of_the_new_one_misses_nothing() -> None:
    peer = Peer()
    assert peer.untold("type=*", EVERYTHING) == ()
    assert peer.untold("type=*", lies_at(peer.old[0])) == lies_at(peer.old[0])


def test_it_is_over_with_word_of_this_move_or_with_the_record() -> None:
    old, new = carried("s0", OLD, version=1), carried("s0", NEW, version=2)
    for last, is_over in [
        (replace(old, kind=MOVED, moved_to="s0.elsewhere"), False),
        (replace(old, kind=MOVED, version=2, moved_to=new.id), True),
        (replace(new, kind=GONE), True),
    ]:
        peer = Peer()
        peer.comes(replace(last, blob=b""))
        assert (peer.untold(OLD, lies_at(old)) == ()) is is_over


def test_what_took_its_place_stays_until_word_comes_whoever_keeps_the_new_place_by_then() -> None:
    """It is all that the old place's holder, or copy, knows of where the record is."""
    old, new = carried("s0", OLD, version=1), carried("s0", NEW, version=2)
    state = RecordState(old.owner, old.id, old.kind, old.version, 0)
    for is_found, held, stays in [
        (False, lies_at(old), True), (True, lies_at(old), True), (False, (), False),
    ]:  # fmt: skip
        peer, heard = Peer(1, held), list[str]()
        if is_found:
            peer.halfway.found(state, new, 0.0)
        peer.halfway.over = lambda placed, heard=heard: heard.append(placed.carried.id)
        peer.world.shelf.forget_outside(held)
        assert (peer.world.shelf.find(key_of(new)) is not None) is stays
        if not stays:
            continue
        assert peer.untold(OLD, held) == held
        peer.comes(replace(old, kind=MOVED, version=2, blob=b"", moved_to=new.id))
        assert peer.halfway.due(10.0) == []
        assert heard == [new.id], "it may go now"
        peer.world.shelf.forget_outside(held)
        assert peer.world.shelf.find(key_of(new)) is None


def test_of_more_than_can_be_looked_at_all_that_is_asked_there_is_missing() -> None:
    peer = Peer(HALFWAY_MAX + 1)
    part = lies_at(peer.new[0])
    assert peer.untold(OLD, part) == part
    assert peer.untold(OLD, part, 0.0) == (), "nobody waits for so many"
    assert peer.untold("type=zebra", part) == (), "who asks elsewhere misses nothing of them"
    assert len(peer.halfway) == HALFWAY_MAX + 1
    word = replace(peer.old[0], kind=MOVED, version=2, blob=b"", moved_to=peer.new[0].id)
    peer.comes(word)
    peer.untold(OLD, part)
    assert len(peer.halfway) == HALFWAY_MAX


def test_what_was_tried_in_vain_comes_behind_the_others() -> None:
    peer = Peer(3, EVERYTHING)
    due = [half.key[1] for half, _ in peer.halfway.due(10.0)]
    assert due == ["s0", "s1", "s2"]
    peer.halfway.put_off(next(half for half, _ in peer.halfway.due(10.0)))
    assert [half.key[1] for half, _ in peer.halfway.due(10.0)] == ["s1", "s2", "s0"]
    assert peer.halfway.due(LEFT_ALONE_S / 2) == []


def test_what_is_deleted_where_it_went_is_to_leave_where_it_was_at_once_and_once() -> None:
    peer = Peer()
    stone = replace(peer.new[0], kind=GONE, blob=b"")
    peer.comes(stone)
    assert peer.untold(OLD, lies_at(peer.old[0])) == ()
    ((half, placed),) = peer.halfway.due(0.0)
    assert placed.carried.kind == GONE
    word = peer.halfway.word_back(half, stone)
    assert word is not None
    assert (word.id, word.moved_to, word.version) == (peer.new[0].id, peer.old[0].id, 1)
    assert peer.halfway.word_back(half, stone) is None
    assert peer.halfway.due(10.0) == []


def test_what_another_holder_has_of_an_earlier_version_is_due_as_if_it_had_been_here() -> None:
    """It is started again, and remembers nothing."""
    peer = Peer(0)
    old, new = carried("s0", OLD, version=1), carried("s0", NEW, version=2)
    peer.comes(new)
    state = RecordState(old.owner, old.id, old.kind, old.version, 0)
    peer.halfway.found(state, new, 1.0)
    peer.halfway.found(state, new, 1.5)
    assert peer.halfway.due(1.0 + LEFT_ALONE_S - 0.1) == []
    ((half, placed),) = peer.halfway.due(1.0 + LEFT_ALONE_S)
    assert (half.old_id, placed.carried.id) == (old.id, new.id)
    peer.comes(replace(old, kind=MOVED, version=2, blob=b"", moved_to=new.id))
    assert peer.halfway.due(100.0) == []


def test_what_a_hostile_peer_describes_is_nowhere() -> None:
    peer = Peer(0)
    new = carried("s0", NEW, version=2)
    peer.comes(new)
    peer.halfway.found(RecordState("", "s0.nowhere", "data", 1, 0), new, 1.0)
    assert peer.halfway.due(100.0) == []
