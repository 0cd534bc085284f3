"""A new peer that did not come to join, and whose place another one has taken since."""

from __future__ import annotations

from pathlib import Path

import pytest

import meteor
from chord import ChordNode, LookupFailed
from meteor.links.transport import MemoryHub, MemoryTransport
from tests.meteor.building import SPACE


def made(
    hub: MemoryHub, *join: str, data_dir: Path | None = None, id: int | None = None
) -> meteor.Peer:
    transport = MemoryTransport(hub)
    return meteor.Peer(space=SPACE, join=join, transport=transport, data_dir=data_dir, id=id)


async def test_it_asks_for_a_place_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The identifier of its first try was kept as if it had been a member: it was told for ever
    that it is another peer's."""
    hub = MemoryHub()
    async with made(hub) as founder:
        given: list[int] = []

        async def falls(node: ChordNode, _: object) -> None:
            given.append(node.contact.id)
            raise LookupFailed("the ring does not settle")

        with monkeypatch.context() as patch:
            patch.setattr(ChordNode, "join", falls)
            with pytest.raises(meteor.JoinFailed):
                await made(hub, founder.address, data_dir=tmp_path).start()
        async with (
            made(hub, founder.address, id=given[0]),
            made(hub, founder.address, data_dir=tmp_path) as again,
        ):
            assert len((await again.ring()).peers) == 3
