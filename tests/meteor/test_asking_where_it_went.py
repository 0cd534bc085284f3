"""What moves on while it is looked for: followed from place to place, and named where it was not
found in the end."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from meteor.rendezvous.asking import MOVES_MAX, Asking
from meteor.rendezvous.moves import Moves
from meteor.security.gatekeeper import Gatekeeper
from meteor.wire import codec
from meteor.wire.collector import Relay
from meteor.wire.operations import Carried, Operation, Summary
from meteor.wire.record_id import make_id, split_id
from meteor.wire.went import telling
from squid import Box, HilbertCurve, Outcome
from tests.meteor.building import SPACE

CURVE = HilbertCurve(2, 4)
WHOLE = Box((0, 0), (15, 15))
MANY = random.Random(7).sample([(x, y) for x in range(16) for y in range(16)], 40)


def at(stem: str, place: tuple[int, int]) -> str:
    return make_id(stem, Box(place, place), CURVE)


class MovesOn:
    """A ring in one piece: each asking tells of what has moved from the places that it asks, and
    finds nothing there, as all has gone on when it comes."""

    def __init__(self, ways: Sequence[Sequence[str]]) -> None:
        self.asked: list[Box] = []
        self.later: list[list[str]] = []
        """What begins to move when all has been asked once."""
        self._moves, self._ways = Moves(CURVE), [list(way) for way in ways]
        self._version = 1
        self._step()

    def _step(self) -> None:
        for way in self._ways:
            if len(way) > 1:
                old = way.pop(0)
                self._version += 1
                word = Carried("data", old, "", self._version, "store", 0, b"", 0, 0, None)
                self._moves.note(old, way[0], word, now=0.0, is_data=True)

    async def disseminate(self, box: Box, body: bytes, **_: Any) -> Outcome:
        self.asked.append(box)
        told = self._moves.from_within(box, (), 0.0, lambda _: True, is_data=True).went
        self._ways += self.later
        self.later = []
        self._step()
        summary = codec.encode(telling(Summary(0), told))
        return Outcome(True, (), ((cast("Any", None), summary),), 1, 1)

    def ask(self) -> Outcome:
        runtime = SimpleNamespace(now=lambda: 0.0)
        asking = Asking(
            cast("Any", runtime), cast("Any", self), CURVE, Gatekeeper(SPACE, lambda: 0.0)
        )
        relay = Relay(waits_for_reply=False)
        question = Operation("retrieve", "", 1, "", 0)
        outcome, _ = asyncio.run(
            asking.ask(WHOLE, question, 1.0, relay, lambda *_: None, asks=True)
        )
        return outcome


def test_what_moves_on_is_followed_from_place_to_place() -> None:
    """The second place is asked alone, which says where it went from there all the same."""
    way = [at("badge", place) for place in MANY[:4]]
    ring = MovesOn([way])
    assert ring.ask().complete
    assert ring.asked == [WHOLE, *(split_id(one, CURVE)[1] for one in way[1:])]


def test_what_goes_to_and_fro_is_followed_too() -> None:
    """It was asked for at each of both places once, and then the answer said that it was complete,
    without what had lived all the time."""
    one, other = MANY[:2]
    ring = MovesOn([[at("badge", place) for place in (one, other, one, other, one)]])
    assert ring.ask().complete
    assert ring.asked == [WHOLE, *(Box(place, place) for place in (other, one, other, one))]


def test_what_went_to_and_fro_before_and_is_not_selected_is_asked_for_once() -> None:
    one, other = MANY[:2]
    ring = MovesOn([[at("badge", place) for place in (one, other, one)]])
    ring._step()
    assert ring.ask().complete
    assert ring.asked == [WHOLE, Box(one, one)]


def test_what_moves_on_each_time_is_named_in_the_end() -> None:
    way = [at("badge", place) for place in MANY[: MOVES_MAX + 3]]
    ring = MovesOn([way])
    outcome = ring.ask()
    assert not outcome.complete
    assert len(ring.asked) == 1 + MOVES_MAX
    last = CURVE.encode(MANY[MOVES_MAX + 1])
    assert outcome.missing == ((last, last),)


def test_what_was_at_its_place_at_first_is_not_looked_for() -> None:
    """Where much moves, each asking hears of more: of what had not moved before the first was
    over, and was found by it."""
    corners = [(0, 0), (15, 15)]
    soon = [[at(f"n{n}", MANY[n]), at(f"n{n}", corner)] for n, corner in enumerate(corners)]
    ring = MovesOn(soon)
    ring.later = [[at(f"late{n}", MANY[n]), at(f"late{n}", MANY[n + 9])] for n in range(5)]
    assert ring.ask().complete
    assert ring.asked == [WHOLE, WHOLE]
