"""The machine behind the curve: how many states it has, and that it may forget them."""

from __future__ import annotations

from math import factorial
from random import Random

import pytest

from squid import Box, HilbertCurve, state_machine
from squid.scalar_codec import machine

SEED = 7


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 5])
def test_the_machine_has_as_many_states_as_counted(dimensions):
    states = machine(dimensions).next_states
    assert len(states) == factorial(dimensions) * 2 ** (dimensions - 1)
    for digits in (machine(dimensions).cell_digits, machine(dimensions).index_digits):
        assert all(sorted(row) == list(range(1 << dimensions)) for row in digits)


def test_every_index_bit_halves_the_box_of_its_prefix():
    curve = HilbertCurve(3, 3)
    for length in range(1, curve.index_bits + 1):
        size = curve.size >> length
        for prefix in range(1 << length):
            cells = [curve.decode(prefix * size + place) for place in range(size)]
            spans = [max(axis) - min(axis) + 1 for axis in zip(*cells, strict=True)]
            assert spans[0] * spans[1] * spans[2] == size


def test_answers_stay_the_same_when_the_machine_forgets_its_states(monkeypatch):
    curve, random = HilbertCurve(8, 20), Random(SEED)
    questions = []
    for _ in range(20):
        corners = [[random.randrange(curve.side) for _ in range(8)] for _ in range(2)]
        box = Box(tuple(map(min, *corners)), tuple(map(max, *corners)))
        questions.append((box, random.randrange(curve.size)))
    answers = [curve.next_match(box, index) for box, index in questions]
    monkeypatch.setattr(state_machine, "_MOST_STATES", 50)
    state_machine.steps(8).clear()
    assert [curve.next_match(box, index) for box, index in questions] == answers
    assert len(state_machine.steps(8)) <= 50
