"""What was deleted at one of its places is deleted at all, whatever the others keep of it: who
posts it again is refused, and finds nothing of it."""

from __future__ import annotations

import random

import pytest

from meteor import Client, MeteorError, Refused
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE

EVERYWHERE = "type=lamp temperature=0..100"
PARTS = [f"type=lamp temperature={low}..{low + 5}" for low in range(0, 100, 5)]


def ring(seed: int = 3) -> Overlay:
    return Overlay(codec=wire_codec(), peers=8, space=SPACE, seed=seed)


async def found_in_parts(client: Client) -> set[str]:
    return {match.text for part in PARTS for match in await client.retrieve(part)}


def test_data_that_is_posted_again_at_more_places_than_it_was_deleted_at() -> None:
    """It was refused, and found at all the other places for its whole ttl."""
    overlay = ring()
    client = overlay.client(peer=1)

    async def scenario() -> None:
        receipt = await client.store("type=lamp temperature=20", "1", id="lamp")
        await client.cancel(receipt.id)
        with pytest.raises(Refused) as refused:
            await client.store(EVERYWHERE, "2", id="lamp")
        assert refused.value.rule == "deleted"
        assert await found_in_parts(client) == set()

    overlay.run(scenario())


def test_an_interest_that_is_refused_is_kept_nowhere() -> None:
    overlay = ring()
    client = overlay.client(peer=1)

    async def scenario() -> None:
        await (await client.notify_data("type=lamp temperature=20", id="eye")).close()
        with pytest.raises(Refused):
            await client.notify_data(EVERYWHERE, id="eye")
        assert not any(
            record.stem == "eye"
            for peer in overlay.peers
            for record in peer.core.shelf.store.records()
        )

    overlay.run(scenario())


def test_nobodys_of_the_same_name_stays() -> None:
    overlay = ring()
    client, alice = overlay.client(peer=1), overlay.client(peer=2, identity=ALICE)

    async def scenario() -> None:
        await client.store(EVERYWHERE, "nobody's", id="lamp")
        await alice.cancel((await alice.store("type=lamp temperature=20", id="lamp")).id)
        with pytest.raises(Refused):
            await alice.store(EVERYWHERE, "hers", id="lamp")
        assert await found_in_parts(client) == {"nobody's"}

    overlay.run(scenario())


@pytest.mark.parametrize("seed", [6, 19, 26, 27, 35])
def test_a_delete_and_another_version_at_once(seed: int) -> None:
    """Each came first at some of the places."""
    overlay, stream = ring(seed), random.Random(seed)
    one, other = overlay.client(peer=1), overlay.client(peer=4)

    async def post_again() -> bool:
        await overlay.kernel.sleep(stream.uniform(0, 0.006))
        try:
            await other.store(f"{EVERYWHERE} color=blue", "2", id="lamp")
        except MeteorError:
            return False
        return True

    async def scenario() -> None:
        await other.store(f"{EVERYWHERE} color=red", "1", id="lamp")
        posting = overlay.kernel.spawn(post_again())
        await one.delete_data("type=lamp color=red")
        is_there = await posting
        assert await found_in_parts(one) == ({"2"} if is_there else set())

    overlay.run(scenario())
