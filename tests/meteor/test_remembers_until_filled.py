"""A restarted copy remembers what it had until its primary fills it, or goes on without it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    copies_of,
    crash,
    primary_of,
    restart_all,
    store_some,
    view_of,
)


@pytest.mark.parametrize("seed", [2, 3, 9, 20])
def test_who_offered_what_it_had_has_not_moved_on_before_it_is_filled(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its offer is taken at once, as the primary has it all; then primary and the other copy fall
    and come back.  All three have the same record: nothing is missing."""
    overlay = build(seed, 6, disk_s=0.001)
    (record,) = store_some(overlay, overlay.client(), random.Random(1), 1)
    assert_whole_within(overlay)
    primary, (first, second) = primary_of(overlay, record), copies_of(overlay, record)
    epoch = view_of(overlay, record).epoch

    async def not_yet(*_: Any) -> bool:
        return False

    async def is_level(*_: Any) -> bool:
        return True

    monkeypatch.setattr(primary.core._tending, "_fill", not_yet)
    # who takes the offer would compare with all copies first, and miss it by that
    monkeypatch.setattr(primary.core.replication.levelling, "until", is_level)
    crash(first)
    restart_all(overlay, [first])
    overlay.run_for(0.1)  # it has offered what it had
    assert view_of(overlay, record).epoch == epoch, "it was not missed"
    crash(primary, second)
    overlay.run_for(8.0)
    restart_all(overlay, [primary, second])
    overlay.run_for(30.0)
    assert ask(overlay, overlay.client()) == ({record}, True)
