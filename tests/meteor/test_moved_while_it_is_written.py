"""A post that is tried again is written at one of its holders as word comes, by another one, that
its record went on to another place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chord import replace
from meteor import Refused
from meteor.copies.copying import Superseded
from meteor.keeping.placement import MOVED, Admission
from meteor.rendezvous.deletes import TOMBSTONE_MS
from meteor.wire.operations import Carried
from sim.overlay import Overlay
from squid import Intervals
from tests.meteor.copies_world import build

PLACE = "type=lamp temperature=1..2"


def word_comes_as_it_is_written(
    overlay: Overlay, monkeypatch: pytest.MonkeyPatch, *, too_few: bool = False
) -> None:
    """As this peer is a copy of another holder of that place; `too_few` are left then to say that
    anything is kept."""
    (peer,) = overlay.peers
    shelf, copying = peer.core.shelf, peer.core.point._replication.copying
    keep, check = copying.keep, copying._check_company
    came = list[Carried]()

    def checked(part: Intervals) -> None:
        if came and too_few:
            monkeypatch.undo()
            raise Superseded("too few are left")
        check(part)

    async def kept(carried: Sequence[Carried], part: Intervals, ends_s: float) -> list[Carried]:
        written = await keep(carried, part, ends_s)
        if written and not came:
            came.append(_word_of(written[0]))
            await shelf.admit(came, Admission())
        return written

    monkeypatch.setattr(copying, "keep", kept)
    monkeypatch.setattr(copying, "_check_company", checked)


def _word_of(one: Carried) -> Carried:
    return replace(
        one, kind=MOVED, version=one.version + 1, ttl_ms=TOMBSTONE_MS, blob=b"", route=None,
        moved_to="lamp.elsewhere", number=one.number + 1,
    )  # fmt: skip


@pytest.mark.parametrize("too_few", [False, True])
@pytest.mark.parametrize("restarted", [False, True])
def test_it_does_not_come_back_there(
    restarted: bool, too_few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = build(1, 1)
    (peer,) = overlay.peers
    client = overlay.client()
    word_comes_as_it_is_written(overlay, monkeypatch, too_few=too_few)
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
