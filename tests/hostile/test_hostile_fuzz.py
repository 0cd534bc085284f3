"""Whatever comes to a door, out comes an answer or a typed error, nothing else."""

from __future__ import annotations

import math
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arms import MeteorError, Profile
from tests.hostile.corpus import everything
from tests.hostile.doors import DOORS, SPACE, knock, take

EXAMPLES = 60
_ALL = everything()
SEEDS = {
    door: [data for where, _, data in _ALL if where == door and len(data) < 5000] for door in DOORS
}
del _ALL  # the large ones are of no use here
TOKENS = (
    '"', "\\", "(", ")", "|", "..", "*", "//", "/", "=", ">=", "<", "-", "1e9", "20-30", "not ",
    "\u0301", "\U0010ffff", "\ud800", "\x00", "word", "number", "when", " ", "1", "a", "0.5MB",
)  # fmt: skip


@given(st.lists(st.sampled_from(TOKENS), max_size=40).map("".join))
@settings(max_examples=4 * EXAMPLES)
def test_any_text_is_read_or_refused(drawn: str) -> None:
    knock("text", drawn.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("door", DOORS)
@given(data=st.binary(max_size=400))
@settings(max_examples=EXAMPLES)
def test_any_bytes_are_read_or_refused(door: str, data: bytes) -> None:
    knock(door, data)


def mutated(data: bytes, random: Random) -> bytes:
    """A few bytes changed, cut, doubled or put in."""
    changed = bytearray(data)
    for _ in range(random.randrange(1, 6)):
        at = random.randrange(len(changed) + 1)
        end = min(len(changed), at + random.choice([1, 2, 9, 100]))
        what = random.randrange(5)
        if what == 0 and at < len(changed):
            changed[at] ^= 1 << random.randrange(8)
        elif what == 1:
            del changed[at:end]
        elif what == 2:
            changed[at:at] = changed[at:end]
        elif what == 3:
            changed[at:at] = random.choice(TOKENS).encode("utf-8", "surrogatepass")
        else:
            changed[at:at] = random.randbytes(3)
    return bytes(changed)


@pytest.mark.parametrize("door", DOORS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=2 * EXAMPLES)
def test_changed_documents_are_read_or_refused(door: str, seed: int) -> None:
    random = Random(seed)
    knock(door, mutated(random.choice(SEEDS[door]), random))


NAMES = st.sampled_from(["word", "number", "level", "wind", "name", "speed", "when", "x", "_", ""])
WORDS = st.sampled_from(["", "a", "low", "zzz", "\u0390", "\U0010ffff"])
NUMBERS = st.sampled_from([-math.inf, -1e308, -0.0, 5e-324, 1.0, 11.0, 1e308, math.inf])
CHOICE, ANYWHERE = 4, 8


@st.composite
def packed_leaves(draw: st.DrawFn) -> list[object]:
    """An element as a program packs it, with flags that no text has."""
    axis = draw(st.integers(0, 3))
    ends = WORDS if axis == 3 else NUMBERS
    bounds = sorted([draw(ends), draw(ends)]) if axis > 1 else []
    flags = draw(st.sampled_from([0, 0, 0, CHOICE, ANYWHERE, CHOICE + ANYWHERE]))
    return [draw(NAMES), axis + flags, *bounds]


PACKED = st.recursive(
    packed_leaves(),
    lambda below: st.tuples(packed_leaves(), st.lists(below, min_size=1, max_size=4)).map(
        lambda drawn: [*drawn[0], drawn[1]]
    ),
    max_leaves=12,
)


@given(st.lists(PACKED, min_size=1, max_size=5), st.sampled_from([0, CHOICE]), st.booleans())
@settings(max_examples=4 * EXAMPLES)
def test_any_packed_tree_is_taken_or_refused(
    children: list[object], flags: int, is_typed: bool
) -> None:
    with suppress(MeteorError):
        take(Profile.unpack(["x", SPACE.digest if is_typed else b"", ["", flags, children]]))
