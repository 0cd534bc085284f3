"""The demo's judge, its readings and its table, without an overlay."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import meteor
from meteor.demo import patience_s, plain_filter, readings, table
from meteor.demo.building import Plan, plan_of, selector, space_of
from meteor.demo.plain_filter import Anything, Begins, Between, difference, wanted
from meteor.demo.progress import Progress
from meteor.demo.scenario import Outcome, Verdict

ROWS = {
    "a": {"room": "lab-1", "temperature": 20.0},
    "b": {"room": "lab-2", "temperature": 25.0},
    "c": {"room": "office", "temperature": 30.0},
    "d": {"room": "office"},
}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ({"temperature": Between(20, 25)}, {"a", "b"}),
        ({"temperature": Between(25, None)}, {"b", "c"}),
        ({"temperature": Between(None, 20)}, {"a"}),
        ({"temperature": Between()}, {"a", "b", "c"}),
        ({"temperature": 25.0}, {"b"}),
        ({"room": Begins("lab-")}, {"a", "b"}),
        ({"room": "office"}, {"c", "d"}),
        ({"room": Anything()}, {"a", "b", "c", "d"}),
        ({"temperature": Anything()}, {"a", "b", "c"}),
        ({"room": Begins("o"), "temperature": Between(0, 99)}, {"c"}),
        ({"room": Between(0, 99)}, set()),
        ({"temperature": Begins("2")}, set()),
        ({}, {"a", "b", "c", "d"}),
    ],
)
def test_the_plain_filter_selects(
    question: dict[str, plain_filter.Condition], names: set[str]
) -> None:
    assert wanted(ROWS, question) == names


def test_the_plain_filter_imports_nothing_of_ours() -> None:
    tree = ast.parse(Path(plain_filter.__file__).read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules == {"__future__", "collections", "collections.abc", "dataclasses"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]


POSTED = {"a": b"1", "b": b"2", "c": b"3"}


@given(st.permutations(["a", "b"]))
def test_an_exact_answer_has_no_difference_in_any_order(names: list[str]) -> None:
    assert not difference([(name, POSTED[name]) for name in names], {"a", "b"}, POSTED)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([("a", b"1")], "1 missing (b)"),
        ([("a", b"1"), ("b", b"2"), ("c", b"3")], "1 unwanted (c)"),
        ([("a", b"1"), ("b", b"2"), ("b", b"2")], "1 more than once (b)"),
        ([("a", b"1"), ("b", b"?")], "1 with other data (b)"),
        ([("a", b"1"), ("x", b"2")], "1 missing (b); 1 unwanted (x)"),
    ],
)
def test_every_kind_of_difference_is_seen(answer: list[tuple[str, bytes]], said: str) -> None:
    found = difference(answer, {"a", "b"}, POSTED)
    assert found
    assert str(found) == said


@settings(max_examples=10)
@given(st.integers(min_value=0, max_value=2**32))
def test_the_same_seed_gives_the_same_fire(seed: int) -> None:
    fire = readings.of_a_fire(seed)
    assert fire == readings.of_a_fire(seed)
    assert len({reading.name for reading in fire}) == len(fire)
    assert len({reading.room for reading in fire}) == len(readings.ROOMS)


def test_a_fire_begins_in_one_room_and_spreads_to_neighbours() -> None:
    first: dict[str, int] = {}
    for at, reading in enumerate(readings.of_a_fire(seed=1)):
        if reading.temperature > 60:
            first.setdefault(reading.room, at // len(readings.ROOMS))
    order = sorted(first, key=lambda room: first[room])
    assert len(order) > 5
    for place, room in enumerate(order[1:], 1):
        assert set(readings.neighbours(room)) & set(order[:place]), room


def test_neighbours_are_mutual() -> None:
    for room in readings.ROOMS:
        for neighbour in readings.neighbours(room):
            assert room in set(readings.neighbours(neighbour))


HEADER = "mote,temperature,humidity,voltage\n"


def test_a_file_of_readings_is_read(tmp_path: Path) -> None:
    path = tmp_path / "readings.csv"
    path.write_text(HEADER + "7,21.5,40,2.8\n7,22,41,2.8\n")
    one, two = readings.from_csv(path)
    assert (one.mote, one.temperature, one.humidity, one.voltage) == ("mote-07", 21.5, 40.0, 2.8)
    assert one.room == two.room
    assert one.name != two.name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no readings"),
        (HEADER, "holds no readings"),
        ("mote,temperature\n1,2\n", "line 2: KeyError"),
        (HEADER + "1,2,3,4\nx,2,3,4\n", "line 3: ValueError"),
        (HEADER + "1,nan,3,4\n", "not a finite number"),
        (HEADER + "1,2\n", "line 2: TypeError"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "readings.csv"
    path.write_text(text)
    with pytest.raises(readings.UnusableReadings, match=said):
        readings.from_csv(path)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(readings.of_a_fire(seed=3)[::4], seed=3)


def test_selectors_and_plain_conditions_ask_for_the_same(plan: Plan) -> None:
    space = space_of(plan.readings)
    rows = {reading.name: reading.row() for reading in plan.readings}
    profiles = {name: meteor.profile(row).typed(space) for name, row in rows.items()}
    for question in (*plan.live, plan.late, *plan.final):
        asked = selector(question.conditions).typed(space)
        found = {name for name, stored in profiles.items() if asked.matches(stored)}
        assert found == wanted(rows, question.conditions), question.label


def test_every_question_but_one_finds_something_and_none_everything(plan: Plan) -> None:
    rows = {reading.name: reading.row() for reading in plan.readings}
    for question in (*plan.live, plan.late, *plan.final):
        count = len(wanted(rows, question.conditions))
        assert (count == 0) == (question.label == "nothing there"), question.label
        assert count < len(rows) or question.everywhere, question.label


def test_a_plan_of_one_reading_is_a_plan() -> None:
    one = readings.of_a_fire(seed=1)[:1]
    assert plan_of(one, seed=1).held_back == ()
    assert space_of(one).names


def test_the_table_says_what_was_wrong() -> None:
    outcome = Outcome()
    outcome.verdicts = [
        Verdict("exact", "retrieved", 1, difference([("a", b"1")], {"a"}, POSTED), peers=2),
        Verdict("exact", "retrieved", 0, difference([], {"b"}, POSTED), peers=3),
        Verdict("range", "notified", 2, difference([], set(), POSTED)),
    ]
    outcome.stored = [3, 0, 1]
    numbers = table.summary(outcome, peers=3, clients=2, seconds=1.25)
    text = "\n".join(table.lines(outcome, numbers))
    assert not numbers["exact"]
    assert "WRONG: retrieved exact: 1 missing (b)" in text
    assert "NOT EXACT: 3 answers" in text
    assert numbers["peers_per_query"]["mean"] == 2.5
    assert numbers["matched"] == 1
    assert numbers["notified"] == 2


def test_a_fault_beside_the_answers_is_not_exact() -> None:
    outcome = Outcome(faults=["the actuator worked before anybody was interested"])
    assert not outcome.exact
    assert "WRONG: the actuator" in "\n".join(
        table.lines(outcome, table.summary(outcome, peers=1, clients=1, seconds=1))
    )


@given(st.lists(st.floats(min_value=0, max_value=1e6), min_size=1))
def test_a_spread_is_ordered(values: list[float]) -> None:
    spread = table.spread(values)
    assert spread["p50"] <= spread["p99"] <= spread["max"]


def test_progress_is_one_line_where_nobody_looks() -> None:
    stream = io.StringIO()
    with Progress("peers", 4, stream) as bar:
        for _ in range(4):
            bar.step()
    assert stream.getvalue().count("\n") == 1
    assert "4 of 4" in stream.getvalue()


@pytest.mark.parametrize(
    ("load", "cores", "seconds"),
    [(0.0, 2, 58.0), (2.0, 2, 58.0), (6.0, 2, 174.0), (90.0, 2, 290.0)],
)
def test_a_machine_that_is_free_has_a_minute_and_a_busy_one_longer(
    load: float, cores: int, seconds: float
) -> None:
    assert patience_s(load, cores) == seconds
