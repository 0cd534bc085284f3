"""A delete passes by while a record moves from one place of its selector to another: it takes it.

It passed the new place before the record came there, and comes to the old one after it left.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from meteor import Client, Interest, Profile
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    client_away_from,
    drawn_elsewhere,
    index_of,
    primary_of,
    store_some,
)


@pytest.mark.parametrize("mode", ["within", "overlap"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_delete_takes_what_it_selects_at_both_places(
    seed: int, mode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay, drawn = build(seed, 9, disk_s=0.001), random.Random(seed)
    (first,) = store_some(overlay, overlay.client(), drawn, 1)
    assert_whole_within(overlay)
    client, old = client_away_from(overlay, first), primary_of(overlay, first)
    moved_to = drawn_elsewhere(overlay, drawn, client, old)
    delete = old.core.point._delete

    async def later(*said: Any) -> Any:
        await old.runtime.sleep(0.5)
        return await delete(*said)

    monkeypatch.setattr(old.core.point, "_delete", later)
    deleting = overlay.kernel.spawn(
        client.delete_data("type=*", everywhere=True, mode=mode, timeout=9)
    )
    overlay.run_for(0.1)
    moved = overlay.run(client.replace(first, moved_to, b"y", ttl=7200)).id
    assert index_of(moved) != index_of(first)
    receipt = overlay.kernel.run_until(deleting)
    assert receipt.complete
    assert ask(overlay, client) == (set(), True)
    assert receipt.matches == 1


@pytest.mark.parametrize("mode", ["within", "overlap"])
@pytest.mark.parametrize("seed", [1, 2])
def test_so_it_does_with_interests(seed: int, mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that had gone on before the delete came lived, and the delete said that it was done."""
    overlay, drawn = build(seed, 9, disk_s=0.001), random.Random(seed)
    (first,) = store_some(overlay, overlay.client(), drawn, 1)
    assert_whole_within(overlay)
    client, old = client_away_from(overlay, first), primary_of(overlay, first)
    (found,) = overlay.run(client.retrieve("type=*", everywhere=True).all())
    moved_to = drawn_elsewhere(overlay, drawn, client, old)
    overlay.run(client.cancel(first))
    interest = overlay.run(_opened(client, found.profile))
    delete = old.core.point._delete

    async def later(*said: Any) -> Any:
        await old.runtime.sleep(0.5)
        return await delete(*said)

    monkeypatch.setattr(old.core.point, "_delete", later)
    deleting = overlay.kernel.spawn(
        client.delete_interest("type=*", everywhere=True, mode=mode, timeout=9)
    )
    overlay.run_for(0.1)
    overlay.run(interest.replace(moved_to))
    receipt = overlay.kernel.run_until(deleting)
    assert receipt.complete
    assert receipt.matches == 1
    left = overlay.run(client.delete_interest("type=*", everywhere=True, dry_run=True))
    assert (left.matches, left.complete) == (0, True)


async def _opened(client: Client, selector: Profile) -> Interest:
    return await client.notify_data(selector, ttl=600)
