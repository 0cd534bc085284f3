"""Which acknowledged records had all their copies down at once: these, and no others, may be lost.

Law of this file: pure bookkeeping over what an onlooker saw, never over what peers say of one
another: whenever peers go down, which records each of them had durable, and which are on a peer
that is up.  A record without any such copy is noted with the copies that died.  The note stands
until all of these are up again at once, restarted or resumed: of some alone nobody could tell
whether they are the last word; what is lost once more is noted anew, with the copies that died
then.  One that is back with a damaged journal cannot tell either.  `sim.checkers.durability` judges
by it.  DESIGN section 5: one survivor is enough.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """One record whose every copy was down at one moment."""

    stem: str
    at_s: float
    """When the last copy went down."""
    copies: tuple[tuple[str, float], ...]
    """The peers that had it, and since when each is down, the last one last."""

    def __str__(self) -> str:
        died = ", ".join(f"{peer} at {at_s:.3f} s" for peer, at_s in self.copies)
        return f"{self.stem}: {len(self.copies)} copies down: {died}"


class CopyLedger:
    """Who is down with which records, and what was lost by it."""

    def __init__(self) -> None:
        self._down: dict[str, tuple[float, frozenset[str]]] = {}
        self._spoilt: set[str] = set()
        """The stems whose loss a copy cannot make good that came back with a damaged journal."""
        self._open: dict[str, Loss] = {}
        """By stem, the last loss, until all its copies have been up at once."""
        self.losses: dict[str, Loss] = {}
        """By stem; the first time counts."""

    def went_down(
        self, fallen: Mapping[str, Collection[str]], survivors: Collection[str], at_s: float
    ) -> list[Loss]:
        """Peers went down together, each with the stems that it had durable; `survivors` are the
        stems on any peer that is up.  Returns what has no copy up any more."""
        for peer, stems in fallen.items():
            self._down[peer] = (at_s, frozenset(stems))
        suspects = {stem for stems in fallen.values() for stem in stems}
        lost = []
        for stem in sorted(suspects.difference(survivors)):
            since = [(s, peer) for peer, (s, stems) in self._down.items() if stem in stems]
            loss = Loss(stem, at_s, tuple((peer, s) for s, peer in sorted(since)))
            lost.append(loss)
            self.losses.setdefault(stem, loss)
            self._open[stem] = loss
            self._spoilt.discard(stem)
        return lost

    def open_losses(self) -> dict[str, Loss]:
        """The losses of which some copy is still down, by stem: what may be lost for good."""
        return dict(self._open)

    def is_named(self, peer: str) -> bool:
        """Whether the peer had a copy of anything that has none up since."""
        return any(peer == copy for loss in self._open.values() for copy, _ in loss.copies)

    def was_damaged(self, peer: str) -> None:
        """The peer was started again, and its journal had lost something."""
        named = {stem: [copy for copy, _ in one.copies] for stem, one in self._open.items()}
        self._spoilt |= {stem for stem, copies in named.items() if peer in copies}

    def came_back(self, peer: str) -> None:
        """The peer is up again, with what its journal kept.

        What it makes good excuses nothing any more, also when its peers go down again."""
        self._down.pop(peer, None)
        self._open = {
            stem: loss
            for stem, loss in self._open.items()
            if stem in self._spoilt or any(copy in self._down for copy, _ in loss.copies)
        }
