"""What is replaced by the id that it had once goes from where it is now, too."""

from __future__ import annotations

import pytest

from meteor.wire.codec import wire_codec
from meteor.wire.record_id import split_id
from sim.overlay import Overlay
from tests.meteor.building import SPACE


def place(number: int) -> dict[str, object]:
    return {
        "type": "badge", "temperature": -40 + number * 37 % 150, "humidity": number * 61 % 100
    }  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_record_that_moved_on_is_found_by_its_newest_content_alone(seed: int) -> None:
    """Renewing and cancelling by an old id follow the record (DESIGN section 4).  Replacing left
    word of the third place at the first, and at the second the record: found by the content before,
    until its ttl ran out, and a cancel by the newest id left it."""
    overlay = Overlay(codec=wire_codec(), peers=12, space=SPACE, seed=seed)
    client = overlay.client(peer=2)

    async def scenario() -> None:
        stored = await client.store(place(0), "0")
        for number in range(1, 6):
            await client.replace(stored.id, place(number), str(number))
            texts = [[one.text for one in await client.retrieve(place(at))] for at in range(6)]
            assert texts == [[str(number)] if at == number else [] for at in range(6)]
        assert (await client.cancel(stored.id)).matches == 1
        assert await client.retrieve("type=badge") == []

    overlay.run(scenario())


def test_back_and_forth_it_is_where_it_went_last() -> None:
    overlay = Overlay(codec=wire_codec(), peers=12, space=SPACE, seed=1)
    client = overlay.client(peer=2)

    async def scenario() -> None:
        stored = await client.store(place(0), "0")
        newest, first = stored.id, stored.id
        for turn, number in enumerate([1, 0, 2, 1, 0, 3, 0, 1]):
            by = newest if turn % 2 or number == 0 else first
            newest = (await client.replace(by, place(number), str(turn))).id
            texts = [[one.text for one in await client.retrieve(place(at))] for at in range(4)]
            assert texts == [[str(turn)] if at == number else [] for at in range(4)]

    overlay.run(scenario())


@pytest.mark.parametrize("steps", [5, 9, 12, 40])
def test_however_often_it_moved_since(steps: int) -> None:
    """After eight places the rest was left: the record was there by the content before, too."""
    overlay = Overlay(codec=wire_codec(), peers=12, space=SPACE, seed=3)
    mover, other = overlay.client(), overlay.client(peer=4)

    async def scenario() -> None:
        stored = newest = await mover.store(place(0), "0")
        for number in range(1, steps + 1):
            newest = await mover.replace(newest.id, place(number), str(number))
        assert (await other.renew(stored.id)).matches == 1
        there = {"type": "lamp", "temperature": 3, "humidity": 3}
        assert (await other.replace(stored.id, there, "new")).complete
        assert await mover.retrieve("type=badge") == []
        assert [one.text for one in await mover.retrieve("type=lamp")] == ["new"]

    overlay.run(scenario())


@pytest.mark.parametrize("verb", ["replace", "cancel"])
def test_where_it_was_not_looked_for_is_missing(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("amending", "place_to_place"):
        monkeypatch.setattr(f"meteor.rendezvous.{module}.PLACES_MAX", 1)
    overlay = Overlay(codec=wire_codec(), peers=12, space=SPACE, seed=1)
    client = overlay.client(peer=2)

    async def scenario() -> None:
        stored = await client.store(place(0), "0")
        moved = await client.replace(stored.id, place(1), "1")
        if verb == "replace":
            receipt = await client.replace(stored.id, place(2), "2", allow_partial=True)
        else:
            receipt = await client.cancel(stored.id, allow_partial=True)
        assert not receipt.complete
        index = SPACE.curve.encode(split_id(moved.id, SPACE.curve)[1].low)
        assert receipt.missing == ((index, index),)

    overlay.run(scenario())
