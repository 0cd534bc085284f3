"""Sets of slots as bits in words of 64, so that one operation of numpy handles 64 profiles.

Law of this file: pure functions on arrays; slot s is bit s % 64 of word s // 64.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Slots = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Number = TypeVar("Number", np.intp, np.float64)

WORD_BITS: Final = 64
BITS: Final = [np.uint64(1 << place) for place in range(WORD_BITS)]
_BITS: Final = np.array(BITS, np.uint64)
_ALL_BITS: Final = np.uint64(2**64 - 1)
_SHORT: Final = 256
_DENSE: Final = 3
"""From one filled word in so many on, it is quicker to unpack all words than to pick."""
_SLOW_FROM, _SLOW_TO = 0.05, 0.1
"""Up to a tenth of true ones, numpy seeks them one by one; a tail of set bits makes it count."""


def words_for(slots: int) -> int:
    """How many words hold so many slots."""
    return (slots + WORD_BITS - 1) // WORD_BITS


def empty_words(count: int) -> Words:
    """So many words without a bit."""
    return np.zeros(count, np.uint64)


def slots_in(words: Words) -> Slots:
    """The slots whose bits are set, in order."""
    if len(words) <= _SHORT:
        return _unpacked(words).nonzero()[0]
    filled = words.astype(bool).nonzero()[0]
    if len(filled) * _DENSE <= len(words):
        return _slots_of(filled, words.take(filled))
    set_share = bits_in(words) / (len(words) * WORD_BITS)
    if not _SLOW_FROM < set_share < _SLOW_TO:
        return _unpacked(words).nonzero()[0]
    spare = len(words) // 8 + 1
    bits = _unpacked(np.concatenate([words, np.full(spare, _ALL_BITS)])).nonzero()[0]
    return bits[: -spare * WORD_BITS]


def slots_up_to(most: int, words: Words) -> Slots | None:
    """The slots whose bits are set, in order; None if there are many more than `most`."""
    if len(words) <= _SHORT:
        mask = _unpacked(words)
        return mask.nonzero()[0] if np.count_nonzero(mask) <= most else None
    filled = words.astype(bool).nonzero()[0]
    if len(filled) > most or len(filled) * _DENSE > len(words):
        return None
    return _slots_of(filled, words.take(filled))


def _slots_of(places: Slots, words: Words) -> Slots:
    """The slots of the words that lie in these places."""
    bits = _unpacked(words).nonzero()[0]
    slots: Slots = (places.take(bits >> 6) << 6) + (bits & 63)
    return slots


def bits_in(words: Words) -> int:
    """How many bits are set."""
    return int(np.add.reduce(np.bitwise_count(words), dtype=np.intp))


def joined(slots: Slots, more: Slots) -> Slots:
    """Both, one after the other."""
    if not len(more):
        return slots
    return np.concatenate([slots, more]) if len(slots) else more


def each_once(ordered: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Of numbers in order, each once."""
    # `np.unique` would sort them again, and it holds the peer up when it is asked for the first
    # time: it loads masked arrays, some ten milliseconds.
    different = np.empty(len(ordered), bool)
    different[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], different[1:])
    return ordered[different]


def sorted_once(numbers: list[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    """All of them in order, each once."""
    ordered = np.concatenate(numbers)
    ordered.sort()
    return each_once(ordered)


def _unpacked(words: Words) -> Mask:
    return np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)


def are_set(words: Words, slots: Slots) -> Mask:
    """Which of the slots have their bit set."""
    mask: Mask = (words[slots >> 6] & _BITS[slots & 63]) != 0
    return mask


class Batch(NamedTuple):
    """Slots, given in order, by the words that their bits lie in."""

    slots: Slots
    bits: Words
    """The bit of each slot in its word."""
    starts: Slots
    """Where the slots of each word begin."""
    words: Slots
    """The words, each once ..."""
    word_of: Slots
    """... and which of them is each slot's."""

    @classmethod
    def of(cls, slots: Slots) -> Batch:
        """The batch of these slots, at least one."""
        places = slots >> 6
        begins = np.empty(len(places), bool)
        begins[0] = True
        np.not_equal(places[1:], places[:-1], out=begins[1:])
        starts = begins.nonzero()[0]
        return cls(slots, _BITS[slots & 63], starts, places[starts], begins.cumsum() - 1)

    def masks(self) -> Words:
        """All bits in each of the words."""
        masks: Words = np.bitwise_or.reduceat(self.bits, self.starts)
        return masks

    def up_to(self, buckets: Slots, count: int) -> Words:
        """The bits of the slots that lie in a bucket or in one before it, a line for each of the
        first `count` buckets."""
        width = len(self.words)
        lines = np.zeros((count + 1, width), np.uint64)
        # Bits of different slots: to add them is to have them all, and the quicker of the two.
        np.add.at(lines.reshape(-1), buckets * width + self.word_of, self.bits)
        added: Words = np.bitwise_or.accumulate(lines[:count], axis=0)
        return added

    def where(self) -> Slots | slice:
        """The words, as what an array takes in the quickest way."""
        first, last = int(self.words[0]), int(self.words[-1])
        return slice(first, last + 1) if last - first < len(self.words) else self.words


def set_bits(words: Words, slots: Slots) -> None:
    """Set the bits of the slots, given in order."""
    if len(slots):
        batch = Batch.of(slots)
        words[batch.words] |= batch.masks()


def clear_bits(words: Words, slots: Slots) -> None:
    """Clear the bits of the slots, given in order."""
    if len(slots):
        batch = Batch.of(slots)
        words[batch.words] &= ~batch.masks()


def grown(words: Words, count: int) -> Words:
    """The words, in their last axis made `count` long."""
    longer = np.zeros((*words.shape[:-1], count), np.uint64)
    longer[..., : words.shape[-1]] = words
    return longer
