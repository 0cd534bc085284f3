"""What could not be moved, as nobody answers where it should go, stays where it is."""

from __future__ import annotations

import pytest

import meteor
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.notified_world import matcher_of

HERE = {"type": "badge", "temperature": 0, "humidity": 0}


@pytest.mark.parametrize("entry", ["home", "elsewhere"])
def test_data_whose_new_place_does_not_answer_is_not_laid_to_rest(entry: str) -> None:
    """The machine of who holds the new place vanished: `replace` says `Incomplete`, and a query
    found the record by neither content (SPEC section 4), as its old place had word of the new one.
    Asked for again, it is moved."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    home = matcher_of(overlay, HERE)
    places = ({**HERE, "temperature": degrees} for degrees in range(-40, 120, 10))
    there = next(place for place in places if matcher_of(overlay, place) is not home)
    away = matcher_of(overlay, there)
    client = overlay.client(
        peer=next(
            at for at, one in enumerate(overlay.peers)
            if one is not away and (one is home) == (entry == "home")
        )
    )  # fmt: skip

    async def scenario() -> None:
        stored = await client.store(HERE, b"old")
        overlay.faults.vanish(away.contact)
        with pytest.raises(meteor.Incomplete):
            await client.replace(stored.id, there, b"new", timeout=2)
        await client._runtime.sleep(30)
        assert [match.data for match in await client.retrieve("type=badge")] == [b"old"]
        await client.replace(stored.id, there, b"newer")
        (found,) = await client.retrieve("type=badge")
        assert found.data == b"newer"
        assert await client.retrieve(HERE) == []

    overlay.run(scenario())
