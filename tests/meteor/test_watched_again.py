"""An interest that ran out while its client was held is back: watches hear of it again."""

from __future__ import annotations

from meteor import Client, Watch
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.notified_world import opened


def test_a_watch_hears_that_an_interest_is_back_which_had_run_out() -> None:
    """It was posted again under the version that the watch had heard appear, and then go: both
    were known, and who publishes only while somebody asks never did so again."""

    async def watched(client: Client) -> Watch:
        return await client.notify_interest("type=alarm temperature=*")

    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    watch = overlay.run(watched(overlay.client(peer=1)))
    client = overlay.client(peer=2)
    interest = overlay.run(opened(client, "type=alarm temperature=50..60", ttl=20))
    overlay.run(watch.wait_active(timeout=2))
    living = interest._attachment._living
    assert living is not None
    living.cancel()  # its process is held
    overlay.run(watch.wait_idle(timeout=60))
    overlay.run(interest._attachment.reattach())
    assert interest.state == "active"
    overlay.run(watch.wait_active(timeout=5))
    overlay.run(interest.close())
    overlay.run(watch.wait_idle(timeout=5))
