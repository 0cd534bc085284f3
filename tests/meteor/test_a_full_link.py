"""What waits for one link is bounded: a call is refused, a message of one way vanishes, and a link
that is full can still be said goodbye to."""

from __future__ import annotations

import pytest

from chord import Busy, Contact
from meteor.links import asyncio_link
from meteor.links.asyncio_link import PeerLink
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.transport import MemoryHub
from meteor.wire.messages import Farewell, Greet
from tests.meteor.test_asked_as_a_link_was_retired import turns
from tests.meteor.test_asyncio_runtime import a_peer


class Linked:
    """A peer and another that has answered it once."""

    def __init__(self, asker: AsyncioRuntime, asked: AsyncioRuntime) -> None:
        self.asker, self.asked = asker, asked
        self.heard: list[object] = []
        self.lost: list[Contact] = []

    async def meet(self) -> Linked:
        self.asked.serve(self._on_message, self.lost.append)
        self.asker.serve(lambda *_: None, self.lost.append)
        await self.asker.call(self.asked.contact, Greet(), 5.0)
        return self

    def _on_message(self, _: Contact, message: object, __: float) -> object:
        self.heard.append(message)
        return message

    def link(self) -> PeerLink:
        link = self.asker._links.find(self.asked.contact)
        assert isinstance(link, PeerLink)
        return link

    async def close(self) -> None:
        await self.asker.aclose()
        await self.asked.aclose()


async def linked() -> Linked:
    hub = MemoryHub()
    return await Linked(await a_peer(hub, 1), await a_peer(hub, 2)).meet()


async def test_a_call_over_a_full_link_is_refused_and_nothing_of_one_way_is_queued(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    peers = await linked()
    monkeypatch.setattr(asyncio_link, "QUEUE_BYTES_MAX", 0)
    with pytest.raises(Busy, match="bytes wait for the link to"):
        await peers.asker.call(peers.asked.contact, Greet(), 5.0)
    peers.asker.send(peers.asked.contact, Farewell("vanishes"))
    monkeypatch.undo()
    await peers.asker.call(peers.asked.contact, Farewell("the next one"), 5.0)
    assert peers.heard == [Greet(), Farewell("the next one")]
    assert peers.lost == []
    await peers.close()


@pytest.mark.parametrize("who", ["asker", "asked"])
async def test_a_full_link_that_nobody_uses_is_said_goodbye_to(
    who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    peers = await linked()
    link = peers.link()
    monkeypatch.setattr(asyncio_link, "QUEUE_BYTES_MAX", 0)
    ending = peers.asker if who == "asker" else peers.asked
    other = peers.asked if who == "asker" else peers.asker
    one = ending._links.find(other.contact)
    assert isinstance(one, PeerLink)
    ending._links._retire(one)
    await turns()
    assert link.retiring, "it was told, or has told, whichever way"
    assert peers.asked._links.find(peers.asker.contact) is None
    assert peers.lost == []
    await peers.close()
