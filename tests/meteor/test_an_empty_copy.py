"""A copy that has nothing, or says so, is compared with a part at a time."""

from __future__ import annotations

import random
from typing import Any

import pytest

from meteor.copies.entropy_comparison import Comparison
from meteor.copies.entropy_forms import SPANS_MAX
from tests.meteor.entropy_world import World
from tests.meteor.test_entropy import drawn_record

LOOKED_AT_MAX = 2 * SPANS_MAX * 64
"""Records in one turn."""


def test_no_turn_looks_at_all_that_an_empty_copy_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 100,000 records that was a turn of three seconds, in which the peer said nothing."""
    drawn, world = random.Random(1), World()
    for _ in range(6_000):
        world.primary.source.put(drawn_record(drawn, 1 << 40))
    looked: list[int] = []
    match = Comparison._match

    def counted(self: Comparison, section: Any, span: Any, *more: Any) -> None:
        looked.append(section.digest(span).records)
        match(self, section, span, *more)

    monkeypatch.setattr(Comparison, "_match", counted)
    found = world.compare()
    assert found.sent == len(world.primary.source.records)
    assert world.copy.source.states == world.primary.source.states
    assert max(looked) * SPANS_MAX <= LOOKED_AT_MAX
