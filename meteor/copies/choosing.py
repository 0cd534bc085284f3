"""Choosing: who should have copies of what one peer holds, and who of those that have some may.

Law of this file: it asks the ring's list of successors, and nobody else (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice

from chord import ChordNode, Contact
from meteor.copies.config import CopiesConfig


class Choosing:
    """Whom one peer would have as copies."""

    def __init__(self, node: ChordNode, config: CopiesConfig) -> None:
        self._node, self._config = node, config

    def among(self, having: Iterable[Contact]) -> tuple[Contact, ...]:
        """Whom of those that have all of a view to begin it with: who should have copies, then
        others that have one.  Whom the ring does not name is let go once enough of the named are
        filled; without them a peer that falls just then would have been alone with it."""
        known = {one.id: one for one in having if one.id != self._node.contact.id}
        named = [one for one in self.wanted() if one.id in known]
        others = [one for one in known.values() if one.id not in {peer.id for peer in named}]
        return tuple((*named, *others)[: self._config.copies - 1])

    def wanted(self, silent: Collection[int] = ()) -> tuple[Contact, ...]:
        """Who should have copies: the next k - 1 on the ring, as it is without the silent ones."""
        named = (one for one in self._node.successors if one.id not in silent)
        return tuple(islice(named, self._config.copies - 1))
