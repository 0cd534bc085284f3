"""The demo's building in Meteor's terms: its keyword space, its profiles, its questions.

Law of this file: a question is written once, as the plain filter's conditions; the selector is
translated from it, so that a slip in the translation shows as a difference.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import meteor
from meteor.demo.plain_filter import Anything, Begins, Between, Condition
from meteor.demo.readings import Reading

EXACT_QUESTIONS = 25
HELD_BACK = 10


def space_of(readings: Sequence[Reading]) -> meteor.KeywordSpace:
    """Room, temperature and humidity; the bounds are those of the building's readings."""
    temperatures = [reading.temperature for reading in readings]
    humidities = [reading.humidity for reading in readings]
    return meteor.KeywordSpace(
        "building",
        [
            meteor.Word("room", alphabet="-abcdefghijklmnopqrstuvwxyz"),
            meteor.Number("temperature", floor(min(temperatures)), ceil(max(temperatures)) + 1),
            meteor.Number("humidity", floor(min(humidities)), ceil(max(humidities)) + 1),
        ],
        extra="allow",
        max_attributes=8,
    )


def selector(conditions: Mapping[str, Condition]) -> meteor.Profile:
    """The profile that asks for what the plain conditions say."""
    return meteor.profile({column: _value(test) for column, test in conditions.items()})


def _value(condition: Condition) -> Any:
    if isinstance(condition, Between):
        return meteor.between(condition.low, condition.high)
    if isinstance(condition, Begins):
        return meteor.prefix(condition.start)
    return meteor.ANY if isinstance(condition, Anything) else condition


@dataclass(frozen=True, slots=True)
class Question:
    """Something that a client wants to know, in plain conditions."""

    label: str
    conditions: Mapping[str, Condition]
    everywhere: bool = False
    """Whether it has to ask every peer."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of a set of readings; thresholds are quantiles, so that every question finds
    something in a fire as well as on a quiet night in a library."""

    readings: tuple[Reading, ...]
    alarm_at: float
    """Degrees from which the actuator is to sound an alarm."""
    live: tuple[Question, ...]
    """Interests that are there before the first reading."""
    late: Question
    """An interest that comes in the middle: it also gets what already lives."""
    held_back: tuple[Reading, ...]
    """Hot readings that come when nobody is interested in alarms any more."""
    final: tuple[Question, ...]
    """Asked when everything is stored."""


def plan_of(readings: Sequence[Reading], seed: int) -> Plan:
    """Choose the questions; the same seed chooses the same."""
    warm, dry = (
        sorted(getattr(reading, column) for reading in readings)
        for column in ("temperature", "humidity")
    )

    def quantile(values: list[float], share: float) -> float:
        return values[min(int(share * len(values)), len(values) - 1)]

    alarm_at = quantile(warm, 0.97)
    hot = [reading for reading in readings if reading.temperature >= alarm_at]
    reading = {"kind": "reading"}
    middle = Between(quantile(warm, 0.4), quantile(warm, 0.55))
    return Plan(
        readings=tuple(readings),
        alarm_at=alarm_at,
        live=(
            Question("range", {**reading, "temperature": middle}),
            Question("partial keyword", {**reading, "room": Begins("lab-")}),
            Question(
                "wildcard",
                {**reading, "room": Anything(), "humidity": Between(None, quantile(dry, 0.15))},
            ),
        ),
        late=Question(
            "late comer", {**reading, "temperature": Between(quantile(warm, 0.85), None)}
        ),
        held_back=tuple(hot[-min(HELD_BACK, len(hot) // 2) :]) if len(hot) > 1 else (),
        final=(
            *_exact_questions(readings, random.Random(seed)),
            Question("range", {**reading, "temperature": middle}),
            Question(
                "two ranges",
                {**reading, "temperature": middle, "humidity": Between(quantile(dry, 0.5), None)},
            ),
            Question("half-open range", {**reading, "humidity": Between(quantile(dry, 0.9), None)}),
            Question("partial keyword", {**reading, "room": Begins("off")}),
            Question("partial and range", {**reading, "room": Begins("c"), "temperature": middle}),
            Question("nothing there", {**reading, "room": "no-such-room"}),
            Question("wildcard", {**reading, "room": Anything()}, everywhere=True),
        ),
    )


def _exact_questions(readings: Sequence[Reading], draw: random.Random) -> list[Question]:
    chosen = draw.sample(list(readings), min(EXACT_QUESTIONS, len(readings)))
    return [
        Question(
            "exact",
            {
                "kind": "reading",
                "room": reading.room,
                "temperature": reading.temperature,
                "humidity": reading.humidity,
            },
        )
        for reading in chosen
    ]
