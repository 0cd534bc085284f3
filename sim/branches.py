"""Two primaries of one interval at once: what one of them acknowledged, the other one may lack.

Law of this file: it looks on from outside and changes nothing.  An heir that takes over from whom
it cannot hear begins a branch: the primary that it passed over goes on until it hears of that, and
draws later epochs beside it.  A later epoch has what was acknowledged under an earlier one where it
is the same primary's, or where that one gained the interval after it; it has not while it names
just that as its rival (`meteor.copies.rivals`).  So the newest epoch alone does not tell whether
the last copy of something goes down.  Nor do copies: who stood down from a branch keeps nothing,
and is still one of those who tell what was acknowledged in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from chord import Contact
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer
from squid import Intervals, intersect, merge, subtract


class RivalView(Protocol):
    """What is looked at of a view that another one names beside itself."""

    @property
    def intervals(self) -> Intervals:
        """Of what of it."""

    @property
    def holders(self) -> Sequence[Contact]:
        """Who had it, its primary last."""


class KeptView(Protocol):
    """What is looked at of a view."""

    @property
    def primary(self) -> Contact:
        """Who answers for it."""

    @property
    def epoch(self) -> int:
        """Of its intervals."""

    @property
    def since(self) -> int:
        """In which epoch its primary began it."""

    @property
    def intervals(self) -> Intervals:
        """What it is of."""

    @property
    def lost(self) -> Intervals:
        """What of these nobody knew the past of."""

    @property
    def rivals(self) -> Sequence[RivalView]:
        """What was answered for elsewhere at the same time."""


def kept_views(peer: SimPeer) -> Iterator[KeptView]:
    """Of what a peer has all records, as the primary or as a whole copy."""
    views = peer.core.views
    yield from views.own.values()
    yield from (copy.view for copy in views.copies.values() if copy.whole)


def _knew(peer: SimPeer, rival: RivalView) -> bool:
    """Whether a peer has, or remembers that it had, a whole copy of what a rival's primary had."""
    views = peer.core.views
    return peer.contact.id in {one.id for one in rival.holders} and any(
        view.primary in rival.holders[-1:] and intersect(view.intervals, rival.intervals)
        for view in (*kept_views(peer), *views.former)
    )


class Branches:
    """Sees since which epoch every peer has answered for what it answers for."""

    def __init__(self, overlay: Overlay) -> None:
        self._gained: dict[Contact, list[tuple[Intervals, int]]] = {}
        overlay.hear_of_new(self._attach)

    def _attach(self, peer: SimPeer) -> None:
        holdings = peer.core.holdings
        told_before = holdings.on_gain

        def gained(part: Intervals) -> None:
            self._note(peer, part)
            told_before(part)

        holdings.on_gain = gained

    def _note(self, peer: SimPeer, part: Intervals) -> None:
        known = self._gained.get(peer.contact, [])
        known = [(left, epoch) for of, epoch in known if (left := subtract(of, part))]
        for view in peer.core.views.own.values():
            if now := intersect(view.intervals, part):
                known.append((now, view.epoch))
        self._gained[peer.contact] = known

    def only_with(self, fallen: Iterable[SimPeer], others: Iterable[SimPeer]) -> Intervals:
        """Where something may be that was acknowledged under a view of the fallen and that is with
        none of the others."""
        beside = [view for peer in others for view in kept_views(peer)]
        alone: list[Intervals] = []
        for view in dict.fromkeys(view for peer in fallen for view in kept_views(peer)):
            with_others = merge(*(self._has_of(one, view) for one in beside))
            alone.append(subtract(view.intervals, merge(view.lost, with_others)))
        return merge(*alone)

    def unsettled_with(self, fallen: Iterable[SimPeer], others: Iterable[SimPeer]) -> Intervals:
        """What a view of the others names as a rival, where the fallen leave fewer than two who
        had it: one of several cannot know whether the rest went on without it, and nobody will."""
        beside, gone = list(others), list(fallen)
        rivals = {one for peer in beside for view in kept_views(peer) for one in view.rivals}
        return merge(
            *(
                rival.intervals
                for rival in rivals
                if any(_knew(peer, rival) for peer in gone)
                and sum(_knew(peer, rival) for peer in beside) < min(2, len(rival.holders))
            )
        )

    def _has_of(self, later: KeptView, view: KeptView) -> Intervals:
        """Where all that was acknowledged under a view is also there under another one."""
        if later.epoch < view.epoch:
            return ()
        if later.primary == view.primary:
            return later.intervals
        rivals = [one.intervals for one in later.rivals if view.primary in one.holders[-1:]]
        known = self._gained.get(later.primary, [])
        beginning = subtract(later.intervals, merge(*(part for part, _ in known)))
        since = [*known, (beginning, later.since)]
        gained = merge(*(part for part, epoch in since if epoch > view.epoch))
        return subtract(intersect(later.intervals, gained), merge(later.lost, *rivals))
