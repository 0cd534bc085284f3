"""An interest that ran out is renewed by its client's owner and in the background at once."""

from __future__ import annotations

import random

import pytest

from meteor import Interest
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.copies_world import build, seeds
from tests.meteor.notified_world import opened
from tests.meteor.test_brought_late_to_another_link import lives_at


def test_a_renewal_that_finds_nothing_is_carried_out_though_another_posts_it_again() -> None:
    """The other one's post had the ttl of before: this renewal returned as if it had been carried
    out, and renewed no more until a third of the new ttl was over."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    client = overlay.client(peer=2)
    interest = overlay.run(opened(client, "type=alarm temperature=50..60", ttl=20))
    attachment = interest._attachment
    assert attachment._living is not None
    attachment._living.cancel()  # its process is held
    overlay.run_for(60)
    both = overlay.kernel.spawn(attachment.reattach())
    overlay.run(interest.renew(ttl=3000))
    overlay.kernel.run_until(both)
    overlay.run_for(100)
    overlay.run(overlay.client(peer=1).store("type=alarm temperature=55", b"new", ttl=0))
    assert overlay.run(interest.recv(timeout=60)).data == b"new"


@pytest.mark.parametrize("seed", seeds(12, 60))
def test_the_shorter_life_that_its_owner_was_told_of_counts(seed: int) -> None:
    """It was being brought to another link with the life of before, which came late and counted
    from then: it met what came for two hours, where its owner was told of fifteen seconds."""
    overlay, drawn = build(seed, 6, disk_s=0.001), random.Random(seed)
    client = overlay.client(peer=drawn.randrange(6))

    async def post() -> Interest:
        return await client.notify_data("temperature=-20..90", id="it", ttl=7200, keep_alive=False)

    interest = overlay.run(post())
    both = overlay.kernel.spawn(interest._attachment.reattach())
    overlay.run_for(drawn.random() * 0.005)
    overlay.run(interest.renew(ttl=15))
    overlay.kernel.run_until(both)
    overlay.run_for(16.0)
    assert interest.state == "expired"
    there = [peer.address for peer in overlay.living if lives_at(peer, ("", "it"))]
    assert not there, f"it lives on at {there}"
