"""Sentences on a space in TOML that stand nowhere else."""

from __future__ import annotations

from squid import Choice, KeywordSpace, Number, Time, Word

TEXT = """
name = "building"
bits = 20                # per dimension; default min(32, 160 // dimensions)
[[dimensions]]
name = "type"            # an element's path in the profile: "wind/direction" for a nested one
kind = "word"            # word | number | choice | time
[[dimensions]]
name = "temperature"
kind = "number"
low = -40
high = 125               # optional: scale = "log", unit = "MB"; values = [...] for a choice
"""


def test_the_space_of_the_specification_and_its_options() -> None:
    space = KeywordSpace.from_toml(TEXT)
    dimensions = [Word("type"), Number("temperature", -40, 125)]
    assert space == KeywordSpace("building", dimensions, bits=20)
    more = KeywordSpace.from_toml(
        TEXT
        + """
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
values = ["low", "mid", "high"]
[[dimensions]]
name = "since"
kind = "time"
low = 2000-01-01T00:00:00Z
high = 2040-01-01T00:00:00Z
"""
    )
    assert more.dimensions[2] == Number("memory", 1, 4096, scale="log", unit="MB")
    assert more.dimensions[3] == Choice("level", ["low", "mid", "high"])
    assert more.dimensions[4] == Time("since", "2000-01-01T00:00:00Z", "2040-01-01T00:00:00Z")
    assert KeywordSpace.from_toml(more.to_toml()) == more
