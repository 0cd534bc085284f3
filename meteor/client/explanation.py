"""What a selector costs: its box, the stretches of the curve that it covers, whom it concerns.

Law of this file: pure; the same placing, refinement and arcs that route a query, so that what is
shown is what would happen.  The exact list of clusters is bounded: its length is the surface of the
box (DESIGN section 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from arms import Profile
from chord import Contact
from meteor.admission import place
from meteor.client.draft import typed_profile
from meteor.wire.messages import Neighbour, RingPicture
from squid import Box, Interval, Intervals, KeywordSpace, count_indexes, of_arc

CLUSTERS_MAX: Final = 64
"""Stretches that are listed; further ones are joined over the smallest gaps."""


@dataclass(frozen=True, slots=True)
class Touched:
    """A peer that a query concerns."""

    contact: Contact
    stored: int
    """Records that it holds; -1 while unknown."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What asking for a selector means in a ring."""

    profile: Profile
    box: Box
    clusters: tuple[Interval, ...]
    is_exact: bool
    """Whether the clusters are all and no more."""
    share: float
    """Of the curve that the clusters cover."""
    touched: tuple[Touched, ...]
    peers: int
    """In the whole ring."""
    needs_everywhere: bool

    def lines(self, space: KeywordSpace) -> Iterator[str]:
        """The explanation for people: the share of each axis, of the curve, and the peers."""
        yield str(self.profile)
        side = space.curve.side
        for name, low, high in zip(space.names, self.box.low, self.box.high, strict=True):
            yield f"  {name}: {(high - low + 1) / side:.3%} of its axis"
        joined = "" if self.is_exact else ", some joined across a gap"
        stretches = _counted(len(self.clusters), "stretch", "es")
        yield f"  {stretches} of the curve{joined}: {self.share:.3%} of it"
        yield f"  {len(self.touched)} of {self.peers} peers would be asked"
        for one in self.touched:
            stored = "? records" if one.stored < 0 else _counted(one.stored, "record", "s")
            yield f"    {one.contact.address}  {one.contact.id:x}  {stored}"
        if self.needs_everywhere:
            yield "  it is the whole space: it needs everywhere=True (--everywhere)"

    def as_object(self, space: KeywordSpace) -> dict[str, Any]:
        """The explanation for JSON: cells as numbers, curve indexes as text."""
        return {
            "profile": str(self.profile),
            "needs_everywhere": self.needs_everywhere,
            "box": [
                {
                    "name": name, "low": low, "high": high,
                    "from": low / space.curve.side, "to": (high + 1) / space.curve.side,
                }
                for name, low, high in zip(space.names, self.box.low, self.box.high, strict=True)
            ],
            "clusters": [[str(first), str(last)] for first, last in self.clusters],
            "exact": self.is_exact,
            "share": self.share,
            "touched": [
                {"id": f"{one.contact.id:x}", "address": one.contact.address, "stored": one.stored}
                for one in self.touched
            ],
            "peers": self.peers,
        }  # fmt: skip


def explain(
    selector: str | Profile, space: KeywordSpace, picture: RingPicture, id_bits: int
) -> Explanation:
    """What asking for a selector means; raises as `Verbs.retrieve` for what is wrong with it."""
    profile = typed_profile(selector, space)
    curve = space.curve
    box = place(profile, "retrieve", space, everywhere=True)
    clusters = tuple(curve.clusters(box, CLUSTERS_MAX))
    touched = tuple(
        Touched(peer.contact, peer.stored)
        for peer, held in zip(picture.peers, arcs_of(picture.peers, space, id_bits), strict=True)
        if any(curve.has_match(box, first, last) for first, last in held)
    )
    return Explanation(
        profile=profile,
        box=box,
        clusters=clusters,
        is_exact=len(clusters) < CLUSTERS_MAX,
        share=count_indexes(clusters) / curve.size,
        touched=touched,
        peers=len(picture.peers),
        needs_everywhere=box.is_whole(curve),
    )


def arcs_of(peers: Sequence[Neighbour], space: KeywordSpace, id_bits: int) -> list[Intervals]:
    """The curve indexes of each peer's arc."""
    curve = space.curve
    if len(peers) == 1:
        return [((0, curve.size - 1),)]
    size = 1 << id_bits
    return [
        of_arc((peer.first - 1) % size, peer.contact.id, curve.index_bits, id_bits)
        for peer in peers
    ]


def _counted(count: int, thing: str, plural: str) -> str:
    """A number of things: 1 record, 2 records."""
    return f"{count} {thing}{'' if count == 1 else plural}"
