"""Who is just given an interval keeps what came of it, whatever another one calls lost meanwhile.

Law of this file: a stranger, who took the same for lost, makes a copy of the peer that pulls it.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from meteor.wire.copy_messages import Learn
from squid import covers, subtract
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    index_of,
    is_shown,
    primary_of,
    store_some,
    view_of,
)
from tests.meteor.test_copy_keeper import Stranger


@pytest.mark.parametrize("seed", range(1, 7))
def test_what_was_pulled_is_there_when_it_is_held(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recruit laid down what it had of that, with what had come by then: once it held the
    interval it answered without it, and said that nothing was missing."""
    overlay = build(seed, 8, disk_s=0.001)
    (record,) = store_some(overlay, overlay.client(), random.Random(seed), 1)
    assert_whole_within(overlay)
    giver, view = primary_of(overlay, record), view_of(overlay, record)
    have = [giver, *copies_of(overlay, record)]
    taker = next(one for one in overlay.living if one not in have)
    stranger = Stranger(overlay)
    (interval,) = (one for one in view.intervals if covers((one,), index_of(record)))
    pulling = taker.core._handoff.pulling
    pull_pages = pulling._pull_pages

    async def interrupted(*args: Any) -> object:
        last = await pull_pages(*args)
        lost = stranger.view((interval,), view.epoch + 1, lost=(interval,))
        stranger.runtime.send(taker.contact, Learn(lost))
        await taker.runtime.sleep(0.1)
        return last

    monkeypatch.setattr(pulling, "_pull_pages", interrupted)
    assert overlay.run(pulling.take(interval, giver.contact, ()))
    assert not subtract((interval,), taker.core.holdings.held)
    assert not taker.core.holdings.lost, "it says that it has all"
    assert is_shown(taker, record)
