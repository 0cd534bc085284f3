"""An interest is taken up by its id when little of its life is left: it lives on from then."""

from __future__ import annotations

from meteor import Client, Interest
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.notified_world import opened


def test_what_is_attached_late_in_its_life_does_not_run_out_before_its_first_renewal() -> None:
    """The overlay kept the old end of the interest, while its new client counted a whole ttl from
    the moment of the attach: until the first renewal, a third of that later, nobody was told of
    anything, and what passed or ran out meanwhile was lost without a word."""

    async def note(client: Client) -> None:
        await client.store("type=alarm temperature=55", b"short", ttl=10)

    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    before = overlay.client(peer=2)
    interest = overlay.run(opened(before, "type=alarm temperature=50..60", ttl=20))
    before.abandon()
    overlay.run_for(15)
    again = overlay.run(overlay.client(peer=3).attach(interest.id, ttl=300))
    overlay.run_for(10)
    overlay.run(note(overlay.client(peer=1)))
    overlay.run_for(30)
    assert _texts(again) == ["short"]
    overlay.run_for(150)
    assert _texts(again) == []


def _texts(interest: Interest) -> list[str]:
    taken = iter(interest.take_now, None)
    return [one.text for one in taken]
