"""An interest that could not be attached to a new link at once is attached to it in the end."""

from __future__ import annotations

from typing import Any

import pytest

from meteor import Timeout
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE


@pytest.mark.parametrize("keep_alive", [True, False])
def test_a_stream_goes_on_though_its_first_attempt_to_re_attach_was_lost(keep_alive: bool) -> None:
    """Nobody tried again before a third of its ttl was over, or ever if it is not kept alive: all
    that time its notices went to a peer that its client had left."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    client = overlay.client(peer=2)
    session = client._session
    interest = overlay.run(_opened(client, keep_alive))
    amend, tries = session.amend, list[str]()

    async def slow(verb: str, id: str, timeout_s: float, **fields: Any) -> Any:
        tries.append(verb)
        if len(tries) == 1:
            raise Timeout("the new peer is busy, or a holder is being replaced")
        return await amend(verb, id, timeout_s, **fields)

    session.amend = slow  # type: ignore[method-assign]
    overlay.peers[2].crash()
    overlay.run_for(20)
    overlay.run(overlay.client(peer=1).store("type=alarm temperature=55", b"new"))
    assert overlay.run(interest.recv(timeout=60)).data == b"new"
    assert len(tries) == 2


def test_what_lives_shortly_is_not_tried_again_too_late() -> None:
    """Nobody answered for a minute; then it was half a minute until it was tried once more, though
    a renewal was due every two seconds."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)
    client = overlay.client(peer=2)
    session, tries = client._session, list[float]()
    interest = overlay.run(client_opened(client))
    amend, began_s = session.amend, session.runtime.now()

    async def silent(verb: str, id: str, timeout_s: float, **fields: Any) -> Any:
        tries.append(session.runtime.now())
        if session.runtime.now() - began_s < 60.0:
            raise Timeout("a ring that is being started")
        return await amend(verb, id, timeout_s, **fields)

    session.amend = silent  # type: ignore[method-assign]
    overlay.run_for(62.5)
    assert tries[-1] > began_s + 60.0
    overlay.run(overlay.client(peer=1).store("type=alarm temperature=55", b"new"))
    assert overlay.run(interest.recv(timeout=60)).data == b"new"


async def client_opened(client: Any, **options: Any) -> Any:
    return await client.notify_data("type=alarm temperature=50..60", **{"ttl": 6, **options})


async def _opened(client: Any, keep_alive: bool) -> Any:
    return await client.notify_data(
        "type=alarm temperature=50..60", ttl=3600, keep_alive=keep_alive
    )


@pytest.mark.parametrize("cut", ["while it lives", "as it opens"])
def test_what_was_attached_to_a_part_of_its_region_is_soon_attached_to_all(cut: str) -> None:
    """A ring comes back after a power cut, one peer first: who is linked to it is attached anew to
    what that peer holds, and the others keep the route that their journals have.  It was tried
    again at the next renewal only, ten minutes later for an interest of half an hour."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5, copies=1)
    client = overlay.client(peer=2)
    before = overlay.peers[:]
    if cut == "while it lives":
        interest = overlay.run(client_opened(client, ttl=1800))
        for peer in before:
            peer.crash()
        overlay.run(overlay.restart(before[0]))
        overlay.run_for(60)
    else:
        for peer in before[3:]:
            peer.crash()
        interest = overlay.run(client_opened(client, ttl=1800, allow_partial=True))
    for peer in before:
        if not peer.alive and overlay.peers[before.index(peer)] is peer:
            overlay.run(overlay.restart(peer))
    overlay.run_for(60)
    overlay.run(overlay.client(peer=1).store("type=alarm temperature=55", b"new"))
    assert overlay.run(interest.recv(timeout=60)).data == b"new"
    assert interest.missing == ()
