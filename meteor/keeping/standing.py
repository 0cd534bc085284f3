"""Where a record stands: which of two states of one record counts, and how a state is told apart.

Law of this file: pure.  A state is equal at every holder or it is another state: it has no expiry,
as two copies of one record never agree on that to the millisecond (only durations travel), and no
number, as every holding draws its own.  What a renewal changes is told by its stamp, which is of
the author's counter and the same wherever the renewal was carried out.  Newer versions win over
older ones, later renewals over earlier ones of the same version, and a delete over all of them, in
whatever version it met the record (DESIGN sections 4 and 5).
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Final

from arms import DATA
from chord import dataclass
from meteor.keeping.out_of_reach import gives_way
from meteor.keeping.placement import GONE, Placed
from meteor.wire.operations import Carried

FINGERPRINT_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of one record, without its content."""

    kind: str
    version: int
    renewed: int
    """Stamp of the last renewal; 0 before the first."""


def standing_of(carried: Carried) -> Standing:
    """The state that a record is in.  All deletes of one record are one state."""
    if carried.kind == GONE:
        return Standing(GONE, 0, 0)
    return Standing(carried.kind, carried.version, carried.renewed)


def supersedes(state: Standing, known: Standing | None) -> bool:
    """Whether a state counts where another one of the same record, or none, is known."""
    if known is None:
        return True
    if GONE in {state.kind, known.kind}:
        return known.kind != GONE
    return (state.version, state.renewed) > (known.version, known.renewed)


def is_later(carried: Carried, known: Carried) -> bool:
    """Whether a holder's word on a record counts more than what is known of it: by its state, or as
    it says that a client is linked to another peer now.  Not by its state where one of both is a
    delegate's and the other out of his reach."""
    if carried.id != known.id and (gives_way(carried, known) or gives_way(known, carried)):
        return gives_way(known, carried)
    state, there = standing_of(carried), standing_of(known)
    if state != there or carried.kind == GONE:
        return supersedes(state, there)
    return carried.route != known.route and carried.number > known.number


def is_renewal(carried: Carried, known: Carried) -> bool:
    """Whether a state differs from what is known by a later renewal alone."""
    state, there = standing_of(carried), standing_of(known)
    same = carried.id == known.id and (state.kind, state.version) == (there.kind, there.version)
    return same and state.renewed > there.renewed


def is_before(carried: Carried, word: Carried) -> bool:
    """Whether a record is in an earlier state than the one of which word was left at its place."""
    return (carried.version, carried.renewed) < (word.version, word.renewed)


def is_numbered_later(carried: Carried, known: Carried) -> bool:
    """Whether data is known just as it comes, but for an earlier number."""
    if carried.kind != DATA or (carried.id, carried.route) != (known.id, known.route):
        return False
    return known.number < carried.number and standing_of(known) == standing_of(carried)


def is_earlier_elsewhere(carried: Carried, known: Placed) -> bool:
    """Whether another holder of what lies in several places says what becomes of it, under an
    earlier number: the pairs of it that clients were told of here, or are to be, have the later."""
    one = known.carried
    same = (one.kind, one.version) == (carried.kind, carried.version)
    return same and not known.is_point and carried.number < known.number


@lru_cache(maxsize=256)
def fingerprint(owner: str, full_id: str, state: Standing) -> int:
    """64 bits for a record in a state: the same at all its holders.  The last are remembered, as
    what is kept is written down with it first and shown under it then."""
    text = f"{owner}\0{full_id}\0{state.kind}\0{state.version}\0{state.renewed}"
    return int.from_bytes(blake2b(text.encode(), digest_size=FINGERPRINT_BITS // 8).digest())


def fingerprint_of(carried: Carried) -> int:
    """The fingerprint of a record as it is kept."""
    return fingerprint(carried.owner, carried.id, standing_of(carried))
