"""The codec, bit for bit against the `hilbertcurve` package, scalar and array."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hilbertcurve.hilbertcurve import HilbertCurve as PackagedCurve
from hypothesis import given
from hypothesis import strategies as st

from squid import Box, CurveError, HilbertCurve, indexes_from_keys, keys_from_indexes

SEED = 20041
SHAPES = [(d, b) for d in range(1, 9) for b in (*range(1, 11), 15, 16, 17, 20, 24, 25, 31, 32)]


def some_points(dimensions: int, bits: int, count: int = 10) -> list[list[int]]:
    """Drawn points (the seed is SEED) and the corners, where carries and flips show."""
    random = np.random.default_rng((SEED, dimensions, bits))
    top = (1 << bits) - 1
    corners = [[0] * dimensions, [top] * dimensions, [top] + [0] * (dimensions - 1)]
    return corners + random.integers(0, 1 << bits, size=(count, dimensions)).tolist()


@pytest.mark.parametrize(("dimensions", "bits"), SHAPES)
def test_native_codec_equals_the_package_bit_for_bit(dimensions, bits):
    package = PackagedCurve(p=bits, n=dimensions)
    points = some_points(dimensions, bits)
    indexes = [int(index) for index in package.distances_from_points(points)]
    curve = HilbertCurve(dimensions, bits)
    assert [curve.encode(point) for point in points] == indexes
    assert [curve.decode(index) for index in indexes] == [tuple(point) for point in points]
    keys = curve.encode_array(points)
    assert indexes_from_keys(keys) == indexes
    assert curve.decode_array(keys).tolist() == points


@pytest.mark.parametrize(
    ("dimensions", "bits"), [(1, 10), (2, 6), (3, 4), (4, 3), (5, 2), (6, 2), (7, 1), (8, 1)]
)
def test_whole_small_curves_equal_the_package_and_take_unit_steps(dimensions, bits):
    curve, package = HilbertCurve(dimensions, bits), PackagedCurve(p=bits, n=dimensions)
    cells = [curve.decode(index) for index in range(curve.size)]
    assert cells == [tuple(package.point_from_distance(index)) for index in range(curve.size)]
    assert [curve.encode(cell) for cell in cells] == list(range(curve.size))
    steps = np.abs(np.diff(np.array(cells), axis=0)).sum(axis=1)
    assert (steps == 1).all()
    keys = keys_from_indexes(range(curve.size), curve.index_bits)
    assert curve.decode_array(keys).tolist() == [list(cell) for cell in cells]


@given(st.integers(1, 8), st.integers(1, 32), st.data())
def test_every_drawn_point_goes_to_the_packages_index_and_back(dimensions, bits, data):
    cell = st.integers(0, (1 << bits) - 1)
    point = data.draw(st.lists(cell, min_size=dimensions, max_size=dimensions))
    curve, package = HilbertCurve(dimensions, bits), PackagedCurve(p=bits, n=dimensions)
    index = curve.encode(point)
    assert index == package.distance_from_point(point)
    assert curve.decode(index) == tuple(point)


@pytest.mark.parametrize(("dimensions", "bits"), [(2, 3), (3, 20), (4, 17), (8, 20)])
def test_the_reference_codec_gives_the_same_answers_in_the_same_types(dimensions, bits):
    native = HilbertCurve(dimensions, bits)
    reference = HilbertCurve(dimensions, bits, codec="reference")
    assert native == reference
    assert hash(native) == hash(reference)
    points = some_points(dimensions, bits)
    keys = native.encode_array(points)
    reference_keys = reference.encode_array(points)
    assert keys.dtype == reference_keys.dtype
    assert (keys == reference_keys).all()
    assert (native.decode_array(keys) == reference.decode_array(keys)).all()
    indexes = indexes_from_keys(keys)
    assert [reference.encode(point) for point in points] == indexes
    assert [reference.decode(index) for index in indexes] == [tuple(point) for point in points]
    box = Box.point(points[-1])
    assert native.next_match(box, 0) == reference.next_match(box, 0) == indexes[-1]


@pytest.mark.parametrize("bits", [20, 21, 22, 32])
def test_arrays_longer_than_a_block_keep_their_order(bits):
    random = np.random.default_rng(SEED)
    curve = HilbertCurve(3, bits)
    points = random.integers(0, curve.side, size=(40_000, 3), dtype=np.int64)
    keys = curve.encode_array(points)
    assert (curve.decode_array(keys) == points).all()
    for row in (0, 16_383, 16_384, 39_999):
        assert indexes_from_keys(keys[row : row + 1]) == [curve.encode(points[row].tolist())]


def test_array_keys_are_in_curve_order_as_words_and_as_bytes():
    words, raw = HilbertCurve(3, 21), HilbertCurve(3, 22)
    assert words.encode_array([[0, 0, 0]]).dtype == np.uint64
    points = np.random.default_rng(SEED).integers(0, raw.side, size=(50, 3))
    keys = raw.encode_array(points)
    assert (keys.dtype, keys.shape) == (np.uint8, (50, 9))
    by_bytes = sorted(range(50), key=lambda row: keys[row].tobytes())
    indexes = indexes_from_keys(keys)
    assert by_bytes == sorted(range(50), key=indexes.__getitem__)


@pytest.mark.parametrize("dimensions", [2, 5])
def test_numpy_integers_become_plain_ones_at_the_door(dimensions):
    curve = HilbertCurve(dimensions, 20)
    point = np.arange(200, 200 + dimensions, dtype=np.uint8)
    index = curve.encode(point)
    assert type(index) is int
    assert index == curve.encode(point.tolist())
    cell = curve.decode(np.uint64(12345))
    assert cell == curve.decode(12345)
    assert {type(part) for part in cell} == {int}
    assert {type(part) for part in Box.point(point).low} == {int}
    assert curve.next_match(Box.of([(part, part) for part in point]), 0) == index


def test_empty_arrays_are_legal():
    for curve in (HilbertCurve(3, 20), HilbertCurve(8, 20), HilbertCurve(2, 4, "reference")):
        keys = curve.encode_array(np.empty((0, curve.dimensions), dtype=np.int64))
        assert len(keys) == 0
        assert curve.decode_array(keys).shape == (0, curve.dimensions)


def test_arguments_are_left_as_they_are():
    points = np.array([[1, 2, 3, 4, 5]], dtype=np.uint32)
    kept = points.copy()
    curve = HilbertCurve(5, 4)
    keys = curve.encode_array(points)
    assert (points == kept).all()
    kept_keys = keys.copy()
    curve.decode_array(keys)
    assert (keys == kept_keys).all()
    point = [1, 2, 3, 4, 5]
    curve.encode(point)
    HilbertCurve(5, 4, "reference").encode(point)
    assert point == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("dimensions", "bits", "codec"),
    [(0, 4, "native"), (9, 4, "native"), (2, 0, "native"), (2, 33, "native"), (2, 4, "butz")],
)
def test_curves_out_of_range_are_refused(dimensions, bits, codec):
    with pytest.raises(CurveError):
        HilbertCurve(dimensions, bits, codec)


@pytest.mark.parametrize("codec", ["native", "reference"])
def test_what_is_not_on_the_curve_is_refused(codec):
    # the package itself answers 193 for [16, 3] on four bits, and (21, 19) for index 300
    curve = HilbertCurve(2, 4, codec)
    for point in ((16, 3), (-1, 0), (1,), (1, 2, 3)):
        with pytest.raises(CurveError, match="not on a curve"):
            curve.encode(point)
    for index in (-1, 256, 300):
        with pytest.raises(CurveError, match="not on a curve"):
            curve.decode(index)
    for points in ([[16, 3]], [[-1, 0]], [[1, 2, 3]], [1, 2], [[0.5, 1.0]]):
        with pytest.raises(CurveError):
            curve.encode_array(points)
    for keys in (np.array([256], np.uint64), np.array([1], np.int64), np.zeros((1, 1), np.uint8)):
        with pytest.raises(CurveError):
            curve.decode_array(keys)


def test_wide_keys_with_bits_above_the_curve_are_refused():
    curve = HilbertCurve(5, 13)  # 65 bits in 9 bytes
    keys = curve.encode_array([[8191] * 5])
    keys[0, 0] |= 2
    with pytest.raises(CurveError, match="not on a curve"):
        curve.decode_array(keys)


def test_boxes_of_another_curve_are_refused():
    curve = HilbertCurve(2, 4)
    for box in (Box((0,), (1,)), Box((0, 0), (16, 3)), Box((0, 0, 0), (1, 1, 1))):
        with pytest.raises(CurveError, match="not on a curve"):
            curve.next_match(box, 0)
        with pytest.raises(CurveError, match="not on a curve"):
            curve.has_match(box, 0, 9)
        with pytest.raises(CurveError, match="not on a curve"):
            curve.clusters(box)
    with pytest.raises(CurveError, match="limit"):
        curve.clusters([(0, 1), (0, 1)], limit=0)


def test_a_curve_says_what_it_is_and_pickles_without_its_tables():
    for curve in (HilbertCurve(3, 4), HilbertCurve(3, 4, "reference")):
        dump = pickle.dumps(curve)
        assert len(dump) < 200
        assert repr(pickle.loads(dump)) == repr(curve)
    assert repr(HilbertCurve(2, 4)) == "HilbertCurve(dimensions=2, bits=4, codec='native')"
    assert HilbertCurve(2, 4) != HilbertCurve(4, 2)
    assert HilbertCurve(2, 4) != "a curve"
