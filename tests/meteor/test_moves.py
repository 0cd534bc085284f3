"""What was replaced while it was asked for: found by the new content, never by neither."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

import meteor
from chord import replace
from meteor.rendezvous.moves import KEPT_MAX, KEPT_S, TOLD_MAX, Moves, region_of
from meteor.wire.codec import wire_codec
from meteor.wire.operations import Carried
from meteor.wire.record_id import make_id
from meteor.wire.went import Went
from sim.overlay import Overlay
from squid import Box, HilbertCurve
from tests.meteor.building import SPACE

CURVE = HilbertCurve(2, 8)
ALL = ((0, CURVE.size - 1),)
ANYBODYS = Carried("data", "a", "", 1, "store", 0, b"", 0, 0, None)


def went(stem: str, x: int, y: int) -> Went:
    return Went(1, at(stem, x, y))


def at(stem: str, x: int, y: int) -> str:
    return make_id(stem, Box((x, y), (x, y)), CURVE)


def test_a_move_is_told_to_queries_of_its_old_place_while_it_is_fresh() -> None:
    moves = Moves(CURVE)
    moves.note(at("a", 1, 1), at("a", 9, 9), ANYBODYS, now=100.0, is_data=True)
    both, old, new = Box((0, 0), (20, 20)), Box((0, 0), (5, 5)), Box((6, 6), (20, 20))

    def told_in(box: Box, now: float, sees: Callable[[Carried], bool] = bool) -> list[Went]:
        return moves.from_within(box, ALL, now, sees, is_data=True).went

    assert told_in(both, 100.0) == [went("a", 9, 9)]
    assert told_in(both, 100.0, lambda carried: carried.owner != "") == []
    assert told_in(old, 100.0) == [went("a", 9, 9)]
    assert told_in(new, 100.0) == []
    assert told_in(both, 100.0 + KEPT_S) == [went("a", 9, 9)]
    assert told_in(both, 100.1 + KEPT_S) == []
    assert len(moves) == 0


def test_of_a_word_alone_nobody_knows_what_moved_and_both_are_told() -> None:
    moves, box = Moves(CURVE), Box((0, 0), (20, 20))
    for number, is_data in enumerate([True, False, None]):
        old, new = at(f"n{number}", 1, 1), at(f"n{number}", 9, 9)
        moves.note(old, new, ANYBODYS, now=100.0, is_data=is_data)
    data = moves.from_within(box, ALL, 100.0, bool, is_data=True).went
    interests = moves.from_within(box, ALL, 100.0, bool, is_data=False).went
    assert data == [went("n2", 9, 9), went("n0", 9, 9)]
    assert interests == [went("n2", 9, 9), went("n1", 9, 9)]


def test_moves_are_bounded_and_the_oldest_goes_first() -> None:
    moves = Moves(CURVE)
    for number in range(KEPT_MAX + 1):
        moves.note(
            at(f"n{number}", 1, 1),
            at(f"n{number}", 2, 2),
            ANYBODYS,
            now=number / KEPT_MAX,
            is_data=True,
        )
    assert len(moves) == KEPT_MAX
    told, since_s = moves.from_within(Box((0, 0), (3, 3)), ALL, 1.0, bool, is_data=True)
    assert len(told) == TOLD_MAX
    assert told[0] == went(f"n{KEPT_MAX}", 2, 2)
    before = KEPT_MAX - TOLD_MAX
    assert before < since_s * KEPT_MAX < before + 1, "the last that is not told is before that"
    nowhere = moves.from_within(Box((9, 9), (9, 9)), ALL, 1.0, bool, is_data=True)
    assert nowhere.went == []
    assert 0 < nowhere.since_s < 1 / KEPT_MAX, "the first one is forgotten, wherever it was"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_told_is_what_looking_at_each_of_them_finds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its dumb twin: a list.  Moves are kept by column, as to look at four thousand boxes one by
    one took 25 ms for each question."""
    print(f"seed {seed}")
    monkeypatch.setattr("meteor.rendezvous.moves.KEPT_MAX", 90)
    monkeypatch.setattr("meteor.rendezvous.moves.TOLD_MAX", 20)
    drawn, moves, now = Random(seed), Moves(CURVE), 0.0
    known: list[tuple[float, str, Box, bool, Went]] = []
    for step in range(600):
        now += drawn.expovariate(10.0)
        low = drawn.randrange(40), drawn.randrange(40)
        size = drawn.randrange(4)
        place, is_data = Box(low, (low[0] + size, low[1] + size)), drawn.random() < 0.7
        old, new = make_id(f"n{step % 150}", place, CURVE), at(f"n{step % 150}", 60, 60)
        moves.note(old, new, replace(ANYBODYS, version=step), now, is_data=is_data)
        known = [one for one in known if one[1] != old and now - one[0] <= KEPT_S]
        known = [*known, (now, old, place, is_data, Went(step, new))][-90:]
        assert len(moves) == len(known)
        box = Box(low, (low[0] + 12, low[1] + 12))
        found = [one[4] for one in reversed(known) if one[3] and one[2].intersection(box)]
        seen = [went for went in found if went.version % 3]
        told = moves.from_within(box, ALL, now, lambda one: one.version % 3 > 0, is_data=True)
        assert told.went == seen[:20]


def test_the_region_to_ask_again_lies_in_the_querys_own() -> None:
    box = Box((0, 0), (10, 10))
    assert region_of([at("a", 2, 3), at("b", 7, 1)], box, CURVE) == Box((2, 1), (7, 3))
    assert region_of([at("a", 2, 3)], box, CURVE) == Box((2, 3), (2, 3))
    assert region_of([at("a", 11, 3), "rubbish", "a.rubbish"], box, CURVE) is None
    assert region_of([], box, CURVE) is None


@pytest.mark.parametrize("seed", [1, 2])
def test_a_replaced_profile_is_never_found_by_neither_content(seed: int) -> None:
    """Queries under way while it moves see it, once, and never a profile that is over."""
    overlay = Overlay(codec=wire_codec(), peers=12, space=SPACE, seed=seed)
    mover, asker = overlay.client(), overlay.client(peer=4)
    made = overlay.run(mover.store("type=badge temperature=0 humidity=0", b"0", id="badge"))
    acknowledged = [0]

    async def move(receipt: meteor.Receipt) -> None:
        for step in range(1, 40):
            where = f"temperature={step * 37 % 120} humidity={step * 61 % 100}"
            receipt = await mover.replace(receipt.id, f"type=badge {where}", str(step))
            acknowledged[0] = step

    async def ask() -> list[int]:
        counts = []
        while not moving.done():
            before = acknowledged[0]
            matches = await asker.retrieve("type=badge")
            counts.append(len(matches))
            assert all(int(match.text) >= before for match in matches)
        return counts

    moving = overlay.kernel.spawn(move(made))
    askers = [overlay.kernel.spawn(ask()) for _ in range(3)]

    async def all_asked() -> list[int]:
        await moving
        return [count for one in askers for count in await one]

    counts = overlay.run(all_asked())
    assert len(counts) > 40
    assert set(counts) == {1}
    (last,) = overlay.run(asker.retrieve("type=badge").all())
    assert last.text == "39"


def test_after_a_move_the_old_content_finds_nothing() -> None:
    overlay = Overlay(codec=wire_codec(), peers=12, space=SPACE, seed=3)
    client = overlay.client()
    receipt = overlay.run(client.store("type=badge temperature=0 room=1", b"1"))
    receipt = overlay.run(client.replace(receipt.id, "type=badge temperature=60 room=2", b"2"))
    overlay.run(client.replace(receipt.id, "type=badge temperature=120 room=3", b"3"))
    for room, expected in (("1", []), ("2", []), ("3", ["3"])):
        matches = overlay.run(client.retrieve(f"type=badge room={room}").all())
        assert [match.text for match in matches] == expected
