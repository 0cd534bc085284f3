"""Whoever is dialled says who it is, and where.  One that says it is a peer at another address does
not take the place of the link to that peer."""

from __future__ import annotations

import pytest

from chord import AnotherAnswers, Contact
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.transport import MemoryHub, MemoryTransport
from meteor.wire.copy_messages import Touch


class Answerer:
    """A peer at an address, that says it is `contact`, and what it was asked."""

    def __init__(self, hub: MemoryHub, address: str) -> None:
        self.transport, self.epochs = MemoryTransport(hub, address), list[int]()

    async def begin(self, contact: Contact) -> AsyncioRuntime:
        await self.transport.listen()
        self.runtime = AsyncioRuntime(contact, self.transport, seed=1)
        self.runtime.serve(self.took, lambda _: None)
        return self.runtime

    def took(self, _: Contact, message: object, __: float) -> object:
        assert isinstance(message, Touch)
        self.epochs.append(message.epoch)
        return message


async def test_who_says_it_is_elsewhere_gets_nothing_of_what_is_for_that_peer() -> None:
    hub = MemoryHub()
    own, other, liar = (Answerer(hub, f"memory:{one}") for one in ("own", "other", "liar"))
    meant = Contact(7, "memory:other")
    asker = await own.begin(Contact(1, "memory:own"))
    runtimes = [asker, await other.begin(meant), await liar.begin(meant)]
    await asker.call(meant, Touch(1, ()), 1.0)
    with pytest.raises(AnotherAnswers):
        await asker.call(Contact(99, "memory:liar"), Touch(2, ()), 1.0)
    await asker.call(meant, Touch(3, ()), 1.0)
    assert (other.epochs, liar.epochs) == ([1, 3], [])
    for one in runtimes:
        one.close()
