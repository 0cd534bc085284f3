"""What begins while a peer compares with its copies is compared as well, however much began before.

Law of this file: one peer's `Levelling` in virtual time, with a copy that answers at once, unless a
test says how long a comparison takes; what begins meanwhile is noted in the middle of one.
"""

from __future__ import annotations

import pytest

from chord import Contact
from meteor.copies.entropy_comparison import Differences
from meteor.copies.levelling import OPEN_MAX, Levelling
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Kept
from meteor.wire.view import View
from sim.kernel import Kernel
from sim.network import Network
from sim.runtime import SimRuntime
from squid import Intervals

OWN, COPY = Contact(1, "10.0.0.1:1"), Contact(2, "10.0.0.2:1")
PART = ((0, 99),)


class Levelled:
    """A peer that holds an interval, of which so much is open."""

    def __init__(self, begun: int) -> None:
        self.kernel = Kernel(1)
        self._runtime = runtime = SimRuntime(self.kernel, Network(self.kernel), OWN)
        views = Views(OWN.id)
        views.put_own(View(OWN, 1, 1, PART, (COPY,)))
        self.levelling = Levelling(runtime, views, self._ask, self._evict, lambda _: None)
        self.levelling.compare = self._compare
        self.compared: list[Intervals] = []
        self.takes_s, self.whole = 0.0, True
        """Of a comparison: how long it takes, and whether it is one."""
        for _ in range(begun):
            self.levelling.note_begun(PART)

    async def _ask(self, _: Contact, __: object) -> object:
        return Kept()

    async def _evict(self, *_: Contact) -> None:
        raise AssertionError("the copy is one")

    async def _compare(self, _: Contact, part: Intervals) -> Differences:
        self.compared.append(part)
        if len(self.compared) == 1:
            self.levelling.note_begun(PART)
        await self._runtime.sleep(self.takes_s)
        return Differences(whole=self.whole)

    def until_level(self) -> bool:
        """Whether it became level."""
        return self.kernel.run_until(self.kernel.spawn(self.levelling.until(PART, 10.0)))


@pytest.mark.parametrize("begun", [1, OPEN_MAX - 1, OPEN_MAX, OPEN_MAX + 1])
def test_what_begins_meanwhile_is_compared_next(begun: int) -> None:
    """The first comparison may be older than what began in the middle of it."""
    levelled = Levelled(begun)
    assert levelled.until_level()
    assert levelled.compared == [PART, PART]
    assert not levelled.levelling.is_open(PART)


@pytest.mark.parametrize("waiting", [2, 5])
def test_whoever_waited_too_long_for_his_turn_compares_nothing(waiting: int) -> None:
    """Each kept the turn for as long as a comparison takes, one after the other, and whoever came
    in time waited behind them."""
    levelled = Levelled(1)
    levelled.takes_s, levelled.whole = 3.0, False
    tasks = [levelled.kernel.spawn(levelled.levelling.until(PART, 1.0)) for _ in range(waiting)]
    assert [levelled.kernel.run_until(task) for task in tasks] == [False] * waiting
    assert len(levelled.compared) == 1
