"""Who gets the notices of an interest that several clients know of: who posted or attached it."""

from __future__ import annotations

from typing import Any

import pytest

from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE

SELECTOR = "type=alarm temperature=50..60"


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)


def told(overlay: Overlay, interest: Any, data: bytes) -> None:
    overlay.run(overlay.client(peer=1).store("type=alarm temperature=55", data))
    assert overlay.run(interest.recv(timeout=10)).data == data


def test_who_renews_an_interest_by_its_id_does_not_take_its_notices(overlay: Overlay) -> None:
    """They went to that client from then on, which has no stream for them."""
    holder, other = overlay.client(peer=2), overlay.client(peer=3)
    interest = overlay.run(opened(holder, keep_alive=False))
    overlay.run(other.renew(interest.id, ttl=3600))
    told(overlay, interest, b"new")


def test_what_was_attached_elsewhere_comes_there_alone(overlay: Overlay) -> None:
    """The client before still renewed it, and got its notices again."""
    before, after = overlay.client(peer=2), overlay.client(peer=3)
    interest = overlay.run(opened(before, ttl=60))
    attached = overlay.run(after.attach(interest.id))
    told(overlay, attached, b"1")
    for number in range(6):
        overlay.run_for(7.0)
        told(overlay, attached, b"after %d" % number)


async def opened(client: Any, **options: Any) -> Any:
    return await client.notify_data(SELECTOR, **{"ttl": 3600, **options})
