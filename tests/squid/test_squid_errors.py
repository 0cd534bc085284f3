"""Squid's errors: one root, fields that survive pickling, texts with value and limit."""

from __future__ import annotations

import pickle

import pytest

from squid import (
    CurveError,
    LimitExceeded,
    MeteorError,
    SpaceError,
    SpaceMismatch,
    SquidError,
    TypeMismatch,
)

ERRORS = [
    CurveError("index 300 is not on a curve"),
    SpaceError("t: a number needs high"),
    TypeMismatch("temperature", "hot", "a finite number"),
    LimitExceeded("attributes", 9, 8),
    SpaceMismatch("bits is 32 here, 20 there"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_pickle_with_their_fields_and_share_the_root(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))
    assert isinstance(error, SquidError)
    assert isinstance(error, MeteorError)
    assert isinstance(error, ValueError) != isinstance(error, SpaceMismatch)


def test_texts_say_value_limit_and_what_to_do():
    assert str(ERRORS[2]) == (
        "temperature: 'hot' is not a finite number; give one, the keyword space asks for it"
    )
    assert str(ERRORS[3]) == "attributes is 9, at most 8 are allowed; give less, or split it"
    assert (ERRORS[3].name, ERRORS[3].value, ERRORS[3].limit) == ("attributes", 9, 8)
