"""A recruit that missed a change while it was filled is no copy: it would be one without it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from chord import Contact, Task
from meteor import Client
from meteor.wire.copy_messages import Instate
from sim.overlay import SimPeer
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    copies_of,
    crash,
    primary_of,
    store_some,
    view_of,
)


class Filling:
    """A copy fell, and another peer has all that there was.  Before it is the copy a record is
    deleted; the recruit's process was held, so that it refuses what lay before it for long."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.overlay = build(1, 6, disk_s=0.001)
        (self.record,) = store_some(self.overlay, self.overlay.client(), random.Random(1), 1)
        assert_whole_within(self.overlay)
        self.primary, self.patch = primary_of(self.overlay, self.record), monkeypatch
        self.client: Client = self.overlay.client(peer=self.overlay.peers.index(self.primary))
        self.deleting: Task[Any] | None = None
        self.recruit: SimPeer | None = None

    async def miss(self, contact: Contact) -> None:
        (self.recruit,) = (one for one in self.overlay.living if one.contact == contact)
        keeper = self.recruit.core._keeper
        self.patch.setattr(keeper, "_lay_for_long", lambda _: True)
        self.deleting = self.overlay.kernel.spawn(self.client.cancel(self.record))
        await self.primary.runtime.sleep(0.2)
        self.patch.setattr(keeper, "_lay_for_long", lambda _: False)

    def assert_gone_for_good(self) -> None:
        """Whoever is a copy has the tombstone; so those that are left know of the delete."""
        crash(copies_of(self.overlay, self.record)[0])
        while self.deleting is None or not self.deleting.done():
            self.overlay.run_for(0.001)
        self.overlay.run_for(0.5)  # it is filled, and asked whether it has all
        assert self.recruit is not None
        client = self.overlay.client(peer=self.overlay.living.index(self.recruit))
        if self.recruit.contact in view_of(self.overlay, self.record).copies:
            others = [one for one in copies_of(self.overlay, self.record) if one.alive]
            crash(self.primary, *(one for one in others if one is not self.recruit))
        self.overlay.run_for(10.0)
        found, complete = ask(self.overlay, client)
        assert not found, f"a deleted record is back; complete: {complete}"


def test_a_recruit_that_missed_a_delete_before_its_turn_is_no_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It waits with all that it was given while another view is installed, or a taker begins."""
    world = Filling(monkeypatch)
    replication = world.primary.core.replication
    change = replication.change

    async def later(number: int, *, add: Contact | None = None, **others: Any) -> bool:
        if add is not None and world.deleting is None:
            await world.miss(add)
        return await change(number, add=add, **others)

    monkeypatch.setattr(replication, "change", later)
    world.assert_gone_for_good()


def test_a_recruit_that_missed_a_delete_as_it_becomes_a_copy_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its word that it has all came before."""
    world = Filling(monkeypatch)
    replication = world.primary.core.replication
    inquiry = replication._inquiry
    ask_all = inquiry.ask_all

    async def slowly(contacts: Sequence[Contact], message: object) -> list[Any]:
        replies = await ask_all(contacts, message)
        if isinstance(message, Instate) and world.deleting is None:
            learning = [one for one in contacts if one.id in replication.learners]
            for one in learning:
                await world.miss(one)
        return replies

    monkeypatch.setattr(inquiry, "ask_all", slowly)
    world.assert_gone_for_good()
