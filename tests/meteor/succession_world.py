"""What is asked of a ring whose copies change: who holds what, and whether something was done."""

from __future__ import annotations

from collections.abc import Callable

from meteor import Client, MeteorError
from sim.overlay import Overlay, SimPeer
from tests.meteor.copies_world import (
    copies_of,
    primary_of,
)


def wait_until(
    overlay: Overlay, condition: Callable[[], bool], seconds: float, *, step_s: float = 0.05
) -> None:
    """Let virtual time pass until something is so; fails when it is not within `seconds`."""
    ends_s = overlay.kernel.now() + seconds
    while not condition():
        assert overlay.kernel.now() < ends_s, "it did not come"
        overlay.run_for(step_s)


NOTE_S = 0.01
"""What a disk takes for a note."""


def is_replacing_a_copy(overlay: Overlay) -> bool:
    """Whether some copy has noted an epoch that its primary has not."""
    own = {peer.contact.id: peer.core.views.own for peer in overlay.living}
    return any(
        (view := own[primary].get(number)) is None or view.epoch < copy.view.epoch
        for peer in overlay.living
        for (primary, number), copy in peer.core.views.copies.items()
        if primary in own
    )


def holders_of(overlay: Overlay, record_id: str) -> list[SimPeer]:
    return [primary_of(overlay, record_id), *copies_of(overlay, record_id)]


def client_at(overlay: Overlay, peer: SimPeer) -> Client:
    return overlay.client(peer=overlay.living.index(peer))


async def tried(work: object) -> bool:
    try:
        await work  # type: ignore[misc]
    except MeteorError:
        return False
    return True
