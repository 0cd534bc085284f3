"""Coders: monotone over drawn values, prefixes exactly intervals, ranges without holes."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from squid import (
    Absent,
    Choice,
    Hull,
    Number,
    NumberInterval,
    Prefix,
    SpaceError,
    Time,
    TypeMismatch,
    Whole,
    Word,
    WordInterval,
    normal_form,
)
from squid.coders import NumberCoder, RankCoder, WordCoder

BITS = st.integers(1, 32)
MIXED = st.text(st.sampled_from("abmyz09-._ äöü߀~\U0001f525"), max_size=9)
WORDS = st.one_of(MIXED, st.text(max_size=9)).map(normal_form)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def word_cell(dimension: Word, bits: int, word: str) -> int:
    low, high = dimension.axis(bits).cells(WordInterval(word, word))
    assert low == high
    return low


@given(BITS, WORDS, WORDS)
@example(20, "zürich", "a")
@example(20, "zürich", "ö")
@example(32, "z~", "z€")
def test_words_in_code_point_order_are_in_cell_order(bits, one, other):
    dimension = Word("w")
    low, high = sorted([one, other])
    cells = word_cell(dimension, bits, low), word_cell(dimension, bits, high)
    assert 1 <= cells[0] <= cells[1] < 1 << bits


@given(st.sampled_from(["ab", "b", "äz", "-.0123456789_abcdefghijklmnopqrstuvwxyz"]), BITS,
       st.data())  # fmt: skip
def test_words_of_any_alphabet_are_monotone_in_every_neighbourhood(alphabet, bits, data):
    near = st.text(st.sampled_from("abcyzäö-"), max_size=6)
    low, high = sorted([data.draw(near), data.draw(near)])
    coder = WordCoder(alphabet, bits)
    assert coder.cell(low) <= coder.cell(high)
    first, last = coder.prefix_cells(low)
    assert first <= coder.cell(low + high) <= last


@given(BITS, WORDS, st.text(max_size=6))
def test_a_prefix_holds_every_word_that_begins_with_it(bits, stem, rest):
    axis = Word("w").axis(bits)
    first, last = axis.cells(Prefix(stem))
    word = stem + rest
    assert first <= word_cell(Word("w"), bits, word) <= last


@given(WORDS, WORDS)
def test_a_prefix_of_alphabet_characters_holds_no_other_word(stem, word):
    alphabet = set(Word("w").alphabet)
    if len(stem) <= 5 and set(stem) <= alphabet and not word.startswith(stem):
        axis = Word("w").axis(32)
        first, last = axis.cells(Prefix(stem))
        cell = axis.cells(WordInterval(word, word))[0]
        if set(word) <= alphabet:
            assert not first < cell < last


def test_the_example_that_the_rank_rule_lost():
    axis = Word("w").axis(32)
    first, last = axis.cells(WordInterval("a", "ö"))
    assert first <= axis.cells(WordInterval("zürich", "zürich"))[0] <= last
    assert first <= axis.cells(WordInterval("zebra", "zebra"))[0] <= last


def test_prefixes_take_neighbouring_cells_in_order():
    axis = Word("w").axis(32)
    ends = [axis.cells(Prefix("net" + letter)) for letter in "abc"]
    whole = axis.cells(Prefix("net"))
    assert whole[0] < ends[0][0] < ends[0][1] <= ends[1][0] < ends[1][1] <= ends[2][0]
    assert ends[2][1] < whole[1]
    assert axis.cells(Prefix("")) == (1, (1 << 32) - 1)
    assert axis.cells(WordInterval("net", "net"))[0] == whole[0]


def test_words_beyond_the_resolution_share_a_cell_and_stay_cheap():
    axis = Word("w").axis(20)
    long = "a" * 100_000
    assert axis.cells(WordInterval(long, long)) == axis.cells(WordInterval(long + "z", long + "z"))
    assert axis.cells(Prefix(long))[0] == axis.cells(WordInterval(long, long))[0]


@given(BITS, WORDS, WORDS, WORDS)
def test_a_range_of_words_holds_every_word_between(bits, one, two, three):
    low, word, high = sorted([one, two, three])
    axis = Word("w").axis(bits)
    cell = axis.cells(WordInterval(word, word))[0]
    for term in (WordInterval(low, high), WordInterval(None, high), WordInterval(low, None)):
        first, last = axis.cells(term)
        assert first <= cell <= last


BOUNDS = st.tuples(FINITE, FINITE).filter(lambda ends: ends[0] < ends[1])


@given(BOUNDS, BITS, st.one_of(FINITE, st.integers()), st.one_of(FINITE, st.integers()))
def test_numbers_are_monotone_and_the_ends_clamp(bounds, bits, one, other):
    coder = NumberCoder(*bounds, bits)
    low, high = sorted([one, other])
    cells = (1 << bits) - 1
    assert 1 <= coder.cell(low) <= coder.cell(high) <= cells
    assert coder.cell(-math.inf) == coder.cell(bounds[0]) == 1
    assert coder.cell(math.inf) == coder.cell(bounds[1]) == cells


@given(BOUNDS, BITS, st.fractions(0, 1))
def test_linear_cells_are_exact(bounds, bits, way):
    low, high = map(Fraction, bounds)
    value = float(low + (high - low) * way)
    if bounds[0] < value < bounds[1]:
        cells = (1 << bits) - 1
        wanted = 1 + math.floor((Fraction(value) - low) * cells / (high - low))
        assert NumberCoder(*bounds, bits).cell(value) == wanted


POSITIVE = st.floats(min_value=5e-324, max_value=1.7e308)


@given(POSITIVE, POSITIVE, POSITIVE, POSITIVE, BITS)
def test_log_cells_are_monotone_over_all_doubles(one, two, three, four, bits):
    low, high = sorted([one, two])
    if low < high:
        coder = NumberCoder(low, high, bits, "log")
        before, after = sorted([three, four])
        assert 1 <= coder.cell(before) <= coder.cell(after) <= (1 << bits) - 1
        assert coder.cell(0.0) == coder.cell(-1.0) == 1


@given(st.floats(1.0, 4096.0))
def test_log_cells_give_every_octave_as_much_room(value):
    coder = NumberCoder(1, 4096, 20, "log")
    octave = ((1 << 20) - 1) / 12
    assert abs(coder.cell(value) - 1 - math.log2(value) * octave) <= 0.0861 * octave + 1
    for exponent in range(13):
        edge = 1 + exponent * ((1 << 20) - 1) // 12
        assert coder.cell(2**exponent) == min(edge, (1 << 20) - 1)


@given(st.integers(1, 40), BITS, st.integers(-3, 45), st.integers(-3, 45))
def test_ranks_are_monotone_and_apart_where_there_is_room(count, bits, one, other):
    coder = RankCoder(count, bits)
    low, high = sorted([one, other])
    assert 1 <= coder.cell(low) <= coder.cell(high) <= (1 << bits) - 1
    if 0 <= low < high < count <= (1 << bits) - 1:
        assert coder.cell(low) < coder.cell(high)


ENDS = st.one_of(st.none(), WORDS)
WORD_TERMS = st.one_of(
    WORDS.map(Prefix),
    WORDS.map(lambda word: WordInterval(word, word)),
    st.tuples(ENDS, ENDS)
    .filter(lambda ends: None in ends or ends[0] <= ends[1])
    .map(lambda ends: WordInterval(*ends)),
)


def least(term: WordInterval | Prefix) -> str:
    return term.stem if isinstance(term, Prefix) else term.low or ""


def holds(term: WordInterval | Prefix, word: str) -> bool:
    if isinstance(term, Prefix):
        return word.startswith(term.stem)
    return (term.low or "") <= word and (term.high is None or word <= term.high)


@given(BITS, WORD_TERMS, WORD_TERMS)
def test_word_terms_that_meet_share_a_cell(bits, one, other):
    greatest_low = max(least(one), least(other))  # two closed intervals meet there or nowhere
    if holds(one, greatest_low) and holds(other, greatest_low):
        axis = Word("w").axis(bits)
        left, right = axis.cells(one), axis.cells(other)
        assert max(left[0], right[0]) <= min(left[1], right[1])


NUMBER_ENDS = st.one_of(st.none(), FINITE, st.integers(-(10**40), 10**40))
NUMBER_TERMS = (
    st.tuples(NUMBER_ENDS, NUMBER_ENDS)
    .filter(lambda ends: None in ends or ends[0] <= ends[1])
    .map(lambda ends: NumberInterval(*ends))
)


@given(BITS, NUMBER_TERMS, NUMBER_TERMS, st.sampled_from(["linear", "log"]))
def test_number_terms_that_meet_share_a_cell(bits, one, other, scale):
    low = max(-math.inf if term.low is None else term.low for term in (one, other))
    high = min(math.inf if term.high is None else term.high for term in (one, other))
    if low <= high:
        axis = Number("n", 0.5, 1e6, scale).axis(bits)
        left, right = axis.cells(one), axis.cells(other)
        assert max(left[0], right[0]) <= min(left[1], right[1])


def test_terms_of_every_kind_have_their_cells():
    axis = Number("t", 0, 100).axis(8)
    assert axis.cells(Whole()) == (0, 255)
    assert axis.cells(Absent()) == (0, 0)
    assert axis.cells(NumberInterval(None, None)) == (1, 255)
    assert axis.cells(NumberInterval(0, 100)) == (1, 255)
    assert axis.cells(NumberInterval(-7, 0)) == (1, 1)
    assert axis.cells(Hull((NumberInterval(0, 0), NumberInterval(50, 60)))) == (1, 154)
    assert axis.cells(Hull((Absent(), NumberInterval(100, None)))) == (0, 255)
    assert axis.cells(Hull((Whole(), Absent()))) == (0, 255)
    choice = Choice("level", ("low", "mid", "high")).axis(2)
    ranks = [choice.cells(NumberInterval(rank, rank)) for rank in range(3)]
    assert ranks == [(1, 1), (2, 2), (3, 3)]
    assert choice.cells(NumberInterval(1, None)) == (2, 3)
    time = Time("at", 0, 255).axis(8)
    assert time.cells(NumberInterval(1000, 2000)) == (2, 3)


def test_terms_of_another_kind_are_type_mismatches():
    with pytest.raises(TypeMismatch):
        Word("w").axis(8).cells(NumberInterval(1, 2))
    with pytest.raises(TypeMismatch):
        Number("t", 0, 1).axis(8).cells(Prefix("a"))
    with pytest.raises(TypeMismatch):
        Number("t", 0, 1).axis(8).cells(NumberInterval(math.nan, None))
    with pytest.raises(TypeMismatch):
        Choice("c", ("a",)).axis(8).cells(WordInterval("a", "a"))


def test_empty_terms_are_refused():
    axis = Number("t", 0, 100).axis(8)
    for term in (NumberInterval(60, 50), Hull(())):
        with pytest.raises(SpaceError):
            axis.cells(term)
    with pytest.raises(SpaceError, match="reversed"):
        Word("w").axis(32).cells(WordInterval("b", "a"))


@given(st.text())
def test_the_normal_form_is_its_own(text):
    once = normal_form(text)
    assert normal_form(once) == once
    assert "  " not in once
    assert once == once.strip()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("  Core   Building\t832 ", "core building 832"),
        ("ZÜRICH", "zürich"),
        ("Zu\u0308rich", "zürich"),
        ("Straße", "strasse"),
        ("\u1e9e", "ss"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("", ""),
        ("resumé", "resumé"),
        ("\u212b", "å"),
    ],
)
def test_normal_forms(text, form):
    assert normal_form(text) == form
