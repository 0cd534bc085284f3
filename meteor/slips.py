"""Names that are nearly those of dimensions: what somebody who mistyped one is told.

Law of this file: pure.  A space may allow attributes beside its dimensions, so that a name which is
no dimension's is no error; whoever is told decides whether it was meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

from arms import Profile
from squid import KeywordSpace

NAMES_COMPARED: Final = 16
"""Of a profile: comparing costs time, and anybody may have sent it."""
ALIKE: Final = 0.6
"""How alike two names are that may be one where no name fits (`difflib`)."""
NEARLY_SAME: Final = 0.85
"""How alike they are where the profile could be right: `temperature_max` is a name of its own."""


def slip_in(
    profile: Profile, space: KeywordSpace, alike: float = NEARLY_SAME
) -> tuple[str, str] | None:
    """The first name that is no dimension's, and the dimension's that it nearly is; None if there
    is none."""
    for name in islice(_paths(profile.element, ""), NAMES_COMPARED):
        if not any(one == name or one.startswith(f"{name}/") for one in space.names):
            near = get_close_matches(name, space.names, 1, alike)
            if near:
                return name, near[0]
    return None


def _paths(element: Any, above: str) -> Iterator[str]:
    """The paths of all elements below one, as dimensions are named."""
    for child in element.children:
        path = above if child.name == "_" else f"{above}/{child.name}".lstrip("/")
        if path != above:
            yield path
        yield from _paths(child, path)
