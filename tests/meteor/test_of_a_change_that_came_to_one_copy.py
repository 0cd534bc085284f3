"""A primary falls in the middle of a change, which came to one of its copies alone; that one takes
its place.  What it answers for by what it has, its own copies have as well."""

from __future__ import annotations

import random
from collections.abc import Coroutine
from typing import Any

import pytest

from chord import Contact, Deferred
from meteor import profile
from meteor.wire.copy_messages import Keep
from meteor.wire.record_id import stem_of
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    primary_of,
)


class InTheMiddle:
    """A record whose primary is to fall, the copy that will be its heir, and the other one."""

    def __init__(self, seed: int) -> None:
        self.overlay = build(seed, 8, disk_s=0.001)
        assert_whole_within(self.overlay)
        drawn = random.Random(seed)
        self.id = self.overlay.run(
            self.overlay.client().store(profile(draw_data(drawn)), b"x", ttl=7200)
        ).id
        self.key = "", stem_of(self.id)
        self.primary = primary_of(self.overlay, self.id)
        ids = [one.id for one in self.primary.core.node.successors]
        self.heir, self.other = sorted(
            copies_of(self.overlay, self.id), key=lambda one: ids.index(one.contact.id)
        )
        self.client = client_away_from(self.overlay, self.id)

    def start(self, change: Coroutine[Any, Any, None], monkeypatch: pytest.MonkeyPatch) -> None:
        """One copy has the change now, and the other one has not."""

        async def silence() -> None:
            await self.other.runtime.sleep(3600.0)

        def later(_: Contact, __: object, ___: float) -> Deferred:
            return Deferred(silence())

        with monkeypatch.context() as patched:
            patched.setitem(self.other.core._handlers, Keep, later)
            self.overlay.kernel.spawn(change)
            self.overlay.run_for(0.1)


@pytest.mark.parametrize("seed", range(1, 9))
def test_what_an_heir_finds_deleted_is_so_at_its_copies(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = InTheMiddle(seed)

    async def in_vain() -> None:
        await world.client.delete_data("type=*", everywhere=True, timeout=0.5, allow_partial=True)

    world.start(in_vain(), monkeypatch)
    crash(world.primary)
    again = world.client.delete_data("type=*", everywhere=True, timeout=20)
    assert world.overlay.run(again).complete
    crash(world.heir)
    found, complete = ask(world.overlay, world.client)
    while not complete:
        world.overlay.run_for(0.5)
        found, complete = ask(world.overlay, world.client)
    assert found == set()
