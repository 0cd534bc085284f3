"""What a post asks for is done as it says, or refused: a client of anybody's making may say more
than ours.

A dry run of what is no delete was carried out, and a mode that is none was taken for `within`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from meteor import ProfileError
from meteor.client.posting import draft_post
from sim.overlay import Overlay
from tests.meteor.building import SPACE

A = "type=light temperature=25"


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(peers=3, space=SPACE, seed=3)


@pytest.mark.parametrize("action", ["store", "notify_data", "notify_interest", "retrieve", "mean"])
def test_a_dry_run_does_nothing(overlay: Overlay, action: str) -> None:
    session = overlay.client()._session
    draft = draft_post(session, A, action, dry_run=True)
    with pytest.raises(ProfileError, match=f"'{action}' has no dry run"):
        overlay.run(session.post(draft, 5.0))
    states = [peer.core.state() for peer in overlay.peers]
    assert sum(one.data + one.interests + one.watches for one in states) == 0


@pytest.mark.parametrize("mode", ["everything", "own", "found", ""])
def test_a_mode_that_is_none_deletes_nothing(overlay: Overlay, mode: str) -> None:
    client = overlay.client()
    overlay.run(client.store(A, b"x"))
    draft = draft_post(client._session, "type=light", "delete_data")
    with pytest.raises(ProfileError, match="is none of within, overlap"):
        overlay.run(client._session.post(replace(draft, mode=mode), 5.0))
    assert [match.data for match in overlay.run(client.retrieve("type=light").all())] == [b"x"]
