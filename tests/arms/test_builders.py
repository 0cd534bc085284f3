"""Profiles from plain values, and the errors of the package."""

from __future__ import annotations

import math
import pickle

import pytest

import arms
from arms import (
    ANY,
    LimitExceeded,
    MeteorError,
    Profile,
    ProfileError,
    SelectorError,
    TypeMismatch,
    UnknownAction,
    action_named,
    between,
    parse_call,
    prefix,
    profile,
)
from tests.arms.strategies import SPACE


def test_the_specs_example() -> None:
    built = profile(
        {
            "room": "832",
            "temperature": between(20, 30),
            "unit": prefix("Fa"),
            "wind": {"degree": ANY},
            "alarm": None,
        }
    )
    assert built == Profile.parse('room="832" temperature=20..30 unit=Fa* wind(degree=*) alarm')


@pytest.mark.parametrize(
    ("plain", "text"),
    [
        ("a=1 | b=2", 'x="a=1 | b=2"'),
        ("*", r'x="\*"'),
        ("Fa*", r'x="Fa\*"'),
        ('"', r'x="\""'),
        ("20-30", 'x="20-30"'),
        ("20..30", 'x="20..30"'),
        ("", 'x=""'),
        ("5", 'x="5"'),
        (5, "x=5"),
        (-0.25, "x=-0.25"),
        (1e-7, "x=1e-07"),
        (10**20, "x=100000000000000000000"),
        (between("a", None), "x=a.."),
        (between(None, "5"), 'x=.."5"'),
        (["a", "b"], "x=a x=b"),
        ([{"y": 1}, {"y": 2}], "x(y=1) x(y=2)"),
    ],
)
def test_plain_values_are_literal(plain: object, text: str) -> None:
    built = profile({"x": plain})  # type: ignore[dict-item]
    assert built == Profile.parse(text)
    assert str(built) == text


def test_a_text_is_a_time_where_one_is_declared() -> None:
    built = profile({"when": "2000-07-01T00:00:00Z"})
    assert built.typed(SPACE).tree == Profile.parse("when=2000-07-01T00:00:00Z", SPACE).tree
    with pytest.raises(TypeMismatch):
        profile({"number": "5"}).typed(SPACE)


@pytest.mark.parametrize(
    "attributes",
    [
        {}, {"": 1}, {"a b": 1}, {"_": 1}, {"a.": 1}, {"a": True}, {"a": b"x"}, {"a": math.nan},
        {"a": math.inf}, {"a": object()}, {"a": {1: 2}}, {"a": [["b"]]}, {3: 4},
    ],
)  # fmt: skip
def test_what_is_no_profile(attributes: object) -> None:
    with pytest.raises(ProfileError):
        profile(attributes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("low", "high"), [(2, 1), (None, None), ("a", 1), (math.nan, 1)])
def test_what_is_no_range(low: object, high: object) -> None:
    with pytest.raises(ProfileError):
        between(low, high)  # type: ignore[arg-type]


def test_limits_of_a_mapping() -> None:
    nested: dict[str, object] = {"a": 1}
    for _ in range(16):
        nested = {"a": nested}
    with pytest.raises(LimitExceeded):
        profile(nested)  # type: ignore[arg-type]
    with pytest.raises(LimitExceeded):
        profile({"a": [1] * 65})


@pytest.mark.parametrize(
    "error",
    [
        SelectorError("a,b", 1, "a comma", "a blank"),
        ProfileError("x"),
        UnknownAction("average", ("store",)),
        TypeMismatch("t", "hot", "a number"),
        LimitExceeded("bytes", 5, 4),
    ],
)
def test_errors_pickle_and_have_one_root(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))
    assert isinstance(error, MeteorError)
    assert isinstance(error, ValueError)


def test_unknown_actions_say_what_is_known() -> None:
    with pytest.raises(UnknownAction, match=r"'average'.*store.*notify_data"):
        action_named("average")
    assert not action_named("average", ["average"]).is_subject


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("store", ("store", "")),
        (" retrieve( 1.2.3.4:99 ) ", ("retrieve", "1.2.3.4:99")),
        ("retrieve()", ("retrieve", "")),
        ("my-action.v2([::1]:80)", ("my-action.v2", "[::1]:80")),
    ],
)
def test_actions_with_an_address(text: str, expected: tuple[str, str]) -> None:
    assert parse_call(text) == expected


@pytest.mark.parametrize("text", ["", "a b", "(x)", "a(b", "a(b c)", "a(b)c", "1a", "a((b))"])
def test_what_is_no_action(text: str) -> None:
    with pytest.raises(ProfileError):
        parse_call(text)


def test_every_exported_name_is_there() -> None:
    assert len(set(arms.__all__)) == len(arms.__all__)
    assert all(hasattr(arms, name) for name in arms.__all__)
