"""Scenarios with ranges of values and parts of words: what is right of them, and that a fault with
them is named."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from meteor import Profile, between, prefix, profile
from meteor.keeping.readable_shelf import ReadableShelf
from sim import Overlay
from sim.changing import Clearing, written
from sim.checkers import notification, recall
from sim.churn import ChurnPlan
from sim.history import History, Question, Subscription
from sim.places import (
    SPACE,
    TYPES,
    Drawn,
    draw_wide,
    first_common,
    region_asked,
    region_of,
    selector_of,
    words_meet,
)
from sim.scenario import run
from sim.scenarios import SCENARIOS
from squid import Box

SCENARIO = SCENARIOS["ranges-that-fall"]


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("light", "light", True), ("light", "li*", True), ("li*", "light", True),
        ("*", "light", True), ("light", "*", True), ("l*", "light*", True),
        ("light", "lights", False), ("light*", "li", False), ("h*", "p*", False),
        ("humidity", "light*", False),
    ],
)  # fmt: skip
def test_words_meet(one: str, other: str, meet: bool) -> None:
    assert words_meet(one, other) == words_meet(other, one) == meet


@pytest.mark.parametrize("seed", range(20))
def test_what_selects_and_what_lies_together_is_what_the_library_says(seed: int) -> None:
    stream = random.Random(seed)
    drawn, low = draw_wide(stream), round(stream.uniform(0, 800), 1)
    high = round(low + 200, 1)
    write = written(drawn, "a", 60, 0, 0)
    for word in ("*", *TYPES, "te*", "h*", "light*"):
        asked = selector_of(word, low, high)
        selector = profile({"value": between(low, high)})
        if word != "*":
            named = prefix(word[:-1]) if word.endswith("*") else word
            selector = profile({"type": named, "value": between(low, high)})
        assert selector == Profile.parse(asked, SPACE)
        meets = write.meets(word, low, high)
        assert meets == selector.typed(SPACE).matches(drawn.profile.typed(SPACE))
        if meets:
            assert first_common(drawn.region, region_asked(asked)) is not None


def wide() -> Drawn:
    described = profile({"type": prefix("te"), "value": between(100, 200)})
    return Drawn(described, 100.0, "te*", region_of(described), 200.0)


def history(asked: Question, *, told: bool = True) -> History:
    write = written(wide(), "a", 3600, 10, 0.0)
    write.acknowledged_s = 11
    region = region_asked("value=150..400")
    interest = Subscription("s", 150, 400, 11.5, 12, region=region, told=[(15.0, "a")] * told)
    return History({"a": write}, [asked], [interest], ended_s=100)


def asked_for(word: str = "*", **changes: object) -> Question:
    region = region_asked(selector_of(word, 150, 400))
    question = Question(150, 400, 20, 21, ("a",), True, word=word, region=region)
    return replace(question, **changes)  # type: ignore[arg-type]


def test_a_range_is_met_by_what_it_overlaps() -> None:
    assert recall.violations(history(asked_for())) == []
    (text,) = recall.violations(history(asked_for(found=())))
    assert "a, acknowledged at 11.000 s, is not in the answer" in text
    assert recall.violations(history(asked_for("h*", found=()))) == []
    (text,) = recall.violations(history(asked_for("h*")))
    assert "a has the value 100" in text


def test_an_answer_is_excused_where_both_regions_begin_and_nowhere_else() -> None:
    """The range lies at many places, and one of them tells of it."""
    at = first_common(wide().region, region_asked("value=150..400"))
    assert at is not None
    assert at != wide().index
    here = history(asked_for(found=(), complete=False, missing=((at, at),)))
    assert recall.violations(here) == []
    elsewhere = asked_for(found=(), complete=False, missing=((wide().index, at - 1),))
    assert len(recall.violations(history(elsewhere))) == 1
    here.subscriptions[0].told = []
    assert len(notification.violations(here)) == 1
    here.wounds = ((at, at),)
    assert notification.violations(here) == []


def test_a_delete_takes_what_it_contains_or_all_that_it_meets() -> None:
    write = written(wide(), "a", 3600, 10, 0.0)
    assert not Clearing(150, 160).takes(write)
    assert Clearing(150, 160, overlaps=True).takes(write)
    assert Clearing(100, 200).takes(write)
    assert not Clearing(201, 260, overlaps=True).takes(write)


def test_regions_without_a_common_place_have_none() -> None:
    assert first_common(Box((0, 0), (4, 4)), Box((5, 0), (9, 4))) is None


def test_ranges_that_nobody_tells_of_fail_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each peer tells of a pair only where the data begins: not where both begin."""

    def where_it_begins(self: ReadableShelf, _: object, asked: object) -> int:
        placed = self.find(asked.key)  # type: ignore[attr-defined]
        assert placed is not None
        return placed.lowest

    def plant(overlay: Overlay) -> None:
        for peer in overlay.peers:
            monkeypatch.setattr(type(peer.core.shelf), "lowest_common", where_it_begins)

    report = run(replace(SCENARIO, storm_s=4.0), 1, sabotage=plant)
    named = {text.partition(":")[0] for text in report.violations}
    assert {"recall", "notification"} <= named, report.text()


def test_deletes_of_what_overlaps_take_what_begins_elsewhere() -> None:
    workload = replace(SCENARIO.workload, overlaps=1.0, clearings=0.1)
    report = run(replace(SCENARIO, workload=workload, churn=ChurnPlan(), storm_s=4.0), 1)
    assert not report.violations, report.text()
