"""Every arc has one holder: never two that answer for it, and, at rest, never none.

Law of this file: pure functions of who says to hold which closed intervals of the curve.  With
epochs, two holders of different epochs are no violation; with one copy there are none.
"""

from __future__ import annotations

from collections.abc import Mapping

from squid import Intervals

Held = Mapping[str, Intervals]
"""Who says to hold what."""


def overlaps(held: Held) -> list[str]:
    """Every interval that two peers hold."""
    found: list[str] = []
    reach, reached_by = -1, ""
    for first, last, holder in _in_order(held):
        if first <= reach:
            found.append(f"{reached_by} and {holder} both hold [{first:x}, {min(last, reach):x}]")
        if last > reach:
            reach, reached_by = last, holder
    return found


def gaps(held: Held, curve_size: int) -> list[str]:
    """Every interval of a curve of that many indexes that nobody holds."""
    found, next_index = [], 0
    for first, last, _ in _in_order(held):
        if first > next_index:
            found.append(f"nobody holds [{next_index:x}, {first - 1:x}]")
        next_index = max(next_index, last + 1)
    if next_index < curve_size:
        found.append(f"nobody holds [{next_index:x}, {curve_size - 1:x}]")
    return found


def _in_order(held: Held) -> list[tuple[int, int, str]]:
    return sorted(
        (first, last, holder) for holder, intervals in held.items() for first, last in intervals
    )
