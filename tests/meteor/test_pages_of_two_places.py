"""Between two pages what is pulled goes from the shelf to the attic, or back, or its holder is
started again: the numbers of one mean nothing in the other, and what was skipped was called whole.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from chord import Contact, RemoteFault
from meteor.copies.reconciling import going_on
from meteor.keeping.placement import Admission
from meteor.wire.operations import Carried, PulledPage
from meteor.wire.record_id import stem_of
from meteor.wire.view import View
from sim.overlay import SimPeer
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    index_of,
    primary_of,
    store_some,
    view_of,
)
from tests.meteor.test_shelf import carried

PAST = View(Contact(98, "10.9.9.8:1"), 7, 1 << 40, (), ())
RECORDS, BYTES = 10, 20_000
"""More than one page of them."""
EARLIER = 60
"""Changes that came before, so that one place counts from elsewhere than the other."""

Change = Callable[["Pulled"], Awaitable[object]]


class Pulled:
    """A holder of a past that nobody else has, and the primary of the interval, who pulls it."""

    def __init__(self) -> None:
        self.overlay = overlay = build(3, 6, disk_s=0.001)
        (probe,) = store_some(overlay, overlay.client(), random.Random(3), 1)
        assert_whole_within(overlay)
        self.taker, view = primary_of(overlay, probe), view_of(overlay, probe)
        low, high = next(one for one in view.intervals if one[0] <= index_of(probe) <= one[1])
        self.part = ((low, high),)
        self.past = replace(PAST, intervals=self.part)
        drawn = (carried(f"s{n}", f"type={'abcdefgh'[n % 8]} temperature={n % 160 - 40}", number=n,
                         data=bytes(BYTES)) for n in range(2000))  # fmt: skip
        within = [one for one in drawn if low <= index_of(one.id) <= high]
        self.records: list[Carried] = within[:RECORDS]
        assert len(self.records) == RECORDS
        self.holder: SimPeer = next(
            one for one in overlay.peers if one.contact.id not in view.holder_ids
        )

    async def begin(self) -> None:
        """The holder has all of it on its shelf."""
        core = self.holder.core
        core._keeper.expect(self.part)
        core.views.remember(self.past)
        for version in range(1, EARLIER + 1):
            await core.shelf.admit([replace(self.records[0], version=version)], Admission())
        await core.shelf.admit(self.records, Admission())
        await core.shelf.note(core.views)

    def after_the_first_page(self, change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let that happen."""
        call, pages = self.taker.runtime.call, 0

        async def watched(contact: Contact, message: object, timeout_s: float) -> Any:
            nonlocal pages
            reply = await call(contact, message, timeout_s)
            if isinstance(reply, PulledPage):
                pages += 1
                if pages == 1:
                    assert reply.more
                    await change(self)
            return reply

        monkeypatch.setattr(self.taker.runtime, "call", watched)

    def has_all(self) -> bool:
        shelf = self.taker.core.shelf
        return all(shelf.find(("", stem_of(one.id))) is not None for one in self.records)


async def stays(_: Pulled) -> None:
    """Nothing happens."""


async def is_cleared(pulled: Pulled) -> None:
    await pulled.holder.core._keeper.clear(pulled.part)


async def is_back(pulled: Pulled) -> None:
    async with pulled.holder.core._keeper.brought_back(pulled.part, pulled.past.epoch):
        pass


async def is_started_again(pulled: Pulled) -> None:
    pulled.holder.crash()
    pulled.holder = await pulled.overlay.restart(pulled.holder)


CHANGES = [(False, stays), (True, stays), (False, is_cleared), (True, is_back),
           (False, is_started_again), (True, is_started_again)]  # fmt: skip


async def laid(pulled: Pulled, in_attic: bool) -> None:
    await pulled.begin()
    if in_attic:
        attic = pulled.holder.core.shelf.attic
        for _ in range(EARLIER):
            attic.put(pulled.records)
        await is_cleared(pulled)


@pytest.mark.parametrize(("in_attic", "change"), CHANGES)
def test_a_rival_is_not_called_taken_in_unless_all_of_it_is(
    in_attic: bool, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulled = Pulled()
    views, past = pulled.taker.core.views, pulled.past
    absorb = pulled.taker.core._handoff.reconciling.absorb

    async def taken_in() -> bool:
        await laid(pulled, in_attic)
        pulled.after_the_first_page(change, monkeypatch)
        return await absorb(pulled.part, pulled.holder.contact, past.epoch, past.primary.id)

    said = pulled.overlay.run(taken_in())
    shown = views.has_all_of(pulled.part, past.primary.id, past.epoch)
    assert pulled.has_all() or not (said or shown)
    if change is stays:
        assert said
        assert shown


def test_numbers_of_two_places_do_not_go_on_with_one_another() -> None:
    """Nor those of two lives: a giver that fell and holds the interval again freezes by them."""
    before = PulledPage((), 9, more=True, place=(1, 4))
    for place, goes_on in (((1, 4), True), ((1,), False), ((1, 5), False), ((2, 4), False)):
        page = PulledPage((), 12, more=False, place=place)
        assert going_on(page, None) is page
        if goes_on:
            assert going_on(page, before) is page
        else:
            with pytest.raises(RemoteFault):
                going_on(page, before)
    with pytest.raises(RemoteFault):
        going_on(before, before)


@pytest.mark.parametrize(("in_attic", "change"), CHANGES)
def test_an_heir_has_not_fetched_what_it_has_in_part(
    in_attic: bool, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulled = Pulled()

    async def fetched() -> bool:
        await laid(pulled, in_attic)
        pulled.after_the_first_page(change, monkeypatch)
        fetch = pulled.taker.core._handoff.pulling.fetch
        return await fetch(pulled.part, pulled.holder.contact, pulled.past.epoch)

    said = pulled.overlay.run(fetched())
    assert pulled.has_all() or not said
    if change is stays:
        assert said
