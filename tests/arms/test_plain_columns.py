"""Plain profiles by column: against their trees."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import Profile, plain_form
from arms.plain_columns import MOST_PLAIN, columns_of
from arms.tree import Node
from arms.values import NUMBERS, WILDCARD, WORDS
from tests.arms.strategies import SPACE, typed_roots

words = st.text(st.characters(codec="utf-8", exclude_characters="\U0010ffff"), max_size=40)
"""Without the one character that is reserved."""
drawn = st.one_of(
    typed_roots().map(lambda root: Profile.from_element(root, SPACE)),
    st.dictionaries(
        st.sampled_from(["word", "number", "x", "y", "ü"]),
        st.one_of(st.floats(-1e9, 1e9), words, st.none()),
        min_size=1,
    ).map(Profile.from_mapping),
)


def is_plain(tree: Node) -> bool:
    names = [child.name for child in tree.children]
    return (
        not tree.any_of
        and 0 < len(names) <= MOST_PLAIN
        and len(set(names)) == len(names)
        and not any(child.children or child.descendant or not child.name for child in tree.children)
        and all(
            len(str(end).encode()) <= 64 and "\0" not in str(end)
            for child in tree.children
            if child.value.axis == WORDS
            for end in child.value[1:]
        )
    )


@given(st.lists(drawn, max_size=12))
def test_columns_say_what_the_trees_say(profiles: list[Profile]) -> None:
    forms = []
    expected = set()
    for profile in profiles:
        form = plain_form(msgspec.msgpack.encode(profile.pack()))
        assert (form is not None) == is_plain(profile.tree)
        if form is None:
            continue
        for at, child in enumerate(profile.tree.children):
            axis, low, high = child.value
            ends = (low, high) if axis > WILDCARD else ()
            expected.add((len(forms), at, child.name, axis, ends))
        forms.append(form)
    found = set()
    for name, axis, parts in columns_of(forms):
        for part in parts:
            for number, row in enumerate(part.rows.tolist()):
                ends = ()
                if axis == NUMBERS:
                    ends = (float(part.low[number]), float(part.high[number]))
                elif axis == WORDS:
                    ends = tuple(end[number].decode() for end in (part.low, part.high))  # type: ignore[union-attr,assignment]
                found.add((row, part.at, name, axis, ends))
    assert found == expected


@pytest.mark.parametrize(
    "tests",
    [[["a", 2, 5.0, 1.0]], [["a", 2, "b", "c"]], [["a", 3, 1.0, 2.0]], [["a", 3, "b", "a"]],
     [["a", 2, float("nan"), 1.0]], [["a\0b", 0]], [["a", 0], ["a", 0]], [["", 0]], [["a", 9]], []],
)  # fmt: skip
def test_what_is_not_plain_has_no_form(tests: list[object]) -> None:
    assert plain_form(msgspec.msgpack.encode(["a", b"", ["", 0, tests]])) is None


@pytest.mark.parametrize("packed", [b"", b"\xc0", b"\x93\xa1a\xc4\x00"])
def test_what_is_no_profile_has_no_form(packed: bytes) -> None:
    assert plain_form(packed) is None
