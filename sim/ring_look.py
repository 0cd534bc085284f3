"""What an onlooker sees of an overlay's ring.

Law of this file: it reads the peers' pointers from outside and changes nothing.
"""

from __future__ import annotations

from sim.checkers import convergence
from sim.checkers.convergence import Pointers
from sim.overlay import Overlay


def ring_flaws(overlay: Overlay) -> list[str]:
    """How the ring of the living peers differs from the ideal one."""
    members = {
        peer.contact: Pointers(peer.core.node.predecessor, peer.core.node.successors)
        if peer.core.node.joined
        else None
        for peer in overlay.living
    }
    return convergence.flaws(members, overlay.config.successor_count)
