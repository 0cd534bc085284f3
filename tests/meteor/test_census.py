"""What peers answer for, counted in turns, is what a plain count of what was posted says."""

from __future__ import annotations

import random

import pytest

from meteor.rendezvous import census
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE, draw_data

STORED, INTERESTED = 60, 5


@pytest.mark.parametrize("a_turn", [1, 7, 1_000])
def test_every_record_counts_once_where_it_is_answered_for(
    monkeypatch: pytest.MonkeyPatch, a_turn: int
) -> None:
    monkeypatch.setattr(census, "A_TURN", a_turn)
    overlay = Overlay(codec=wire_codec(), peers=5, space=SPACE, seed=3)
    client, drawn = overlay.client(), random.Random(3)
    for at in range(STORED):
        profile = draw_data(drawn) | {"humidity": at, "temperature": at}
        overlay.run(client.store(profile, b"%d" % at))
    for at in range(INTERESTED):
        overlay.run(client.notify_data(f"type=light temperature={at} humidity={at}", ttl=60))
    states = [overlay.run(peer.core.census.in_turns()) for peer in overlay.peers]
    assert states == [peer.core.census.at_once() for peer in overlay.peers]
    assert sum(state.data for state in states) == STORED, "copies do not count"
    assert sum(state.interests for state in states) == INTERESTED
    assert all(state.copies == 3 for state in states)


def test_what_goes_while_it_is_counted_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(census, "A_TURN", 1)
    overlay = Overlay(codec=wire_codec(), peers=1, space=SPACE, seed=3)
    client = overlay.client()
    for at in range(STORED):
        overlay.run(client.store(f"type=light temperature={at} humidity=1", b"x"))
    (peer,) = overlay.peers
    counting = overlay.kernel.spawn(peer.core.census.in_turns())
    receipt = overlay.run(client.delete_data("type=light"))
    assert receipt.matches == STORED
    assert overlay.run(counting).data <= STORED
    assert overlay.run(peer.core.census.in_turns()).data == 0
