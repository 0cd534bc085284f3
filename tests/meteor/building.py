"""A keyword space, profiles and the plain filter that the overlay tests compare answers with."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from meteor import KeywordSpace, Number, Word

SPACE = KeywordSpace(
    "building", [Word("type"), Number("temperature", -40, 125), Number("humidity", 0, 100)]
)

Attributes = dict[str, Any]

TYPES = ("temperature", "temper", "humidity", "light", "zürich", "two words")


def draw_data(drawn: random.Random) -> Attributes:
    """A reading: sometimes out of bounds, sometimes without humidity."""
    attributes: Attributes = {
        "type": drawn.choice(TYPES),
        "temperature": round(drawn.uniform(-50, 130), 1),
        "humidity": drawn.randrange(101),
    }
    if drawn.random() < 0.2:
        del attributes["humidity"]
    return attributes


def draw_query(drawn: random.Random) -> tuple[str, Callable[[Attributes], bool]]:
    """A selector, and the same as a plain filter."""
    low = round(drawn.uniform(-50, 100), 1)
    high = round(low + drawn.uniform(0, 60), 1)
    limit = drawn.randrange(101)
    return drawn.choice(
        [
            (f"temperature={low}..{high}", lambda d: low <= d["temperature"] <= high),
            ("type=temp*", lambda d: d["type"].startswith("temp")),
            (
                f"type=ZÜRICH humidity<={limit}",
                lambda d: d["type"] == "zürich" and d.get("humidity", 999) <= limit,
            ),
            (
                f'type="two words" temperature>={low}',
                lambda d: d["type"] == "two words" and d["temperature"] >= low,
            ),
            (f"humidity>{limit}", lambda d: d.get("humidity", -1) > limit),
            (
                f"temperature<={low} | humidity>={limit}",
                lambda d: d["temperature"] <= low or d.get("humidity", -1) >= limit,
            ),
        ]
    )
