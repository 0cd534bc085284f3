"""A client that comes back to more than may wait for it: everything once more, in steps in
proportion to what was missed, as each pair is found once and not once for every ten thousand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import Profile, Record
from meteor.keeping.shelf import Shelf
from meteor.rendezvous import outbox
from meteor.rendezvous.backlog import Backlog, Behind
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE

PENDING_MAX = 16
"""In place of thousands."""
MISSED = 160


def steps_to_catch_up(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Questions for the lowest common cell, one for every pair that is looked at."""
    asked = Counter[str]()
    real = Shelf.lowest_common

    def counted(*args: Any) -> int | None:
        asked["lowest_common"] += 1
        return real(*args)

    overlay = Overlay(codec=wire_codec(), peers=1, space=SPACE, seed=5)
    client = overlay.client(peer=0)

    async def told_of_all() -> list[bytes]:
        for at in range(count):
            await client.store(f"type=lamp temperature={at % 100}", b"%d" % at, ttl=3600)
        async with client.notify_data("type=lamp", queue=2 * count, timeout=60) as interest:
            return [(await interest.recv(timeout=60)).data for _ in range(count)]

    with monkeypatch.context() as patched:
        patched.setattr(Shelf, "lowest_common", counted)
        came = overlay.run(told_of_all())
    assert sorted(came, key=int) == [b"%d" % at for at in range(count)]
    return asked["lowest_common"]


def test_catching_up_costs_in_proportion_to_what_was_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outbox, "PENDING_MAX", PENDING_MAX)
    once, twice = (steps_to_catch_up(count, monkeypatch) for count in (MISSED, 2 * MISSED))
    print(f"{MISSED} pairs: {once} steps, {2 * MISSED}: {twice}")
    assert once <= 5 * MISSED
    assert twice <= 2.2 * once


def waiting(number: int) -> Behind:
    stem = f"d{number}"
    about = Record("data", stem, "", 1, f"{stem}.aa", "store", Profile([]), b"", 60.0)
    return Behind((number // 7, stem), about, "match")


@given(
    st.lists(st.one_of(st.integers(0, 4000), st.none()), max_size=300),
    st.integers(1, 60),
    st.integers(0, 1500),
)
def test_a_backlog_against_a_sorted_list(
    steps: list[int | None], most: int, filled: int
) -> None:
    """A number is a pair that waits, None takes the first: more than a block of them, too."""
    here, most = Backlog(1, most + filled), most + filled
    twin: dict[tuple[int, str], Behind] = {}
    beyond: list[tuple[int, str]] = []
    for step in [*range(filled), *steps]:
        if step is None:
            first = min(twin, default=None)
            known = here.next()
            assert (known and known.position) == first
            if first is not None:
                here.take()
                del twin[first]
        else:
            one = waiting(step)
            here.add(one)
            if not beyond or one.position < min(beyond):
                twin[one.position] = one
            if len(twin) > most:
                beyond.append(max(twin))
                del twin[beyond[-1]]
        assert len(here) == len(twin)
        assert here.beyond == min(beyond, default=None)
        assert here.first == min([*twin, *beyond], default=None)
