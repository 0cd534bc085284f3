"""A post that is tried again is written at one of its holders as word comes, by another one, that
its record went on to another place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chord import replace
from meteor import Refused
from meteor.keeping.placement import MOVED, Admission
from meteor.rendezvous.deletes import TOMBSTONE_MS
from meteor.wire.operations import Carried
from sim.overlay import Overlay
from squid import Intervals
from tests.meteor.copies_world import build

PLACE = "type=lamp temperature=1..2"


def word_comes_as_it_is_written(overlay: Overlay, monkeypatch: pytest.MonkeyPatch) -> None:
    """As this peer is a copy of another holder of that place."""
    (peer,) = overlay.peers
    shelf, replication = peer.core.shelf, peer.core.point._replication
    keep = replication.keep_for_client

    async def kept(carried: Sequence[Carried], part: Intervals, ends_s: float) -> list[Carried]:
        written = await keep(carried, part, ends_s)
        word = replace(
            written[0], kind=MOVED, version=written[0].version + 1, blob=b"", route=None,
            ttl_ms=TOMBSTONE_MS, moved_to="lamp.elsewhere", number=written[0].number + 1,
        )  # fmt: skip
        monkeypatch.undo()
        await shelf.admit([word], Admission())
        return written

    monkeypatch.setattr(replication, "keep_for_client", kept)


@pytest.mark.parametrize("restarted", [False, True])
def test_it_does_not_come_back_there(restarted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    overlay = build(1, 1)
    (peer,) = overlay.peers
    client = overlay.client()
    word_comes_as_it_is_written(overlay, monkeypatch)
    with pytest.raises(Refused, match="newer"):
        overlay.run(client.store(PLACE, b"x", id="lamp", ttl=7200))
    if restarted:
        overlay.run_for(1.0)
        peer.crash()
        overlay.run(overlay.restart(peer))
    (peer,) = overlay.living
    assert peer.core.shelf.store.get("", "lamp") is None
    assert overlay.run(found(overlay)) == []


async def found(overlay: Overlay) -> list[str]:
    return [one.id async for one in overlay.client().retrieve(PLACE)]
