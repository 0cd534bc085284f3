"""The Hilbert curve as a finite-state machine on signed permutations.

Law of this file: no points and no queries here, only the states of Skilling's curve (2004) and
what one index bit does to them.

Take the curve level by level: one bit of every coordinate, the most significant first.  A state
is a permutation of the dimensions, a flip for each, and how far the level has come.  With `y` the
coordinate bit of slot j's dimension, turned over where the slot is flipped, the index bits of a
level are the running parity of the y's (inverse Gray code), and the next state depends on the y's
alone.  So *every index bit halves the box of the prefix before it along one dimension*: the
refinement tree is binary, and a prefix of any length is a box.
"""

from __future__ import annotations

from functools import cache
from typing import Final

Step = tuple[int, int, int, int]
"""What the next index bit does in a state: the dimension that it halves, whether a zero bit takes
the upper half (1) or the lower (0), the state after a zero bit, the state after a one."""

_SLOT_BITS: Final = 3
_FLIP_SHIFT: Final = 24
_SLOT_SHIFT: Final = 32
_PARITY_SHIFT: Final = 35
_MOST_STATES: Final = 1 << 16
"""Steps kept per number of dimensions.  Up to four dimensions there are fewer; with eight there
are millions, of which a query meets a few thousand."""


class Steps(dict[int, Step]):
    """The step of every state met so far, by state; the others are worked out when asked for."""

    def __init__(self, dimensions: int) -> None:
        super().__init__()
        self.dimensions = dimensions
        self.start = _pack(list(range(dimensions)), [0] * dimensions, 0, 0)
        """The state before the first index bit."""

    def __missing__(self, state: int) -> Step:
        if len(self) >= _MOST_STATES:
            self.clear()
        permutation, flips, slot, parity = _unpack(state, self.dimensions)
        upper = parity ^ flips[slot]
        step = (
            permutation[slot],
            upper,
            _successor(permutation, flips, slot, parity, index_bit=0),
            _successor(permutation, flips, slot, parity, index_bit=1),
        )
        self[state] = step
        return step


@cache
def steps(dimensions: int) -> Steps:
    """The one machine of a number of dimensions, shared by all curves."""
    return Steps(dimensions)


def _successor(
    permutation: list[int], flips: list[int], slot: int, parity: int, index_bit: int
) -> int:
    """The state after one more index bit; the lists are left as they are."""
    order, flip = permutation.copy(), flips.copy()
    y = index_bit ^ parity
    if slot == 0:
        flip[0] ^= y
    elif y:
        flip[0] ^= 1
    else:
        order[0], order[slot] = order[slot], order[0]
        flip[0], flip[slot] = flip[slot], flip[0]
    if slot < len(order) - 1:
        return _pack(order, flip, slot + 1, index_bit)
    flip[0] ^= index_bit  # Skilling's closing correction, which keeps the machine finite
    return _pack(order, flip, 0, 0)


def _pack(permutation: list[int], flips: list[int], slot: int, parity: int) -> int:
    state = slot << _SLOT_SHIFT | parity << _PARITY_SHIFT
    for place, (dimension, flip) in enumerate(zip(permutation, flips, strict=True)):
        state |= dimension << _SLOT_BITS * place | flip << _FLIP_SHIFT + place
    return state


def _unpack(state: int, dimensions: int) -> tuple[list[int], list[int], int, int]:
    places = range(dimensions)
    permutation = [state >> _SLOT_BITS * place & 7 for place in places]
    flips = [state >> _FLIP_SHIFT + place & 1 for place in places]
    return permutation, flips, state >> _SLOT_SHIFT & 7, state >> _PARITY_SHIFT & 1
