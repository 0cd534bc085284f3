"""Sees who keeps what when peers go down: the eyes of `sim.checkers.copies`.

Law of this file: it reads the peers' shelves and holdings from outside and changes nothing; what a
peer says of others counts for nothing.  A peer is up while it is alive and not held.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from sim.branches import Branches, kept_views
from sim.checkers.copies import CopyLedger
from sim.history import History, within
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer
from squid import Intervals, merge, subtract


def current_parts(peers: Iterable[SimPeer], *, with_lost: bool = False) -> dict[SimPeer, Intervals]:
    """Of what each of the peers has the records, as their primary or as a whole copy; of several
    views of one index those of the newest epoch count: an older copy may lack something.  In a lost
    part, left out unless it is asked for, it has what was posted since."""
    had = [
        (view.epoch, subtract(view.intervals, () if with_lost else view.lost), peer)
        for peer in peers
        for view in kept_views(peer)
    ]
    parts: dict[SimPeer, Intervals] = {}
    newer: Intervals = ()
    for _, of_epoch in groupby(sorted(had, key=_by_epoch, reverse=True), key=_by_epoch):
        views = list(of_epoch)
        for _, intervals, peer in views:
            left, before = subtract(intervals, newer), parts.get(peer, ())
            parts[peer] = merge(before, left) if before else left
        newer = merge(newer, *(intervals for _, intervals, _ in views))
    return parts


def _by_epoch(had: tuple[int, Intervals, SimPeer]) -> int:
    return had[0]


class CopyWatch:
    """Keeps account of the copies of one run."""

    def __init__(self, overlay: Overlay, history: History) -> None:
        self._overlay, self._history = overlay, history
        self._branches = Branches(overlay)
        self.ledger = CopyLedger()
        self._last: set[str] = set()
        """The peers that went down as the last ones with something."""

    def went_down(self, *fallen: SimPeer) -> None:
        """These peers crashed, left or were held, all in this moment."""
        up = self._up_beside(fallen)
        only = merge(self._only_with(fallen), self._branches.only_with(fallen, up))
        unsettled = self._branches.unsettled_with(fallen, up)
        self._history.wounds = merge(self._history.wounds, only, unsettled)
        self._last.update(peer.address for peer in fallen if only)
        parts = current_parts(self._all_and(fallen), with_lost=True)
        self.ledger.went_down(
            {peer.address: self._stems(peer, parts.get(peer, ())) for peer in fallen},
            set().union(*(self._stems(peer, parts.get(peer, ())) for peer in up)),
            self._overlay.kernel.now(),
        )

    def have_last_copies(self, peers: Sequence[SimPeer]) -> list[SimPeer]:
        """Those of the peers without whom alone some interval would have no copy that is up."""
        parts = current_parts(self._all_and(peers))
        return [peer for peer in peers if self._lacking((peer,), parts)]

    def was_restarted(self, peer: SimPeer) -> None:
        """The peer has read its journal, whatever became of it since."""
        if peer.core.views.damaged:
            self.ledger.was_damaged(peer.address)

    def is_kept_elsewhere(self, peer: SimPeer) -> bool:
        """Whether all that a peer had which is down is up with others."""
        return peer.address not in self._last and not self.ledger.is_named(peer.address)

    def went_back(self, peer: SimPeer) -> None:
        """A peer that is down has lost what its journal had last: it makes no loss good."""
        self.ledger.was_damaged(peer.address)

    def came_back(self, peer: SimPeer) -> None:
        """The peer was started again, or goes on."""
        self._last.discard(peer.address)
        self.ledger.came_back(peer.address)

    def _only_with(self, peers: Sequence[SimPeer]) -> Intervals:
        """What no peer that is up keeps beside these."""
        return self._lacking(peers, current_parts(self._all_and(peers)))

    def _lacking(self, peers: Sequence[SimPeer], parts: Mapping[SimPeer, Intervals]) -> Intervals:
        theirs = merge(*(parts.get(peer, ()) for peer in peers))
        return subtract(theirs, merge(*(parts.get(up, ()) for up in self._up_beside(peers))))

    def _stems(self, peer: SimPeer, part: Intervals) -> set[str]:
        """The profiles of the run that lie in a part and that the peer has durable."""
        writes, label_of = self._history.writes, self._history.label_of
        labels = (label_of(record.id) for record in peer.core.shelf.store.records())
        return {one for one in labels if one in writes and within(writes[one].index, part)}

    def _all_and(self, peers: Sequence[SimPeer]) -> Iterable[SimPeer]:
        return dict.fromkeys((*self._overlay.living, *peers))

    def _up_beside(self, peers: Sequence[SimPeer]) -> list[SimPeer]:
        return [
            peer for peer in self._overlay.living if peer not in peers and not peer.runtime.paused
        ]
