"""Sets of slots as bits in words of 64, so that one operation of numpy handles 64 profiles.

Law of this file: pure functions on arrays; slot s is bit s % 64 of word s // 64.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Slots = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

WORD_BITS: Final = 64
BITS: Final = [np.uint64(1 << place) for place in range(WORD_BITS)]
_BITS: Final = np.array(BITS, np.uint64)
_DENSE: Final = 4
"""From one word in so many on, it is quicker to unpack all words than to pick."""


def words_for(slots: int) -> int:
    """How many words hold so many slots."""
    return (slots + WORD_BITS - 1) // WORD_BITS


def empty_words(count: int) -> Words:
    """So many words without a bit."""
    return np.zeros(count, np.uint64)


def slots_in(words: Words) -> Slots:
    """The slots whose bits are set, in order."""
    filled = np.flatnonzero(words)
    if len(filled) * _DENSE > len(words):
        return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
    bits = np.flatnonzero(np.unpackbits(words[filled].view(np.uint8), bitorder="little"))
    found: Slots = (filled[bits >> 6] << 6) + (bits & 63)
    return found


def are_set(words: Words, slots: Slots) -> Mask:
    """Which of the slots have their bit set."""
    mask: Mask = (words[slots >> 6] & _BITS[slots & 63]) != 0
    return mask


def masks_of(slots: Slots) -> tuple[Slots, Words]:
    """The words that the slots, given in order, lie in, each once, with their bits there."""
    places = slots >> 6
    bits = _BITS[slots & 63]
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    return places[starts], np.bitwise_or.reduceat(bits, starts)


def set_bits(words: Words, slots: Slots) -> None:
    """Set the bits of the slots, given in order."""
    if len(slots):
        places, masks = masks_of(slots)
        words[places] |= masks


def clear_bits(words: Words, slots: Slots) -> None:
    """Clear the bits of the slots, given in order."""
    if len(slots):
        places, masks = masks_of(slots)
        words[places] &= ~masks


def packed(mask: Mask) -> Words:
    """The words of a mask whose length is a multiple of 64."""
    words: Words = np.packbits(mask, bitorder="little").view(np.uint64)
    return words


def grown(words: Words, count: int) -> Words:
    """The words, in their last axis made `count` long."""
    longer = np.zeros((*words.shape[:-1], count), np.uint64)
    longer[..., : words.shape[-1]] = words
    return longer
