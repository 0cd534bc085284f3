"""Which links a peer keeps open.

Law of this file: pure.  Ring links stay warm by their own traffic; a link that nobody used for a
minute is closed, and of more than `kept_max` the least recently used are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

IDLE_S: Final = 60.0
"""A link that carried nothing for this long is closed."""
KEPT_MAX: Final = 64
"""Links kept by one peer, those to clients not counted (DESIGN section 6)."""
TIDY_EVERY_S: Final = 10.0
"""How often a peer looks at its links."""


@dataclass(frozen=True, slots=True)
class LinkUse:
    """When a link last carried a frame, and whether somebody waits for something on it."""

    address: str
    used_s: float
    busy: bool


def surplus(uses: Sequence[LinkUse], now_s: float, kept_max: int = KEPT_MAX) -> list[str]:
    """The addresses whose links should be closed, longest unused first; busy ones are kept."""
    quiet = sorted((use for use in uses if not use.busy), key=lambda use: (use.used_s, use.address))
    over = max(len(uses) - kept_max, 0)
    return [use.address for i, use in enumerate(quiet) if i < over or now_s - use.used_s >= IDLE_S]
