"""Skilling's transform between coordinates and the transposed Hilbert index, for one point.

Law of this file: plain Python integers, in place on the list given.  The algorithm is that of
J. Skilling, "Programming the Hilbert curve" (AIP 707, 2004).  For arrays: `squid.array_codec`.
"""

from __future__ import annotations


def transpose(cells: list[int], bits: int) -> None:
    """Turn the coordinates of a point into its index, one bit of each digit a coordinate."""
    others = range(1, len(cells))
    head = cells[0]
    for level in range(bits - 1, 0, -1):
        below = (1 << level) - 1
        if head >> level & 1:
            head ^= below
        for place in others:
            cell = cells[place]
            if cell >> level & 1:
                head ^= below
            else:
                swapped = (head ^ cell) & below
                head ^= swapped
                cells[place] = cell ^ swapped
    cells[0] = head
    for place in others:
        cells[place] ^= cells[place - 1]
    correction = suffix_parity(cells[-1] >> 1, bits)
    for place in range(len(cells)):
        cells[place] ^= correction


def restore(cells: list[int], bits: int) -> None:
    """Turn a transposed index back into the coordinates: the inverse of `transpose`."""
    correction = cells[-1] >> 1
    for place in range(len(cells) - 1, 0, -1):
        cells[place] ^= cells[place - 1]
    head = cells[0] ^ correction
    others = range(len(cells) - 1, 0, -1)
    for level in range(1, bits):
        below = (1 << level) - 1
        for place in others:
            cell = cells[place]
            if cell >> level & 1:
                head ^= below
            else:
                swapped = (head ^ cell) & below
                head ^= swapped
                cells[place] = cell ^ swapped
        if head >> level & 1:
            head ^= below
    cells[0] = head


def suffix_parity(word: int, bits: int) -> int:
    """Each bit becomes the parity of itself and all bits above it."""
    reach = 1
    while reach < bits:
        word ^= word >> reach
        reach <<= 1
    return word
