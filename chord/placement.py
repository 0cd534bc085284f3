"""Load-aware placement: whom a joiner asks, which arc it takes, and where that arc is cut.

Law of this file: pure decisions, the same for peers and for studies of rings at scale; every draw
follows from a seed that the joiner names.  The ring knows no data: what a peer carries it hears
from the layer above, by `Burden`.  DESIGN section 2; hilbert.md section 6; Karger and Ruhl,
"Simple efficient load balancing algorithms for peer-to-peer systems", SPAA 2004.

Identifiers drawn evenly find long arcs, which are the light ones where data is dense, so a probe
goes on from there along fingers: those count peers, not identifiers, and a few of them lead to any
peer with nearly the same chance.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypeVar

from chord.identifiers import Arc, distance, identifier
from chord.placement_messages import LoadAnswer

WALKS: Final = 4
"""Probes at once; each begins at a point of its own."""
STOPS_PER_LEVEL: Final = 2
"""Peers asked for each doubling of the ring.  With one, a heavy arc stays unseen for long enough
to end at three times the mean; with two below 2.5 (`meteor-sim load`)."""
_DRAW_BITS: Final = 32

ContactT = TypeVar("ContactT")


class Burden(Protocol):
    """What a peer carries, as the layer above counts it."""

    def load(self, arc: Arc, *, public: bool = False) -> int:
        """How many records lie in an arc of this peer; `public`: that everybody may know of."""

    def split(self, arc: Arc, *, public: bool = False) -> int | None:
        """The identifier of a new peer that takes the first half of the load of an arc; None when
        it cannot be split."""


# -- whom to ask


def stops_of_walk(successors: int, fingers: int) -> int:
    """How many peers each of `WALKS` walks asks, given how many successors and fingers the asker
    has: fingers are one fewer than the doublings of a formed ring."""
    levels = max(successors.bit_length(), fingers + 1)
    return -(-STOPS_PER_LEVEL * levels // WALKS)


def point_of_walk(seed: int, attempt: int, walk: int, bits: int) -> int:
    """The identifier at which a walk begins."""
    return identifier(f"place {seed:x} {attempt} {walk}", bits)


def draw_of_stop(seed: int, attempt: int, walk: int, stop: int) -> int:
    """What decides where a walk goes on from its `stop`-th peer: 0 to 2^32 − 1."""
    return identifier(f"stop {seed:x} {attempt} {walk} {stop}", _DRAW_BITS)


def next_stop(
    successors: Sequence[ContactT], fingers: Sequence[ContactT], draw: int
) -> ContactT | None:
    """Where a walk goes on from a peer with these pointers; None from a peer alone."""
    ways = (*successors[:1], *fingers) if fingers else tuple(successors)
    return ways[draw % len(ways)] if ways else None


# -- which arc to take


def choices(offers: Iterable[LoadAnswer]) -> list[LoadAnswer]:
    """The arcs worth asking for, heaviest first, among equal ones the longest.

    One that is being split counts as half of what it is, and is not asked.  Nor is one below half
    of the heaviest: rather wait, and look again."""
    known = {offer.contact.id: offer for offer in offers}
    ordered = sorted((known[key] for key in sorted(known)), key=_size, reverse=True)
    if not ordered:
        return []
    heaviest = _size(ordered[0])
    return [offer for offer in ordered if not offer.granting and _is_near(_size(offer), heaviest)]


def _size(offer: LoadAnswer) -> tuple[int, int]:
    """Twice the load and the length that will be left of it."""
    factor = 1 if offer.granting else 2
    return factor * offer.load, factor * offer.length


def _is_near(size: tuple[int, int], heaviest: tuple[int, int]) -> bool:
    place = 0 if heaviest[0] else 1  # where nobody carries anything, lengths are compared
    return 2 * size[place] >= heaviest[place]


# -- where it is cut


def split_id(arc: Arc, keys: Iterable[int], bits: int, step: int) -> int | None:
    """The identifier of a new peer that takes about the first half of an arc's records.

    `keys` are the identifiers under which they lie, in any order, one a record; records lie at
    multiples of `step` alone.  The id is that of the record in the middle, moved to the border
    between two different keys; below two of them, of the arc's middle index.  None for an arc of
    one index or none.  The new id is never that of either end."""
    circle = 1 << bits  # how far a peer alone is from itself
    offsets = sorted(distance(arc.after, key, bits) or circle for key in keys)
    return split_id_of_sorted(arc, offsets, bits, step)


def split_id_of_sorted(arc: Arc, offsets: Sequence[int], bits: int, step: int) -> int | None:
    """As `split_id`, from how far the records lie from the start of the arc, in rising order."""
    middle = _median(offsets)
    if middle is None:
        middle = _mid_index(arc, bits, step)
    return None if middle is None else (arc.after + middle) & ((1 << bits) - 1)


def _median(offsets: Sequence[int]) -> int | None:
    """The key up to which the count is nearest to half; None below two different keys."""
    count = len(offsets)
    if count == 0 or offsets[0] == offsets[-1]:
        return None
    middle = offsets[(count - 1) // 2]
    before, through = bisect_left(offsets, middle), bisect_right(offsets, middle)
    if before == 0 or (through < count and through <= count - before):
        return middle
    return offsets[before - 1]


def _mid_index(arc: Arc, bits: int, step: int) -> int | None:
    """How far the middle index lies from the start of the arc."""
    first = step - arc.after % step
    count = (arc.length(bits) - first) // step + 1
    return None if count < 2 else first + step * (count // 2 - 1)


# -- one change of an arc at a time


class Grants:
    """The changes of its own arc that a peer has agreed to: one at a time.

    One ends when it has happened, when it is given back, or after `ttl_s` seconds: whoever asked
    has died, or gone elsewhere.  Other changes of the arc do not end it: the same identifier must
    not be named twice."""

    def __init__(self, ttl_s: float) -> None:
        self._ttl_s = ttl_s
        self._expires_s = float("-inf")
        self._id = 0
        self._joins = True

    def outstanding(self, arc: Arc, now: float) -> bool:
        """Whether a change of the arc is still to come."""
        return now < self._expires_s and (self._id in arc) == self._joins

    def expect_join(self, peer_id: int, now: float) -> None:
        """A peer is to join in the arc under this identifier, which is then no part of it."""
        self._expect(peer_id, now, joins=True)

    def expect_leave(self, peer_id: int, now: float) -> None:
        """The predecessor, which has this identifier, is to leave; then it is part of the arc."""
        self._expect(peer_id, now, joins=False)

    def expect_own_leave(self, own_id: int, now: float) -> None:
        """The peer itself is to leave."""
        self._expect(own_id, now, joins=True)

    def _expect(self, peer_id: int, now: float, *, joins: bool) -> None:
        self._id, self._joins, self._expires_s = peer_id, joins, now + self._ttl_s

    def give_back(self) -> None:
        """The change does not come."""
        self._expires_s = float("-inf")
