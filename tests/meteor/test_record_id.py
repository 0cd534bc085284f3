"""Ids: an identity and a way, one text a region, nothing else accepted."""

from __future__ import annotations

import base64
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import ProfileError
from meteor.wire.record_id import check_stem, make_id, new_stem, split_id, stem_of
from squid import Box, HilbertCurve

CURVES = [HilbertCurve(1, 5), HilbertCurve(2, 8), HilbertCurve(3, 20), HilbertCurve(8, 20)]


@st.composite
def placed(draw: st.DrawFn) -> tuple[HilbertCurve, Box]:
    curve = draw(st.sampled_from(CURVES))
    ends = [
        sorted(draw(st.tuples(*[st.integers(0, curve.side - 1)] * 2)))
        for _ in range(curve.dimensions)
    ]
    if draw(st.booleans()):
        ends = [[low, low] for low, _ in ends]
    return curve, Box(tuple(low for low, _ in ends), tuple(high for _, high in ends))


@given(placed(), st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True))
def test_an_id_gives_back_its_stem_and_box(case: tuple[HilbertCurve, Box], stem: str) -> None:
    curve, box = case
    full_id = make_id(stem, box, curve)
    assert split_id(full_id, curve) == (stem, box)
    assert stem_of(full_id) == stem
    region = full_id.partition(".")[2]
    assert region == region.lower()
    assert "=" not in region


def test_a_point_takes_its_curve_index_and_a_box_its_corners() -> None:
    curve = HilbertCurve(2, 8)
    text = make_id("s", Box((2, 1), (2, 1)), curve)[2:].upper()
    point = base64.b32decode(text + "=" * (-len(text) % 8))
    assert point == b"\0" + curve.encode((2, 1)).to_bytes(2, "big")
    text = make_id("s", Box((2, 1), (3, 5)), curve)[2:].upper()
    assert base64.b32decode(text) == b"\1\2\3\1\5"


@given(placed(), st.integers(0, 60), st.sampled_from("abz27=.A-"))
def test_a_damaged_region_is_refused_or_another_valid_one(
    case: tuple[HilbertCurve, Box], at: int, put: str
) -> None:
    curve, box = case
    full_id = make_id("s", box, curve)
    at = 2 + at % (len(full_id) - 2)
    damaged = full_id[:at] + put + full_id[at + 1 :]
    try:
        stem, other = split_id(damaged, curve)
    except ProfileError:
        return
    assert make_id(stem, other, curve) == damaged


@pytest.mark.parametrize(
    "full_id", ["s", "s.", ".aa", "s.a", "s.AA", "s.aaaa=", "ä.aaaa", "s." + "a" * 5000, "a.b.c"]
)
def test_what_is_no_id_is_refused(full_id: str) -> None:
    with pytest.raises(ProfileError):
        split_id(full_id, CURVES[1])


@pytest.mark.parametrize("stem", ["", "a" * 65, "a.b", "a b", "ä"])
def test_what_is_no_stem_is_refused(stem: str) -> None:
    with pytest.raises(ProfileError):
        check_stem(stem)


def test_a_new_stem_has_128_random_bits() -> None:
    drawn = Random(1)
    stems = {new_stem(drawn) for _ in range(100)}
    assert len(stems) == 100
    assert all(len(check_stem(stem)) == 26 for stem in stems)
    raw = Random(2).randbytes(16)
    assert new_stem(Random(2)).upper() == base64.b32encode(raw).decode().rstrip("=")
