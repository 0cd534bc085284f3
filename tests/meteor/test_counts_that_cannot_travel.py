"""What a peer counts, another one adds up: numbers that cannot be are none, and end nobody.

Two peers that counted as much as a number on the wire can be made a reply that could not be sent,
which was taken for a bug of the peer that had asked, and ended it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chord import replace
from meteor import Client
from meteor.wire import codec
from meteor.wire.action_messages import Performed
from meteor.wire.codec import wire_codec
from meteor.wire.operations import Summary
from sim.overlay import Overlay
from squid import HandOn, Intervals, Work
from tests.meteor.building import SPACE

OF_ALL = {"everywhere": True, "timeout": 3}
ASKED: dict[str, Callable[[Client], Any]] = {
    "retrieve": lambda client: client.retrieve("type=*", **OF_ALL).all(),
    "delete_data": lambda client: client.delete_data("type=*", **OF_ALL),
    "notify_data": lambda client: client.notify_data("type=*", **OF_ALL),
}
FARTHEST = [2**64 - 1, -(2**63)]


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(peers=5, space=SPACE, seed=1, codec=wire_codec())


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("count", FARTHEST)
def test_counts_of_peers_that_say_anything(overlay: Overlay, asked: str, count: int) -> None:
    for peer in overlay.peers[1:]:
        point, perform = peer.core.point, peer.core.point.perform

        async def lie(
            share: HandOn, part: Intervals, perform: Callable[..., Any] = perform
        ) -> Work:
            return replace(await perform(share, part), body=codec.encode(Summary(count)))

        point.answer = lambda _, __: None  # type: ignore[method-assign]
        point.perform = lie  # type: ignore[method-assign]
    client = overlay.client(peer=0)
    overlay.run(ASKED[asked](client))
    assert overlay.run(client.store("type=light temperature=20", b"x")).complete


@pytest.mark.parametrize("count", FARTHEST)
def test_counts_of_runs_that_say_anything(overlay: Overlay, count: int) -> None:
    for peer in overlay.peers[1:]:
        performing = peer.core._performing

        async def lie(request: Any, _: float) -> Performed:
            return Performed(request.intervals, count)

        performing._perform = lie  # type: ignore[method-assign, assignment]
    answer = overlay.client(peer=0).perform("mean", "type=*", allow_partial=True, **OF_ALL)
    overlay.run(answer.all())
    assert answer.receipt is not None
    assert not answer.receipt.complete


def test_a_version_that_nobody_can_count_on_from(overlay: Overlay) -> None:
    """Who lets a record follow says a later one than was heard of."""
    client = overlay.client(peer=0)
    full_id = overlay.run(client.store("type=light temperature=20", b"x")).id
    for peer in overlay.peers:
        changes = peer.core.point.changes

        async def lie(*_: object, **__: object) -> Summary:
            return Summary(0, refused="older", version=2**64 - 1)

        changes.amend = lie  # type: ignore[method-assign, assignment]
    known = next(
        placed.carried
        for peer in overlay.peers
        for placed in peer.core.shelf.table
        if placed.carried.id == full_id
    )
    word = replace(known, kind="moved", moved_to=full_id)
    overlay.run(overlay.peers[0].core.entry.bury(word, 5))
