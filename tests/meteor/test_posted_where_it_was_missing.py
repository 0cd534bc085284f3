"""What was posted to a part of its region is posted to the rest as soon as that answers."""

from __future__ import annotations

from typing import Any

import pytest

from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.notified_world import matcher_of

SELECTOR = "type=alarm temperature=-20..90"


@pytest.mark.parametrize("temperature", [-15, 0, 20, 40, 60, 85])
def test_where_an_interest_was_never_kept_it_is_soon(
    temperature: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The peer of that part did not know yet whether it has all of it, when it was posted.  When it
    did, a renewal found nothing there, and the interest elsewhere: it counted as attached to all of
    its region."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5, copies=1)
    attributes = {"type": "alarm", "temperature": temperature}
    away = matcher_of(overlay, attributes)
    client = overlay.client(
        peer=next(at for at, one in enumerate(overlay.peers) if one is not away)
    )
    monkeypatch.setattr(away.core.holdings, "doubted", lambda part: part)
    interest = overlay.run(_opened(client))
    monkeypatch.undo()
    assert interest.missing
    overlay.run_for(60)
    assert interest.missing == ()
    overlay.run(overlay.client(peer=1).store(attributes, b"new"))
    assert overlay.run(interest.recv(timeout=20)).data == b"new"


async def _opened(client: Any) -> Any:
    return await client.notify_data(SELECTOR, ttl=3600, timeout=0.5, allow_partial=True)
