"""What the building's motes measured: read from a file, or a fire that spreads through rooms.

Law of this file: pure, and the same seed gives the same readings.
"""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FLOORS: Final = (
    ("archive", "boiler-room", "cafeteria", "garage", "loading-bay", "utilities", "vault"),
    ("atrium", "conference-east", "foyer", "mailroom", "office-east", "reception", "stairwell"),
    (
        "conference-west",
        "kitchen",
        "lab-east",
        "lab-west",
        "office-west",
        "reading-room",
        "terrace",
    ),
    ("darkroom", "gallery", "lab-north", "office-north", "pantry", "server-room", "workshop"),
)
"""The rooms of the building, floor by floor; a fire goes to the next room or the next floor."""
ROOMS: Final = tuple(sorted(room for floor in FLOORS for room in floor))

ROUNDS: Final = 60
IGNITION_ROUND: Final = 15
BURNING_C: Final = 118.0
SPREAD_CHANCE: Final = 0.08
"""For each burning neighbour, each round: nearly the whole building burns at the end."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one mote measured once."""

    name: str
    """Unlike that of any other reading."""
    room: str
    mote: str
    temperature: float
    """Degrees Celsius."""
    humidity: float
    """Per cent."""
    voltage: float

    def row(self) -> dict[str, str | float]:
        """Its columns, as the plain filter sees them."""
        return {
            "kind": "reading",
            "room": self.room,
            "mote": self.mote,
            "temperature": self.temperature,
            "humidity": self.humidity,
            "voltage": self.voltage,
        }

    def data(self) -> bytes:
        """The payload that is posted with it."""
        return json.dumps({"name": self.name, **self.row()}, separators=(",", ":")).encode()


class UnusableReadings(ValueError):
    """The file of readings is not what `--readings` takes; the text says where and why."""


def from_csv(path: Path) -> list[Reading]:
    """The rows of a file with the columns mote, temperature, humidity and voltage.

    The file numbers its motes; each number gets a room of the building.  Raises
    `UnusableReadings`."""
    readings = []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            for number, row in enumerate(csv.DictReader(file), 1):
                readings.append(_from_row(number, row))
    except (KeyError, TypeError, ValueError) as error:
        line = len(readings) + 2
        raise UnusableReadings(
            f"{path}, line {line}: {error!r}; wanted: columns mote, temperature, humidity, voltage"
        ) from error
    if not readings:
        raise UnusableReadings(f"{path} holds no readings")
    return readings


def _from_row(number: int, row: dict[str, str]) -> Reading:
    mote = int(row["mote"])
    return Reading(
        name=f"reading-{number:06}",
        room=ROOMS[mote % len(ROOMS)],
        mote=f"mote-{mote:02}",
        temperature=_finite(row["temperature"]),
        humidity=_finite(row["humidity"]),
        voltage=_finite(row["voltage"]),
    )


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"not a finite number: {text!r}")
    return number


def of_a_fire(seed: int) -> list[Reading]:
    """One reading a room and round, while a fire that breaks out in one room spreads."""
    draw = random.Random(seed)
    heat = {room: 20.0 + draw.uniform(-1.5, 3.0) for room in ROOMS}
    burning: set[str] = set()
    readings: list[Reading] = []
    for step in range(ROUNDS):
        if step == IGNITION_ROUND:
            burning.add(draw.choice(ROOMS))
        burning |= {room for room in ROOMS if _catches_fire(room, burning, draw)}
        for number, room in enumerate(ROOMS):
            goal = BURNING_C if room in burning else heat[room] + draw.uniform(-0.2, 0.2)
            heat[room] += (goal - heat[room]) * (0.25 if room in burning else 1.0)
            readings.append(_measure(len(readings) + 1, number, heat[room], draw))
    return readings


def _catches_fire(room: str, burning: set[str], draw: random.Random) -> bool:
    near = [neighbour for neighbour in neighbours(room) if neighbour in burning]
    return room not in burning and any(draw.random() < SPREAD_CHANCE for _ in near)


def _measure(number: int, mote: int, heat: float, draw: random.Random) -> Reading:
    """What the mote in a room of this heat reports; warm air is dry."""
    return Reading(
        name=f"reading-{number:06}",
        room=ROOMS[mote],
        mote=f"mote-{mote:02}",
        temperature=round(heat + draw.gauss(0, 0.15), 2),
        humidity=round(max(3.0, 55.0 - 0.45 * (heat - 20.0) + draw.gauss(0, 3.0)), 2),
        voltage=round(draw.uniform(2.6, 3.0), 2),
    )


def neighbours(room: str) -> Iterator[str]:
    """The rooms beside, above and below."""
    for level, floor in enumerate(FLOORS):
        if room in floor:
            place = floor.index(room)
            yield from floor[max(place - 1, 0) : place]
            yield from floor[place + 1 : place + 2]
            yield from (FLOORS[at][place] for at in (level - 1, level + 1) if 0 <= at < len(FLOORS))
