"""Interests of several owners over one link, as a peer's guests have them: each has his own."""

from __future__ import annotations

import pytest

from meteor import Client, Interest, Refused
from meteor.client.verbs import Verbs
from meteor.rest.signed import SpeakingVerbs
from meteor.wire.record_id import make_id
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE, BOB

SELECTOR = "type=light temperature=20..30"


class Guests:
    """Alice's interest and whoever else asks by the same link."""

    def __init__(self) -> None:
        self.overlay = Overlay(peers=4, space=SPACE, seed=3)
        self.client: Client = self.overlay.client(peer=1)
        self.alice, self.bob = self.named(ALICE), self.named(BOB)
        self.mine = self.overlay.run(self.opened(self.alice))

    def named(self, who: object) -> Verbs:
        return SpeakingVerbs(self.client._session.speaking_for(who))  # type: ignore[arg-type]

    @staticmethod
    async def opened(verbs: Verbs, **options: object) -> Interest:
        return await verbs.notify_data(SELECTOR, id="alarm", **options)  # type: ignore[arg-type]

    def tell(self) -> None:
        store = self.alice.store("type=light temperature=25", b"secret", visible_to=[])
        self.overlay.run(store)
        self.overlay.run_for(3.0)


@pytest.mark.parametrize("verb", ["cancel", "renew", "replace"])
@pytest.mark.parametrize("who", ["bob", "nobody"])
def test_what_one_keeps_open_no_other_touches_by_its_id(verb: str, who: str) -> None:
    world = Guests()
    other = world.bob if who == "bob" else world.client
    asked = (
        other.replace(world.mine.id, "type=light temperature=90")
        if verb == "replace"
        else getattr(other, verb)(world.mine.id)
    )
    with pytest.raises(Refused) as refused:
        world.overlay.run(asked)
    assert refused.value.rule == "owner"
    assert world.mine.state == "active"
    world.tell()
    assert world.overlay.run(world.mine.recv(timeout=5)).data == b"secret"


def test_who_takes_the_same_name_is_not_told_what_is_not_for_him() -> None:
    world = Guests()
    his = world.overlay.run(world.opened(world.bob))
    world.tell()
    assert his.take_now() is None, "it is visible to Alice alone"
    assert world.overlay.run(world.mine.recv(timeout=5)).data == b"secret"
    assert his.state == world.mine.state == "active"


def test_a_client_that_posts_its_own_name_again_goes_on_with_the_newer_one() -> None:
    world = Guests()
    newer = world.overlay.run(world.opened(world.alice))
    assert (world.mine.state, newer.state) == ("closed", "active")
    assert newer.id == make_id("alarm", newer._attachment.draft.region, SPACE.curve)
