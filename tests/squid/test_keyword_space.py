"""Keyword spaces: boxes of terms, TOML there and back, digests, and what differs."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from squid import (
    Absent,
    Box,
    Choice,
    KeywordSpace,
    LimitExceeded,
    Number,
    NumberInterval,
    Prefix,
    SpaceError,
    SpaceMismatch,
    Time,
    TypeMismatch,
    Whole,
    Word,
)

BUILDING = KeywordSpace(
    "building", [Word("type"), Number("temperature", -40, 125), Number("humidity", 0, 100)]
)

PART = st.text(st.sampled_from("abcXYZ_-019ü"), min_size=1, max_size=6).filter(
    lambda part: part[0].isalpha() or part[0] == "_"
)
NAMES = st.lists(PART, min_size=1, max_size=3).map("/".join)
FINITE = st.one_of(st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def dimensions(draw, name: str):
    kind = draw(st.sampled_from([Word, Number, Choice, Time]))
    if kind is Word:
        letters = st.sets(st.sampled_from("-.0123456789_ abcdefgñüß日😀"), min_size=1)
        return Word(name, *draw(st.lists(letters.map(
            lambda some: "".join(some - {"ß"}) or "a"), max_size=1)))  # fmt: skip
    if kind is Choice:
        folded = st.lists(TEXTS, min_size=1, max_size=4, unique_by=str.casefold)
        values = draw(folded)
        return Choice(name, [f"{place} {value}" for place, value in enumerate(values)])
    if kind is Time:
        low = draw(st.integers(-(10**9), 10**9))
        return Time(name, low, low + draw(st.integers(1, 10**9)) / 4)
    low, high = sorted([draw(FINITE), draw(FINITE)])
    if not low < high:
        low, high = 0, 1
    log = low > 0 and draw(st.booleans())
    unit = draw(st.sampled_from([None, "MB", "°C", 'a "quoted" unit']))
    return Number(name, low, high, "log" if log else "linear", unit)


@st.composite
def spaces(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=8, unique=True))
    room = min(32, 160 // len(names))
    return KeywordSpace(
        draw(TEXTS.filter(str.strip)),
        [draw(dimensions(name)) for name in names],
        bits=draw(st.one_of(st.none(), st.integers(1, room))),
        extra=draw(st.sampled_from(["allow", "refuse"])),
        max_attributes=draw(st.integers(1, 64)),
    )


@given(spaces())
def test_what_a_space_writes_it_reads_back_equal(space):
    again = KeywordSpace.from_toml(space.to_toml())
    assert again == space
    assert hash(again) == hash(space)
    assert again.digest == space.digest
    assert again.difference(space) == space.difference(again) == ""
    assert again.to_toml() == space.to_toml()


@given(spaces(), spaces())
def test_digests_and_differences_tell_spaces_apart(one, other):
    assert (one.digest == other.digest) == (one == other)
    assert (one.difference(other) == "") == (one == other)


@given(spaces(), st.data())
def test_boxes_are_on_the_curve(space, data):
    terms = {name: data.draw(st.sampled_from([Whole(), Absent()])) for name in space.names}
    box = space.box(terms)
    assert space.curve.next_match(box, 0) == 0  # the cell where every attribute is absent
    assert box.is_whole(space.curve) == all(term == Whole() for term in terms.values())
    assert (space.curve.dimensions, space.curve.bits) == (len(space.names), space.bits)


def test_the_example_of_the_specification():
    text = """
    name = "building"
    bits = 20
    [[dimensions]]
    name = "type"
    kind = "word"
    [[dimensions]]
    name = "temperature"
    kind = "number"
    low = -40
    high = 125
    [[dimensions]]
    name = "memory"
    kind = "number"
    low = 1
    high = 4096
    scale = "log"
    unit = "MB"
    [[dimensions]]
    name = "level"
    kind = "choice"
    values = ["low", "high"]
    [[dimensions]]
    name = "at"
    kind = "time"
    low = 2004-01-01
    high = 2005-01-01T00:00:00Z
    """
    assert KeywordSpace.from_toml(text) == KeywordSpace(
        "building",
        [
            Word("type"),
            Number("temperature", -40, 125),
            Number("memory", 1, 4096, "log", "MB"),
            Choice("level", ("low", "high")),
            Time("at", "2004-01-01", "2005-01-01"),
        ],
        bits=20,
    )


def test_the_digest_is_of_what_the_space_means():
    assert len(BUILDING.digest) == 16
    floats = [Word("type"), Number("temperature", -40.0, 125.0), Number("humidity", 0.0, 100)]
    assert KeywordSpace("building", floats).digest == BUILDING.digest
    assert BUILDING.digest.hex() == "0cc2ddd8d5f148edba11696c7dba17f3"


@pytest.mark.parametrize(("count", "bits"), [(1, 32), (3, 32), (5, 32), (6, 26), (8, 20)])
def test_default_bits_fill_the_ring(count, bits):
    assert KeywordSpace("s", [Word(f"w{place}") for place in range(count)]).bits == bits


def test_boxes_of_keyword_tuples():
    terms = {"type": Prefix("temp"), "temperature": NumberInterval(20, 30), "humidity": Whole()}
    box = BUILDING.box(terms)
    cells = (1 << 32) - 1
    assert (box.low[2], box.high[2]) == (0, cells)
    assert (box.low[1], box.high[1]) == (1 + 60 * cells // 165, 1 + 70 * cells // 165)
    assert BUILDING.box(dict.fromkeys(BUILDING.names, Absent())) == Box.point((0, 0, 0))


def test_boxes_need_one_term_a_dimension():
    full = dict.fromkeys(BUILDING.names, Whole())
    short = {name: Whole() for name in BUILDING.names[:2]}
    for terms in (short, {**full, "wind": Whole()}, {**short, "wind": Whole()}, {}):
        with pytest.raises(SpaceError, match="type, temperature, humidity"):
            BUILDING.box(terms)
    with pytest.raises(TypeMismatch, match="humidity"):
        BUILDING.box({**full, "humidity": Prefix("a")})


def test_dimensions_by_name():
    assert BUILDING.dimension("humidity") == Number("humidity", 0, 100)
    assert BUILDING.dimension("wind") is None
    assert BUILDING.names == ("type", "temperature", "humidity")
    assert [dimension.kind for dimension in BUILDING.dimensions] == ["word", "number", "number"]


def test_differences_are_for_people():
    other = KeywordSpace(
        "building",
        [Word("type"), Number("temperature", -40, 100, unit="°C"), Word("humidity"), Word("room")],
        bits=20,
    )
    difference = BUILDING.difference(other)
    assert "bits is 32 here, 20 there" in difference
    assert "temperature: high is 125 here, 100 there" in difference
    assert "temperature: unit is None here, '°C' there" in difference
    assert "humidity is a number here, a word there" in difference
    assert "dimension 'room' is only there" in difference
    turned = KeywordSpace("building", BUILDING.dimensions[::-1])
    assert "dimensions are ['type'" in BUILDING.difference(turned)
    error = SpaceMismatch(difference)
    assert "100 there" in str(error)
    assert pickle.loads(pickle.dumps(error)).difference == difference


def test_spaces_are_values_that_pickle():
    assert BUILDING.curve.size == 1 << 96
    dump = pickle.dumps(BUILDING)
    assert pickle.loads(dump) == BUILDING
    assert len(dump) < 1000  # the declaration, not the curve's tables
    with pytest.raises(AttributeError):
        BUILDING.bits = 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"dimensions": []}, "1 to 8"),
        ({"dimensions": [Word(f"w{place}") for place in range(9)]}, "1 to 8"),
        ({"dimensions": [Word("a"), Number("a", 0, 1)]}, "twice"),
        ({"name": " "}, "name"),
        ({"bits": 0}, "room for 1 to 32"),
        ({"bits": 33}, "room for 1 to 32"),
        ({"bits": True}, "room"),
        ({"bits": "20"}, "room"),
        ({"dimensions": [Word(f"w{place}") for place in range(8)], "bits": 21}, "room for 1 to 20"),
        ({"extra": "ignore"}, "allow"),
        ({"max_attributes": 0}, "1 to 64"),
        ({"max_attributes": 65}, "1 to 64"),
    ],
)
def test_spaces_that_cannot_be_are_refused(arguments, says):
    with pytest.raises(SpaceError, match=says):
        KeywordSpace(**{"name": "s", "dimensions": [Word("a")], **arguments})


WORD = '[[dimensions]]\nname = "type"\nkind = "word"\n'
NUMBER = '[[dimensions]]\nname = "t"\nkind = "number"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name =", "not TOML"),
        ('name = "s"', "no \\[\\[dimensions\\]\\]"),
        ('name = "s"\ndimensions = 3', "no \\[\\[dimensions\\]\\]"),
        (WORD, "no name"),
        ('name = "s"\ncolour = "red"\n' + WORD, "'colour' is none of"),
        ('name = "s"\n' + WORD + "low = 3", "'low' is none of name, alphabet"),
        ('name = "s"\n[[dimensions]]\nkind = "word"', "no name"),
        ('name = "s"\n[[dimensions]]\nname = "type"\nkind = "x"', "word, number, choice, time"),
        ('name = "s"\n[[dimensions]]\nname = "type"', "kind is None"),
        ('name = "s"\n' + NUMBER + "low = 3", "t: a number needs high"),
        ('name = "s"\n' + NUMBER + 'low = 3\nhigh = "hot"', "bounds are finite numbers"),
        ('name = "s"\n' + NUMBER + "low = 3\nhigh = inf", "bounds are finite numbers"),
        ('name = "s"\n' + NUMBER + "low = 0\nhigh = 3\nunit = 7", "unit"),
        ('name = "s"\n' + WORD + "alphabet = 7", "alphabet"),
        ('name = "s"\n[[dimensions]]\nname = "c"\nkind = "choice"\nvalues = 3', "lists its values"),
        ('name = 3\n' + WORD, "needs a name"),
        ('name = "s"\nbits = "many"\n' + WORD, "room"),
        ('name = "s"\nextra = 3\n' + WORD, "extra"),
        ('name = "s"\nextra = []\n' + WORD, "extra"),
        ('name = "s"\nmax_attributes = 1.5\n' + WORD, "max_attributes"),
    ],
)
def test_toml_that_is_no_space_is_refused_by_its_entry(text, says):
    with pytest.raises(SpaceError, match=says):
        KeywordSpace.from_toml(text)


def test_toml_is_bounded():
    with pytest.raises(LimitExceeded) as caught:
        KeywordSpace.from_toml("#" * 70_000)
    assert caught.value.limit == 65_536
