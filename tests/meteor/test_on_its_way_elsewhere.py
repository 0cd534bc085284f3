"""What is being replaced shows no more at its old place as soon as that is a copy of the new one
and has it, and at the new one when all copies have it: whoever follows it waits for that."""

from __future__ import annotations

from typing import Any

import pytest

from meteor import Client
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.test_replaced_meanwhile import holder_of

SLOW_S = 0.3
"""How long one more copy of the new place takes."""


def built(seed: int) -> tuple[Overlay, Client, Client]:
    """Three peers, each of which has copies of the other two."""
    overlay = Overlay(codec=wire_codec(), peers=3, space=SPACE, seed=seed, copies=3)
    return overlay, overlay.client(peer=1), overlay.client(peer=2)


def place(number: int) -> dict[str, object]:
    return {"type": chr(ord("a") + number) * 3, "temperature": 20, "humidity": 50}


async def _stored(overlay: Overlay, client: Client) -> tuple[str, int]:
    """A record, and the number of a place that another peer holds, which becomes slow."""
    stored = await client.store(place(0), "0")
    for number in range(1, 26):
        probe = await client.store(place(number), "probe")
        await client.cancel(probe.id)
        new = holder_of(overlay, probe.id)
        if new is not holder_of(overlay, stored.id):
            _slow(new.core)
            return stored.id, number
    raise AssertionError("there is such a place")


def _slow(core: Any) -> None:
    copying = core.replication.copying
    replicate = copying._replicate

    async def replicated(*said: Any) -> None:
        await replicate(*said)
        await copying._runtime.sleep(SLOW_S)

    copying._replicate = replicated


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_on_its_way_to_another_place_is_found(seed: int) -> None:
    """It was found at neither, and the answer said that it was complete."""
    overlay, mover, other = built(seed)

    async def scenario() -> None:
        full_id, number = await _stored(overlay, mover)
        moving = overlay.kernel.spawn(mover.replace(full_id, place(number), "1"))
        for _ in range(10):
            found = await other.retrieve("temperature=20")  # raises what is incomplete
            assert [one.text for one in found] in (["0"], ["1"])
            await other.retrieve("temperature=21")
        await moving
        assert [one.text for one in await other.retrieve("temperature=20")] == ["1"]

    overlay.run(scenario())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_on_its_way_to_another_place_is_deleted(seed: int) -> None:
    """It lived all the time, and outlived a delete that said that it was complete."""
    overlay, mover, other = built(seed)

    async def scenario() -> None:
        full_id, number = await _stored(overlay, mover)
        runtime = holder_of(overlay, full_id).core.point._runtime
        moving = overlay.kernel.spawn(mover.replace(full_id, place(number), "1"))
        await runtime.sleep(SLOW_S / 2)
        assert (await mover.delete_data("temperature=20")).complete
        await moving
        assert list(await other.retrieve("temperature=20")) == []

    overlay.run(scenario())
