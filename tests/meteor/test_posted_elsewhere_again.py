"""Who posts other contents under the same names again and again is in nobody's way.

What a peer has in the place of a former version from elsewhere it takes for a replace that came
halfway.  Of more than a thousand of those it looked at none, and said of every question that all of
it may be missing: one client made everybody's answers incomplete, whatever they asked.
"""

from __future__ import annotations

from meteor import Client
from meteor.rendezvous.halfway import HALFWAY_MAX
from sim.overlay import Overlay
from tests.meteor.building import SPACE

NAMES, TURNS = 300, 5


async def post_again_and_again(client: Client) -> None:
    for number in range(NAMES * TURNS):
        at = number / (NAMES * TURNS)
        await client.store(f"type=light temperature={at}", b"x", id=f"s{number % NAMES}")


def test_who_asks_elsewhere_is_answered() -> None:
    overlay = Overlay(peers=3, space=SPACE, seed=1)
    other = overlay.client(peer=1)
    overlay.run(other.store("type=siren temperature=80", b"a siren"))
    overlay.run(post_again_and_again(overlay.client(peer=2)))
    assert max(len(peer.core.point.halfway) for peer in overlay.peers) > HALFWAY_MAX
    (match,) = overlay.run(other.retrieve("type=siren").all())
    assert match.data == b"a siren"
    assert overlay.run(other.delete_data("type=siren")).matches == 1
