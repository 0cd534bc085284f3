"""Dimensions: how values are read (units, choices, times), and which declarations are refused."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from squid import Choice, Number, SpaceError, Time, TypeMismatch, Word
from squid.units import UNITS, convert


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        ("MB", "256MB", 256.0),
        ("MB", "256 MB", 256.0),
        ("MB", "512", 512.0),
        ("MB", "1GB", 1000.0),
        ("MB", "1MiB", 1.048576),
        ("MiB", "1GiB", 1024.0),
        ("Mbps", "10Mbps", 10.0),
        ("Mbps", "2.5e3kbps", 2.5),
        ("Mbps", "1MB/s", 8.0),
        ("kbit/s", "1Mbps", 1000.0),
        ("B", "8bit", 1.0),
        ("MHz", "2.4GHz", 2400.0),
        ("Hz", "60rpm", 1.0),
        ("ms", "1.5s", 1500.0),
        ("s", "2min", 120.0),
        ("h", "-1d", -24.0),
        ("s", "+5us", 5e-6),
        ("m", "3km", 3000.0),
        ("km/h", "10m/s", 36.0),
        ("m/s", "20mph", 8.9408),
        ("hPa", "1bar", 1000.0),
        ("°C", "212°F", 100.0),
        ("K", "0°C", 273.15),
        ("°F", "-40°C", -40.0),
        ("lumens", "3lumens", 3.0),
        (None, "-0.5e-3", -0.0005),
    ],
)
def test_quantities_in_the_declared_unit(declared, text, value):
    assert Number("n", 0, 1, unit=declared).quantity(text) == value


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("MB", "10Mbps"), ("MB", "10mb"), ("MB", "ten"), ("MB", ""), ("MB", "MB"), ("MB", "1e999"),
        ("MB", "1e999999999999MB"), ("MB", "--1"), ("MB", "1..2"), ("MB", "nan"), ("MB", "inf"),
        ("MB", ".5"), ("MB", "5."), ("MB", "1_000"), ("MB", "٣"), ("MB", "0x10"),
        (None, "5MB"), ("lumens", "5lux"), ("bit", "1e308PB"),
    ],
)  # fmt: skip
def test_what_is_no_quantity_in_the_declared_unit_is_a_mismatch(declared, text):
    with pytest.raises(TypeMismatch) as caught:
        Number("memory", 0, 1, unit=declared).quantity(text)
    assert (caught.value.name, caught.value.value) == ("memory", text)
    assert "memory" in str(caught.value)


@given(st.sampled_from(sorted(UNITS)), st.floats(-1e6, 1e6))
def test_units_convert_there_and_back(unit, value):
    for other in sorted(UNITS):
        there = convert(value, unit, other)
        if UNITS[other].quantity != UNITS[unit].quantity:
            assert there is None
        else:
            back = convert(there, other, unit)
            assert math.isclose(back, value, rel_tol=1e-9, abs_tol=1e-9)


@given(st.sampled_from(["kB", "°F", "mph", "GiB"]), st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_conversion_is_monotone(unit, one, other):
    target = {"kB": "MiB", "°F": "K", "mph": "km/h", "GiB": "bit"}[unit]
    low, high = sorted([one, other])
    assert convert(low, unit, target) <= convert(high, unit, target)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2004-04-01T12:30:15Z", 1080822615000),
        ("2004-04-01t12:30:15.25z", 1080822615250),
        ("2004-04-01 14:30:15+02:00", 1080822615000),
        ("2004-04-01T00:30:15-12:00", 1080822615000),
        ("2004-04-01", 1080777600000),
        ("1969-12-31T23:59:59.9999Z", -1),
        ("2016-12-31T23:59:60Z", 1483228800000),
        ("0", 0),
        ("1080822615.25", 1080822615250),
        ("1.001", 1001),
        ("-0.0001", -1),
        ("1e3", 1000000),
    ],
)
def test_moments_as_milliseconds(text, moment):
    assert Time("at", 0, 1).milliseconds(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "", "now", "2004-04-31", "2004-13-01", "0000-01-01", "2004-04-01T24:00:00Z",
        "2004-04-01T12:60:00Z", "2004-04-01T12:30:61Z", "2004-04-01T12:30:15", "2004-4-1",
        "2004-04-01T12:30:15+24:00", "2004-04-01T12:30:15+02:60", "2004-04-01T12:30Z",
        "1e17", "1e999", "nan", "12:30:15",
    ],
)  # fmt: skip
def test_what_is_no_moment_is_a_mismatch(text):
    with pytest.raises(TypeMismatch, match="RFC 3339"):
        Time("at", 0, 1).milliseconds(text)


def test_numbers_are_unix_seconds_but_truth_values_and_nan_are_no_time():
    time = Time("at", 0, 1)
    assert time.milliseconds(1.5) == 1500
    assert time.milliseconds(-2) == -2000
    for value in (True, math.nan, math.inf, 1e300):
        with pytest.raises(TypeMismatch):
            time.milliseconds(value)


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda east: timezone(timedelta(minutes=east)))
MOMENTS = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=ZONES)


@given(MOMENTS)
def test_moments_agree_with_the_standard_library(moment):
    wanted = (moment - EPOCH) // timedelta(milliseconds=1)
    assert Time("at", 0, 1).milliseconds(moment.isoformat()) == wanted
    kept = Time("at", moment.isoformat(), "9999-12-31")
    assert kept.low_ms == wanted
    assert kept == Time("at", kept.low, kept.high)


def test_times_are_kept_as_text_in_utc():
    time = Time("at", "2004-04-01T02:00:00+02:00", 1080822615.5)
    assert (time.low, time.high) == ("2004-04-01T00:00:00Z", "2004-04-01T12:30:15.500Z")
    assert (time.low_ms, time.high_ms) == (1080777600000, 1080822615500)


def test_choices_are_ranked_as_declared():
    level = Choice("level", ["low", "Mid Level", "high"])
    assert level.values == ("low", "Mid Level", "high")
    assert [level.rank(text) for text in ("LOW", " mid  level", "high")] == [0, 1, 2]
    with pytest.raises(TypeMismatch, match="low, Mid Level, high"):
        level.rank("top")


def test_alphabets_are_kept_in_order_and_names_may_be_paths():
    assert Word("w", "cab").alphabet == "abc"
    assert Word("w", "cab") == Word("w", "abc")
    for name in ("wind/direction", "_x", "größe", "a-b.c", "a1"):
        assert Word(name).name == name


@pytest.mark.parametrize("name", ["", "1a", "a..b", "a.", "a/", "/a", "a b", "a*", "-a", "a/1"])
def test_names_that_no_element_has_are_refused(name):
    with pytest.raises(SpaceError, match="name"):
        Word(name)


@pytest.mark.parametrize(
    "declare",
    [
        lambda: Word("w", ""),
        lambda: Word("w", "aa"),
        lambda: Word("w", "abC"),
        lambda: Word("w", "aß"),
        lambda: Number("n", 1, 1),
        lambda: Number("n", 2, 1),
        lambda: Number("n", 0, math.inf),
        lambda: Number("n", math.nan, 1),
        lambda: Number("n", "0", 1),
        lambda: Number("n", False, 1),
        lambda: Number("n", 0, 10, "log"),
        lambda: Number("n", 1, 10, "square"),
        lambda: Number("n", 0, 1, unit=""),
        lambda: Number("n", 0, 1, unit=" MB"),
        lambda: Choice("c", ()),
        lambda: Choice("c", ("a", "A")),
        lambda: Choice("c", (1, 2)),
        lambda: Choice("c", "abc"),
        lambda: Time("t", "soon", 1),
        lambda: Time("t", 1, 1),
        lambda: Time("t", 2, 1),
        lambda: Time("t", 0, 1e12),
        lambda: Time("t", None, 1),
    ],
)
def test_declarations_that_say_nothing_are_refused(declare):
    with pytest.raises(SpaceError):
        declare()
