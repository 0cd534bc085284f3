"""A study goes on when one of its posts fails, and says so: no row is lost with it."""

from __future__ import annotations

from typing import Any

import pytest

from meteor import Client, Timeout
from sim.data_study import TRIES, DataPlan, under_failures

PLAN = DataPlan(peers=12, successors=8, profiles=20, copies=(3,))


def failing(monkeypatch: pytest.MonkeyPatch, verb: str, times: int) -> list[None]:
    """The first calls of a verb run out of time; the list has an entry for each such call."""
    done, as_ever = list[None](), getattr(Client, verb)

    def fails(self: Client, *arguments: Any, **options: Any) -> Any:
        if len(done) < times:
            done.append(None)
            raise Timeout("the time is up")
        return as_ever(self, *arguments, **options)

    monkeypatch.setattr(Client, verb, fails)
    return done


def test_a_question_that_fails_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = failing(monkeypatch, "retrieve", TRIES - 1)
    (row,) = under_failures(PLAN, [0.0])
    assert len(failed) == TRIES - 1
    assert (row.profiles, row.losses, row.violations) == (20, [], [])


def test_what_is_not_answered_at_all_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, "retrieve", TRIES)
    rows = under_failures(PLAN, [0.0, 0.1])
    assert rows[0].violations == [
        f"{TRIES} questions after healing were not answered: the time is up",
        "durability: nothing was asked when the run was over: it cannot be judged",
    ]
    assert rows[1].violations == []


def test_a_store_that_fails_is_a_violation_and_no_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, "store", 1)
    (row,) = under_failures(PLAN, [0.0])
    assert row.profiles == 19
    assert row.violations == ["p0 was not stored, though nothing went wrong: the time is up"]
