"""Numbers of a ring, of moving about in it and of routing with which no peer could live are refused
where they are given, in words that name the field: all fields, a table of values that nobody should
give.

A peer with a pause of no number stopped "after a failure" as soon as it would have rested, one with
a pause of 0 never rested, and one with a silence of 0 acknowledged nothing; who remembers none of
the dead has a dead neighbour for ever, and who is always late finds nobody dead."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Final

import pytest

import meteor
from chord import ChordConfig, RelocationConfig
from squid import RouterConfig
from tests.meteor.building import SPACE
from tests.meteor.hostile_values import check

SECONDS: Final = {
    "one", "whole", "numpy's float", "numpy's short float", "numpy's integer", "fraction",
}  # fmt: skip
COUNTS: Final = {"one", "whole", "numpy's integer"}
ZERO_SAYS_SOMETHING: Final = {
    "call_timeout_s_min", "heir_count", "arc_cache_max", "departed_s", "remembered_max",
    "remembered_s", "state_interval_s", "resume_patience_s",
    "light", "looks", "heavy", "share", "load_min", "relief",
}  # fmt: skip
TOO_SMALL: Final = {"bits", "successor_count"}
"""Those of which no value of the table is one for this space and three copies."""
NO_NUMBERS: Final = {"realm", "placement", "addressing"}


def taken(field: Any) -> set[str]:
    if field.name in TOO_SMALL:
        return set()
    numbers = COUNTS if field.type == "int" else SECONDS
    return numbers | {"zero"} if field.name in ZERO_SAYS_SOMETHING else numbers


def numbers_of(kind: Any) -> list[Any]:
    return [field for field in fields(kind) if field.name not in NO_NUMBERS]


@pytest.mark.parametrize("field", numbers_of(ChordConfig), ids=lambda field: field.name)
@pytest.mark.parametrize("made", [meteor.Peer, meteor.LocalOverlay, meteor.sync.Peer])
def test_a_number_of_the_ring(made: Any, field: Any) -> None:
    def attempt(value: Any) -> None:
        made(space=SPACE, config=replace(ChordConfig(), **{field.name: value}))

    check(field.name, taken(field), attempt)


@pytest.mark.parametrize("field", numbers_of(RelocationConfig), ids=lambda field: field.name)
def test_a_number_of_moving(field: Any) -> None:
    def attempt(value: Any) -> None:
        meteor.Peer(space=SPACE, moves=replace(RelocationConfig(), **{field.name: value}))

    check(field.name, taken(field), attempt)


@pytest.mark.parametrize("field", numbers_of(RouterConfig), ids=lambda field: field.name)
def test_a_number_of_routing(field: Any) -> None:
    def attempt(value: Any) -> None:
        meteor.Peer(space=SPACE, routing=replace(RouterConfig(), **{field.name: value}))

    check(field.name, taken(field), attempt)


def test_identifiers_hold_the_indexes_of_the_space_and_are_no_wider_than_the_hash() -> None:
    """The one was a `negative shift count`, the other refused as the peer started."""
    bits = SPACE.curve.index_bits
    meteor.Peer(space=SPACE, config=ChordConfig(bits=bits))
    meteor.Peer(space=SPACE, config=ChordConfig(bits=256))
    with pytest.raises(ValueError, match=f"bits: identifiers of {bits - 1} are too short"):
        meteor.LocalOverlay(space=SPACE, config=ChordConfig(bits=bits - 1))
    with pytest.raises(ValueError, match="bits: 257 is more than the 256"):
        meteor.Peer(config=ChordConfig(bits=257))


def test_a_placement_is_one_of_two() -> None:
    """Any other word was taken for the hash."""
    with pytest.raises(ValueError, match="placement is 'load' or 'hash', not 'laod'"):
        meteor.Peer(space=SPACE, config=ChordConfig(placement="laod"))  # type: ignore[arg-type]
