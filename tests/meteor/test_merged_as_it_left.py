"""Word of a move is being written while another holder's record of before is taken in: what was
gone by then does not show again (`meteor-sim scenario few-peers --seed 313`)."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from chord import replace
from meteor.keeping.placement import GONE, MOVED
from meteor.wire.operations import Carried
from squid import Intervals
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    is_shown,
    primary_of,
    store_some,
)


@pytest.mark.parametrize("kind", [GONE, MOVED])
def test_what_left_while_it_was_taken_in_does_not_show(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = build(3, 6)
    (stored,) = store_some(overlay, overlay.client(), random.Random(3), 1)
    assert_whole_within(overlay)
    peer = primary_of(overlay, stored)
    shelf, replication = peer.core.shelf, peer.core.replication
    (known,) = (one.carried for one in shelf.table if one.carried.id == stored)
    word = replace(known, kind=kind, version=known.version + 1, blob=b"", route=None)
    if kind == MOVED:
        elsewhere, _, place = stored.partition(".")
        word = replace(word, moved_to=f"{elsewhere}.{'a' * len(place)}")
    shelf.forget([("", stored.partition(".")[0])])
    assert not is_shown(peer, stored)
    keep = replication.keep

    async def meanwhile(
        carried: Iterable[Carried], part: Intervals, ends_s: float
    ) -> list[Carried]:
        kept = await keep(carried, part, ends_s)
        shelf.show(word)
        return kept

    monkeypatch.setattr(replication, "keep", meanwhile)
    assert overlay.run(peer.core._handoff.reconciling.merge([known])) == 1
    assert not is_shown(peer, stored)
