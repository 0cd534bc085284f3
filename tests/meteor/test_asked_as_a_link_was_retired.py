"""A request that crosses the goodbye of an idle link is answered, however long that takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from chord import ACKNOWLEDGE_WITHIN_S, Contact, Deferred, Unhurried
from meteor.links.asyncio_link import PeerLink
from meteor.links.asyncio_links import RETIRE_S
from meteor.links.transport import MemoryHub
from meteor.wire.messages import Farewell, Greet
from tests.meteor.test_asyncio_runtime import a_peer

TURNS = 50


async def turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


class Clock:
    """Holds back what waits for the end of retired links, until it is told that it has come."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._held: list[Callable[[], object]] = []
        self.company_comes = True
        """Whether what waits for company leaves by itself."""
        loop = asyncio.get_running_loop()
        later = loop.call_later

        def call_later(delay_s: float, callback: Callable[..., Any], *args: Any) -> Any:
            if delay_s == RETIRE_S:
                self._held.append(partial(callback, *args))
                return later(60.0, str)
            if delay_s <= ACKNOWLEDGE_WITHIN_S and not self.company_comes:
                return later(60.0, str)
            return later(delay_s, callback, *args)

        monkeypatch.setattr(loop, "call_later", call_later)

    def retire(self) -> int:
        """The time has passed for all that are retired now; how many."""
        held, self._held = self._held, []
        for end in held:
            end()
        return len(held)


async def test_its_answer_takes_longer_than_the_link_was_to_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, hub, lost = Clock(monkeypatch), MemoryHub(), list[Contact]()
    asked, asker = await a_peer(hub, 1), await a_peer(hub, 2)

    async def work() -> Farewell:
        await asked.expect("done", None)
        return Farewell("done")

    asked.serve(lambda *_: Deferred(work()), lost.append)
    asker.serve(lambda *_: None, lost.append)
    first = asker.spawn(asker.call(asked.contact, Greet(), 5.0))
    await turns()
    asked.deliver("done", None)
    await first
    link = asked._links.find(asker.contact)
    assert isinstance(link, PeerLink)
    asked._links._retire(link)
    crossing = asker.spawn(asker.call(asked.contact, Greet(), 5.0))
    await turns()
    assert clock.retire() == 2
    await turns()
    asked.deliver("done", None)
    assert await crossing == Farewell("done")
    assert not link.lost
    assert clock.retire() == 2
    assert link.lost, "nobody waits for anything on it any more"
    assert lost == []
    await asked.aclose()
    await asker.aclose()


async def test_its_answer_waits_for_company_as_the_link_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was lost with the link: what had been done was asked for again somewhere else."""
    clock, hub = Clock(monkeypatch), MemoryHub()
    asked, asker = await a_peer(hub, 1), await a_peer(hub, 2)
    asked.serve(lambda *_: Farewell("at once"), lambda _: None)
    assert await asker.call(asked.contact, Greet(), 5.0) == Farewell("at once")
    asked.serve(lambda *_: Unhurried(Farewell("soon")), lambda _: None)
    link = asked._links.find(asker.contact)
    assert isinstance(link, PeerLink)
    clock.company_comes = False
    asked._links._retire(link)
    crossing = asker.spawn(asker.call(asked.contact, Greet(), 5.0))
    await turns()
    assert link.owes
    asked._links._end_retired(link)
    assert link.lost
    assert await crossing == Farewell("soon")
    await asked.aclose()
    await asker.aclose()
