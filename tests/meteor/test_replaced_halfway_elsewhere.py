"""The same where the former place is no part of the new region: who asks for that place alone is
told of nothing, nor is who asks for the new region, whose first peer has nothing."""

from __future__ import annotations

import random

import pytest

from tests.meteor.copies_world import ask
from tests.meteor.test_replaced_halfway import WIDE, Halfway, assert_it_was_replaced

SEEDS = [2, 3, 5, 8]
KINDS = ("oven", "fan", "door", "lam", "lan")


class Elsewhere(Halfway):
    """A point of another type, at a peer that has a part of the wide region."""

    tries = 400

    @staticmethod
    def draw(drawn: random.Random) -> str:
        kind, degrees, percent = drawn.choice(KINDS), drawn.randrange(-40, 121), drawn.randrange(90)
        return f"type={kind} temperature={degrees} humidity={percent}"


@pytest.mark.parametrize("seed", SEEDS)
def test_of_both_places_one_has_it_or_is_missing(seed: int) -> None:
    world = Elsewhere(seed)
    world.replace_in_part()
    told = [ask(world.overlay, world.client, where) for where in (world.at, WIDE)]
    assert any(found or not complete for found, complete in told), told


@pytest.mark.parametrize("seed", SEEDS)
def test_word_of_an_earlier_move_from_there_does_not_count(seed: int) -> None:
    world = Elsewhere(seed)
    run = world.overlay.run
    went = run(world.client.replace(world.old, "type=oven temperature=3 humidity=3", ttl=7200))
    back = run(world.client.replace(went.id, world.at, ttl=7200))
    assert (went.complete, back.complete, back.id) == (True, True, world.old)
    world.replace_in_part()
    told = [ask(world.overlay, world.client, where) for where in (world.at, WIDE)]
    assert any(found or not complete for found, complete in told), told
    assert_it_was_replaced(world.overlay, world)
