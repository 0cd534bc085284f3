"""What a delegation is for, of what is kept: as narrow as what its delegate may post.

Law of this file: pure.  Content that says two things of one place is found by both, and lies within
neither alone, as for a policy's rules (docs/security.md).
"""

from __future__ import annotations

from arms import INTEREST, Kind, Profile
from meteor.wire.document import unpack_profile


def is_within(limit: bytes, profile: Profile, kind: Kind) -> bool:
    """Whether a record lies within the packed selector of a delegation, and content has nothing
    else where that looks; empty for everything."""
    if not limit:
        return True
    selector = unpack_profile(limit)
    if kind == INTEREST:
        return selector.contains_profile(profile, as_selector=True)
    return profile.keeps_to(selector)
