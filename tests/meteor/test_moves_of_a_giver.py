"""A query that passed a record's new place before it came there, and asks at the old one after the
peer fell, or left, that knew of the move."""

from __future__ import annotations

import random
from typing import Any

import pytest

from meteor import Client
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    client_away_from,
    drawn_elsewhere,
    index_of,
    primary_of,
    store_some,
)


async def _found(client: Client) -> tuple[list[str], bool]:
    answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=9)
    return [match.id for match in await answer.all()], answer.complete


@pytest.mark.parametrize("falls", [True, False])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_query_finds_what_moved_while_its_old_place_went_to_another_peer(
    seed: int, falls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay, drawn = build(seed, 9, disk_s=0.001), random.Random(seed)
    (first,) = store_some(overlay, overlay.client(), drawn, 1)
    assert_whole_within(overlay)
    client, old = client_away_from(overlay, first), primary_of(overlay, first)
    moved_to = drawn_elsewhere(overlay, drawn, client, old)

    async def never(*_: Any) -> None:
        await old.runtime.sleep(60.0)

    monkeypatch.setattr(old.core.point, "_pass_now", lambda *_: None)  # the question waits there
    monkeypatch.setattr(old.core.point, "_pass", never)
    asking = overlay.kernel.spawn(_found(client))
    overlay.run_for(0.1)
    moved = overlay.run(client.replace(first, moved_to, b"y", ttl=7200)).id
    assert index_of(moved) != index_of(first)
    if falls:
        old.crash()
    else:
        overlay.run(old.leave())
    found, complete = overlay.kernel.run_until(asking)
    assert moved in found or not complete
