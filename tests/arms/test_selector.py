"""The selector text: the derived examples of the language, refusals with their cure, round trip."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import Profile, ProfileError, SelectorError
from arms.selector import parse_selector
from arms.selector_text import selector_text
from arms.values import ANY_KEYWORD, ANY_VALUE, Value, numbers, partial, words
from arms.written import ANY, GROUP, Element, Hyphen, Partial, Scalar, Span
from squid import KeywordSpace, LimitExceeded, Number, TypeMismatch, Word
from tests.arms.strategies import written_roots

SPACE = KeywordSpace(
    "derived",
    [Word("word"), Number("number", 0, 1000), Number("memory", 1, 4096, unit="MB"),
     Number("rate", 1, 1000, unit="Mbps")],
)  # fmt: skip


def meaning(text: str, space: KeywordSpace | None = None) -> Value:
    return Profile.parse(text, space).tree.children[0].value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t=-5..-3", numbers(-5, -3)),
        ("t=1e-3", numbers(0.001, 0.001)),
        ("t=+2.50", numbers(2.5, 2.5)),
        ("t=*..80", numbers(high=80)),
        ("t=80..*", numbers(low=80)),
        ("t=80..", numbers(low=80)),
        ("t=..80", numbers(high=80)),
        ("t>=80", numbers(low=80)),
        ("t <= 80", numbers(high=80)),
        ("t = 80", numbers(80, 80)),
        ("t=1*", partial("1")),
        ("t=Fa*", partial("fa")),
        ('t="Fa*"', partial("fa")),
        ('t="*"', ANY_KEYWORD),
        ("t=*", ANY_VALUE),
        (r"t=Fa\*", words("fa*", "fa*")),
        ('t="832"', words("832", "832")),
        ('t="20-30"', words("20-30", "20-30")),
        ('t=""', words("", "")),
        ("d=2004-04-01", words("2004-04-01", "2004-04-01")),
        ("u=http://h:1/x", words("http://h:1/x", "http://h:1/x")),
        ("t=20MPH", words("20mph", "20mph")),
        ("t=a..m", words("a", "m")),
        ('t="a b".."c d"', words("a b", "c d")),
        (r"t=New\ York", words("new york", "new york")),
        (r"t=20\..30", words("20..30", "20..30")),
    ],
)
def test_derived_example(text: str, expected: Value) -> None:
    assert meaning(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("number=-5--3", numbers(-5, -3)),
        ("number=10-*", numbers(low=10)),
        ("word=10-*", partial("10-")),
        ("word=10-20", words("10-20", "10-20")),
        ("word=555-0123", words("555-0123", "555-0123")),
        ("word=2004-04", words("2004-04", "2004-04")),
        ("word=832", words("832", "832")),
        ("word=1e3", words("1e3", "1e3")),
        ("memory=256-512MB", numbers(256, 512)),
        ("memory=256..512MB", numbers(256, 512)),
        ("number=5000", numbers(5000, 5000)),
    ],
)
def test_the_space_decides(text: str, expected: Value) -> None:
    assert meaning(text, SPACE) == expected


@pytest.mark.parametrize("text", ["number=1*", 'number="5"', "number=hot", "word=*-10", "word>m"])
def test_against_a_declaration(text: str) -> None:
    with pytest.raises((TypeMismatch, SelectorError)):
        Profile.parse(text, SPACE)


@pytest.mark.parametrize("text", ["number=30-20", "number=-3--5", "memory=512-256MB"])
def test_a_reversed_hyphen_range_is_refused_where_it_is_a_range(text: str) -> None:
    """On a declared word the same form is the text as written: a telephone number, a month."""
    assert Profile.parse(text) == Profile.parse(text)
    with pytest.raises(SelectorError, match="reversed range is empty; write the smaller end"):
        Profile.parse(text, SPACE)


@pytest.mark.parametrize("text", ["word>m", "word<m", "word>5", "word>=3 word<5"])
def test_strict_comparisons_of_keywords_are_refused_with_caret_and_cure(text: str) -> None:
    """Also where only the space tells that it is a keyword."""
    with pytest.raises(SelectorError, match=r"on a keyword; use '[<>]='") as refused:
        Profile.parse(text, SPACE)
    assert str(refused.value).endswith("^")


def test_a_hyphen_on_an_undeclared_attribute_has_a_hint() -> None:
    parsed = Profile.parse("a=1 t=20-30")
    assert parsed.element.children[1].value == Hyphen("20-30")
    with pytest.raises(SelectorError, match="or quote it") as refused:
        parsed.typed(SPACE)
    assert refused.value.position == 4
    with pytest.raises(SelectorError):
        parsed.matches(parsed)


def shape(text: str) -> Element:
    return parse_selector(text)


def leaf(name: str, text: str) -> Element:
    return Element(name, Scalar(text))


def test_levels() -> None:
    assert shape("a=1 | b=2") == Element("", children=(leaf("a", "1"), leaf("b", "2")), any_of=True)
    assert shape("a (b=1)").children == (
        Element("a"), Element(GROUP, children=(leaf("b", "1"),)),
    )  # fmt: skip
    assert shape("a(b=1)").children == (Element("a", children=(leaf("b", "1"),)),)
    assert shape("a=1(b=1)").children == (Element("a", Scalar("1"), (leaf("b", "1"),)),)
    assert shape("a=1|b=2") == shape("a=1  |  b=2")


def test_on_one_path_only_comparisons_merge() -> None:
    assert shape("t>=20 t<=30") == shape("t=20..30")
    assert shape("t>20 t<=30").children[0].value == Span(Scalar("20"), Scalar("30"), above=True)
    assert shape("t>=1 t>=2 t<9").children[0].value == Span(Scalar("2"), Scalar("9"), below=True)
    assert len(shape("t=1 t=2").children) == 2
    assert len(shape("t=20.. t=..30").children) == 2
    assert len(shape("t>=20 | t<=30").children) == 2
    assert len(shape("t>=20(u=1) t<=30").children) == 2


def test_prefixes_merge_and_parentheses_do_not() -> None:
    assert shape("wind/speed>3 wind/direction=n*") == shape("wind(speed>3 direction=n*)")
    assert shape("wind/speed>=3 wind/speed<=5") == shape("wind(speed=3..5)")
    assert len(shape("sensor(type=a) sensor(type=b)").children) == 2
    assert len(shape("sensor(type=a) sensor/type=b").children) == 2
    assert shape("a//b/c=1") == shape("a(//b(c=1))")


def test_the_tuple_form() -> None:
    assert Profile.parse("(comp*, 5, *, *)", SPACE) == Profile.parse(
        "word=comp* number=5 memory=* rate=*"
    )
    report = Profile.parse("(a, *, 256 - 512MB, 10Mbps - *)", SPACE)
    assert [child.value for child in report.tree.children] == [
        words("a", "a"), ANY_VALUE, numbers(256, 512), numbers(low=10),
    ]  # fmt: skip
    one = KeywordSpace("one", [Word("wind/name")])
    assert Profile.parse("(comp*,)", one) == Profile.parse("wind(name=comp*)")
    assert Profile.parse('("a,b",)', one) == Profile.parse('wind(name="a,b")')
    for text in ("(comp*, *)", "(a,)"):
        with pytest.raises(SelectorError, match="space"):
            Profile.parse(text)
        with pytest.raises(SelectorError, match="dimensions"):
            Profile.parse(text, SPACE)


@pytest.mark.parametrize(
    ("text", "position", "cure"),
    [
        ("room=a,b", 6, "blank"),
        ("a=1, b=2", 3, "blank"),
        ("a=1 & b=2", 4, "blank"),
        ("a&b", 1, "blank"),
        ("a!=3", 1, "range"),
        ("a=>3", 1, ">="),
        ("a =< 3", 2, "<="),
        ("a==3", 1, "one ="),
        ("a<>3", 1, "what is wanted"),
        ("not a=1", 0, "what is wanted"),
        ("not(a=1)", 0, "what is wanted"),
        ("a=1 and b=2", 4, "blank"),
        ("a=1 OR b=2", 4, "|"),
        ("t>=8*", 4, "star"),
        ("a>b", 2, ">="),
        ('a>"5"', 2, ">="),
        ("a=", 2, '""'),
        ("a>=", 3, "number or word"),
        ("a=1...2", 3, "two dots"),
        ("a=*..*", 2, "*"),
        ("a=..", 2, "*"),
        ("a=1..2..3", 6, "low..high"),
        ("a=F*t", 3, r"\*"),
        ("a=*heit", 2, r"\*"),
        ('a="F*t"', 4, r"\*"),
        ('a="Fa"*', 6, "inside"),
        ('a=x"b"', 3, "quote all"),
        ("a=30..20", 2, "smaller"),
        ("t>=30 t<=20", 6, "smaller"),
        ("t>20 t<20", 5, "smaller"),
        ("t>=a t>=b", 5, "one"),
        ("a=1 b=2 | c=3", 8, "parentheses"),
        ("a=1 | b=2 c=3", 10, "parentheses"),
        ("a=1 )", 4, "leave it out"),
        ("(a", 2, ")"),
        ("()", 1, "letter"),
        ("a(b=1)c", 6, "blank"),
        ('a="x', 2, "close"),
        ("a=x\\", 3, "\\\\"),
        ("/a=1", 0, "leave out"),
        ("a/", 2, "name"),
        ("1a=1", 0, "letter"),
        ("_=1", 0, "parentheses"),
        ("a=1 |", 5, "name"),
        ("a='b'", 2, "double"),
        ("a=b=c", 3, "quote"),
        ("", 0, "name"),
        ("a..b=1", 1, "blank"),
        ('a="5"..7', 2, "quote both"),
    ],
)
def test_a_refusal_points_at_the_cause_and_says_the_cure(
    text: str, position: int, cure: str
) -> None:
    with pytest.raises(SelectorError) as refused:
        Profile.parse(text)
    error = refused.value
    assert error.position == position
    assert cure in error.cure
    message = str(error).splitlines()
    assert message[-1].index("^") - 2 == position
    assert message[-2] == f"  {text}"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.position) == (str(error), position)


def test_a_caret_in_a_long_text_stays_under_its_character() -> None:
    text = "a=1 " * 40 + "b=,"
    with pytest.raises(SelectorError) as refused:
        Profile.parse(text)
    excerpt, caret = str(refused.value).splitlines()[-2:]
    assert excerpt[caret.index("^")] == ","


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a=" + "x" * 4095, "selector bytes"),
        (" ".join("a" * 1 for _ in range(65)), "profile elements"),
        ("(" * 17 + "a" + ")" * 17, "profile depth"),
        ("/".join("a" * 17), "profile depth"),
        ("(" * 2000, "profile depth"),
        ("/".join("a" * 2000), "profile depth"),
        ("a=" + "/" * 4094, "selector bytes"),
    ],
)
def test_limits(text: str, name: str) -> None:
    with pytest.raises(LimitExceeded) as refused:
        Profile.parse(text)
    assert refused.value.name == name
    assert pickle.loads(pickle.dumps(refused.value)).limit == refused.value.limit


def test_at_the_limits() -> None:
    Profile.parse("a=" + "x" * 4094)
    Profile.parse(" ".join("a" for _ in range(64)))
    Profile.parse("/".join("a" * 16))


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(SelectorError, match="surrogate"):
        Profile.parse("a=\ud800")


@given(written_roots())
def test_text_round_trip(root: Element) -> None:
    text = selector_text(root)
    assert parse_selector(text) == root
    assert selector_text(parse_selector(text)) == text


@given(written_roots())
def test_profiles_are_equal_exactly_when_written_alike(root: Element) -> None:
    profile = Profile.from_element(root)
    assert Profile.parse(str(profile)) == profile
    assert hash(Profile.parse(str(profile))) == hash(profile)


def parsed_or_refused(text: str) -> tuple[Profile | None, SelectorError | None]:
    try:
        return Profile.parse(text), None
    except SelectorError as error:
        return None, error


@given(st.text(alphabet="ab1 =<>.*-()|/\"\\,&!'_\u00e9\n", max_size=24))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    profile, error = parsed_or_refused(text)
    if profile is None:
        assert error is not None
        assert 0 <= error.position <= len(text)
        assert error.reason
        assert error.cure
        return
    assert Profile.parse(str(profile)) == profile
    assert Profile.parse(str(profile)).element == profile.element


@given(written_roots())
def test_xml_round_trip(root: Element) -> None:
    profile = Profile.from_element(root)
    try:
        document = profile.to_xml()
    except ProfileError:
        return
    again = Profile.from_xml(document)
    if has_two_open_ends(root):
        again.to_xml()  # its ends have moved by one place, see below
    else:
        assert again == profile


def has_two_open_ends(element: Element) -> bool:
    value = element.value
    return (
        isinstance(value, Span)
        and value.low is not None
        and value.high is not None
        and (value.above or value.below)
    ) or any(map(has_two_open_ends, element.children))


def test_xml_moves_two_ends_that_are_left_out_to_their_neighbours() -> None:
    profile = Profile.parse("t>20 t<30")
    again = Profile.from_xml(profile.to_xml())
    assert str(again) == "t=20.000000000000004..29.999999999999996"
    assert again.tree == profile.tree
    with pytest.raises(ProfileError, match="leave out both ends"):
        Profile.parse("t>2004-04-01T00:00:00Z t<2004-05-01T00:00:00Z").to_xml()


def test_in_xml_two_comparisons_stay_two() -> None:
    document = b'<profile><t operator=">" value="20"/><t operator="&lt;" value="10"/></profile>'
    profile = Profile.from_xml(document)
    assert str(profile) == "t>20 (t<10)"
    assert profile.matches(Profile.parse("t=5 t=25"))


def test_equality_is_of_what_is_written() -> None:
    assert Profile.parse("t=Fa*") == Profile.parse('t="Fa*"')
    assert Profile.parse('t="abc"') == Profile.parse("t=abc")
    assert Profile.parse('t="5"') != Profile.parse("t=5")
    assert Profile.parse("t=5") != Profile.parse("t=5.0")
    assert Profile.parse("word=5", SPACE) == Profile.parse("word=5")
    assert Profile.parse("a=1") != "a=1"
    assert Partial("x") != ANY
