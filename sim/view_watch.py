"""Sees every view that a peer becomes the primary of: the eyes of `sim.checkers.ownership`.

Law of this file: it looks on from outside, at the moment at which a peer takes a view for its own,
and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from sim.checkers.ownership import Claim, OwnerLedger
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer
from squid import Intervals


class OwnedView(Protocol):
    """What is looked at of a view."""

    @property
    def epoch(self) -> int:
        """Of its intervals."""

    @property
    def intervals(self) -> Intervals:
        """What the peer is the primary of."""


class ViewWatch:
    """Holds the owners of one run against one another."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay
        self._ledger = OwnerLedger()
        self._found: dict[str, None] = {}
        overlay.hear_of_new(self._attach)

    @property
    def violations(self) -> list[str]:
        """What was seen so far."""
        return list(self._found)

    def _attach(self, peer: SimPeer) -> None:
        views = peer.core.views

        def claimed(view: OwnedView) -> None:
            claim = Claim(peer.address, view.epoch, view.intervals, self._overlay.kernel.now())
            self._found.update(dict.fromkeys(self._ledger.add(claim)))

        for view in views.own.values():
            claimed(view)
        views.own = _Observed(views.own, claimed)


class _Observed(dict[int, Any]):
    """A peer's own views, of which every new one is told."""

    def __init__(self, known: Mapping[int, Any], claimed: Callable[[OwnedView], None]) -> None:
        super().__init__(known)
        self._claimed = claimed

    def __setitem__(self, number: int, view: OwnedView) -> None:
        super().__setitem__(number, view)
        self._claimed(view)
