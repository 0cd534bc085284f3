"""Spaces declared with members of enumerations, or numpy's numbers and texts: the same spaces.

Such values are equal to plain ones and write themselves otherwise: a peer wrote a space that nobody
could read, or read back another space than its own.
"""

from __future__ import annotations

from enum import Enum, IntEnum, StrEnum
from pathlib import Path

import numpy as np
import pytest

import meteor
from squid import Choice, KeywordSpace, Number, Time, Word


class Level(StrEnum):
    LOW = "low"
    HIGH = "high"


class Name(str, Enum):  # noqa: UP042 - as many programs have them
    LEVEL = "level"
    HEAT = "heat"
    UNIT = "K"


class Scale(StrEnum):
    LOG = "log"


class Bound(IntEnum):
    LOW = 1
    HIGH = 10


CASES = ["values", "texts", "names", "bounds", "floats", "times", "whole"]


def declared(case: str) -> tuple[KeywordSpace, KeywordSpace]:
    """A space of strange values, and the plain one that it is equal to."""
    match case:
        case "values":
            strange, plain = Choice("level", tuple(Level)), Choice("level", ("low", "high"))
        case "texts":
            some = np.array(["low", "high"])
            strange, plain = Choice("level", tuple(some)), Choice("level", ("low", "high"))
        case "names":
            strange = Number(Name.HEAT, 1, 10, unit=Name.UNIT)
            plain = Number("heat", 1, 10, unit="K")
        case "bounds":
            strange = Number("heat", Bound.LOW, Bound.HIGH, Scale.LOG)
            plain = Number("heat", 1, 10, "log")
        case "floats":
            strange = Number("heat", np.float64(0.5), np.float64(10))
            plain = Number("heat", 0.5, 10.0)
        case "times":
            strange = Time("at", np.float64(1.5), np.float64(2.5))
            plain = Time("at", 1.5, 2.5)
        case _:
            return (
                KeywordSpace(Name.HEAT, [Word("w")], bits=Bound.HIGH, max_attributes=Bound.HIGH),
                KeywordSpace("heat", [Word("w")], bits=10, max_attributes=10),
            )
    return KeywordSpace("some", [strange]), KeywordSpace("some", [plain])


@pytest.mark.parametrize("case", CASES)
def test_a_space_is_the_plain_one_and_is_read_back(case: str) -> None:
    strange, plain = declared(case)
    assert strange.digest == plain.digest
    assert strange.to_toml() == plain.to_toml()
    assert KeywordSpace.from_toml(strange.to_toml()).digest == strange.digest


@pytest.mark.parametrize("case", ["values", "bounds", "floats"])
async def test_a_peer_starts_again_where_its_data_is(case: str, tmp_path: Path) -> None:
    space, _ = declared(case)
    text = "level=low" if case == "values" else "heat=2"
    for found in (0, 1):
        async with meteor.Peer(space=space, listen="127.0.0.1:0", data_dir=tmp_path) as peer:
            assert len(await peer.retrieve(text).all()) == found
            await peer.store(text, id="one")
