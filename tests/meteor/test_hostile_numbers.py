"""The numbers of a configuration are numbers: what is none, or has no bounds, is refused where the
configuration is made, in words that name the field, and not by what comes of it later."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

import pytest

import meteor
from meteor.admission import CONTEXT_LENGTH_MAX
from tests.meteor.hostile_values import check

CONFIGURATIONS: Final = (meteor.ClientConfig, meteor.RestConfig)
NUMBERS: Final = [
    (kind, field.name, field.type)
    for kind in CONFIGURATIONS
    for field in fields(kind)
    if field.type in ("int", "float")
]
WHOLE: Final = {"one", "whole", "numpy's integer"}
REAL: Final = {*WHOLE, "numpy's float", "numpy's short float", "fraction"}
MAY_BE_ZERO: Final = {
    "reply_margin", "reply_margin_s_max", "close_timeout_s", "acknowledge_within_s",
    "shortcuts_max", "context_length_max", "streams_max", "streams_each", "linger_s",
}  # fmt: skip
"""Where nothing of it is meant: no links, no waiting.  A pause of 0 would be none."""
SHARE: Final = {"fraction"}
"""Of a time-out, below 1."""


@pytest.mark.parametrize(("kind", "name", "is_a"), NUMBERS)
def test_a_number_is_one(kind: Any, name: str, is_a: str) -> None:
    taken = SHARE if name == "reply_margin" else WHOLE if is_a == "int" else REAL
    zero = {"zero"} if name in MAY_BE_ZERO else set()
    check(name, taken | zero, lambda value: kind(**{name: value}))


def test_a_client_gives_no_longer_context_than_a_peer_takes() -> None:
    meteor.ClientConfig(context_length_max=CONTEXT_LENGTH_MAX)
    with pytest.raises(ValueError, match="context_length_max: 65537"):
        meteor.ClientConfig(context_length_max=CONTEXT_LENGTH_MAX + 1)


def test_what_is_worth_nothing_is_no_token() -> None:
    """A peer was open whose operator gave it `token=0`, or the bytes of a file that had none."""
    check("token", {"no text", "long text"}, lambda value: meteor.RestConfig(token=value))


def test_origins_are_a_list_of_texts() -> None:
    check("cors_origins", {"list"}, lambda value: meteor.RestConfig(cors_origins=value))
