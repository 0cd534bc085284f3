"""Out of reach: what an owner has that a delegate's post under the same name may not push aside.

Law of this file: pure.  A delegation with a selector is for what lies within that; a name is not
looked for in the whole ring, so that a delegate may post under one that is another record's, which
lives elsewhere and does not lie within.  A peer keeps one version of a record: wherever the two
meet the delegate's gives way, however late it is, as no word of his is about the other one.
"""

from __future__ import annotations

from typing import Final

from arms import DATA, INTEREST, WATCH
from meteor.errors import MeteorError
from meteor.security.delegated import is_within
from meteor.wire.document import decode_document, unpack_profile
from meteor.wire.operations import Carried

_KINDS: Final = frozenset({DATA, INTEREST, WATCH})


def is_out_of_reach(limit: bytes, carried: Carried) -> bool:
    """Whether a record does not lie within the packed selector of a delegation."""
    if not limit or carried.kind not in _KINDS:
        return False
    try:
        profile = unpack_profile(decode_document(carried.blob).profile)
        return not is_within(limit, profile, carried.kind)
    except MeteorError:  # other peers say so
        return False


def gives_way(one: Carried, other: Carried) -> bool:
    """Whether one state of an identity gives way to the other, at another place, whichever is
    later; of two that are out of each other's reach the later does."""
    if one.id == other.id or not (one.limit or other.limit) or one.kind not in _KINDS:
        return False
    if not is_out_of_reach(one.limit, other):
        return False
    is_the_later = (one.version, one.id) > (other.version, other.id)
    return is_the_later or not is_out_of_reach(other.limit, one)
