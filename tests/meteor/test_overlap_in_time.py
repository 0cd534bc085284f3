"""A delete of what overlaps ends with its time, and says what it has left."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from meteor import Timeout
from meteor.wire.codec import wire_codec
from meteor.wire.record_id import split_id
from sim.overlay import Overlay
from squid import covers
from tests.meteor.building import SPACE


def test_what_there_was_no_time_for_is_not_asked_for_and_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It went on with each of a hundred thousand when nobody waited any more."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=1)
    client = overlay.client(peer=2)
    amending = overlay.peers[2].core.entry._amending
    once, asked = amending.once, list[str]()

    async def slow(sender: Any, amend: Any, admitted: Any, *, mode: str) -> Any:
        asked.append(amend.id)
        await amending._runtime.sleep(0.4)
        return await once(sender, amend, admitted, mode=mode)

    monkeypatch.setattr(amending, "once", slow)
    delete, replies = amending.delete_overlapping, list[Any]()

    async def heard(*said: Any) -> Any:
        replies.append(await delete(*said))
        return replies[-1]

    monkeypatch.setattr(amending, "delete_overlapping", heard)

    async def scenario() -> None:
        kept = [
            (await client.store(f"type=lamp temperature={at * 9} humidity={at * 7}", b"x")).id
            for at in range(8)
        ]
        with suppress(Timeout):
            await client.delete_data("type=lamp", mode="overlap", timeout=1.0)
        await amending._runtime.sleep(5.0)
        (reply,) = replies
        assert 0 < len(asked) <= 3
        assert not reply.complete
        for full_id in set(kept) - set(asked):
            place = split_id(full_id, SPACE.curve)[1].low
            assert covers(reply.missing, SPACE.curve.encode(place))

    overlay.run(scenario())
