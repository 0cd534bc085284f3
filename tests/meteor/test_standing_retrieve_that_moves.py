"""A standing retrieve that moves to another profile brings what lives there, as the first did."""

from __future__ import annotations

from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE


def test_what_lives_in_the_new_place_comes_too() -> None:
    """It comes as pages with the reply to `replace`, which were dropped."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    sensor, asker = overlay.client(peer=1), overlay.client(peer=2)

    async def scenario() -> None:
        await sensor.store("type=kitchen temperature=1", b"kitchen")
        await sensor.store("type=hall temperature=1", b"hall")
        answer = asker.retrieve("type=kitchen", ttl=600)
        assert [match.data for match in await answer.all()] == [b"kitchen"]
        interest = await asker.attach(await answer.detach())
        assert (await interest.recv(timeout=5)).data == b"kitchen"
        await interest.replace("type=hall")
        assert (await interest.recv(timeout=5)).data == b"hall"
        await sensor.store("type=hall temperature=2", b"later")
        assert (await interest.recv(timeout=5)).data == b"later"

    overlay.run(scenario())


def test_an_answer_that_is_replaced_by_its_id_goes_on_there() -> None:
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    sensor, asker = overlay.client(peer=1), overlay.client(peer=2)

    async def scenario() -> None:
        await sensor.store("type=hall temperature=1", b"hall")
        answer = asker.retrieve("type=kitchen", ttl=600)
        assert await answer.all() == []
        assert answer.receipt is not None
        await asker.replace(answer.receipt.id, "type=hall")
        await sensor.store("type=hall temperature=2", b"later")
        came = [match.data async for match in answer]
        assert came == [b"hall", b"later"]

    overlay.run(scenario())
