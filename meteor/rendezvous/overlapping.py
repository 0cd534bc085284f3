"""Overlapping: what a delete of what overlaps has found, and what of that it may take.

Law of this file: pure.  Such a delete looks first, and takes what it found by the ids.  The same
signed request once more may be its sender's, whose first peer fell between the two, or somebody's
who read along: so it takes what is left of what there was when it was signed, by its author's
counter, counts what was found at first and is gone, and says of what is later that it was let be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chord import dataclass
from meteor.wire.operations import Summary
from squid import Outcome


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of looking once."""

    outcome: Outcome
    summaries: Sequence[Summary]
    ids: Mapping[str, int]
    """What overlaps, by its id, with its version."""

    @property
    def is_repeat(self) -> bool:
        """Whether somebody said that the same request looked before."""
        return any(summary.repeated for summary in self.summaries)

    @property
    def taken_before(self) -> int:
        """How much was found the first time and is no more there."""
        return sum(summary.matches for summary in self.summaries if summary.repeated)

    def up_to(self, newest: int | None) -> dict[str, int]:
        """What may be taken: up to the `newest` version, None for all."""
        if newest is None:
            return dict(self.ids)
        return {one: version for one, version in self.ids.items() if version <= newest}
