"""An interest that ran out is renewed by its client's owner and in the background at once."""

from __future__ import annotations

from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.notified_world import opened


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
