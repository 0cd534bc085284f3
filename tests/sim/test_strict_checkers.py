"""What comes, and is wrong: other data, a delete or a renewal that did nothing, a notice far too
late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chord import replace as altered
from meteor.values import Match
from meteor.wire.messages import Amend
from sim import Overlay
from sim.checkers import deletion, durability, lifetimes, notification, recall
from sim.history import Cut, History, Question, Subscription, Write
from sim.scenario import run
from sim.scenarios import SCENARIOS
from sim.workload_plan import WorkloadPlan

ASKED = Question(low=0, high=9, began_s=50, ended_s=51, found=("a",), complete=True, last=True)


def write(stem: str, **changes: Any) -> Write:
    """A profile stored at 10 s, acknowledged at 11 s, of value 5 at index 500."""
    made = Write(stem=stem, index=500, value=5, ttl_s=3600, began_s=10, acknowledged_s=11)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def history(one: Write, asked: Question = ASKED, told_s: float = 15.0) -> History:
    subscription = Subscription("s", 0, 9, 11.5, 12, told=[(told_s, "a")])
    return History({one.stem: one}, [asked], [subscription], ended_s=100)


def test_what_is_not_as_it_was_stored_is_named() -> None:
    case = history(write("a"), replace(ASKED, garbled=("a",)))
    assert recall.violations(case) == ["value=0..9 asked at 50.000 s: a is not as it was stored"]
    case = history(write("a"))
    assert notification.violations(case) == recall.violations(case) == []
    case.subscriptions[0].garbled.append("a")
    assert notification.violations(case) == ["s was told of a, which is not as it was stored"]


def test_a_delete_that_does_not_find_what_lives_is_named() -> None:
    case = history(write("a", delete_began_s=20, not_found_s=21))
    assert deletion.violations(case) == ["a, deleted at 20.000 s, was not found, though it lived"]
    case.cuts = [Cut(10.5, 18.0)]
    assert deletion.violations(case) == [], "the other side of a cut may know it alone"
    excuses = [{"acknowledged_s": 20.5}, {"ttl_s": 10}, {"acknowledged_s": None}]
    for lived_not in [*excuses, {"cleared_s": (20.5,)}, {"cleared_s": (20.5, 30.0)}]:
        case = history(write("a", delete_began_s=20, not_found_s=21, **lived_not))
        assert deletion.violations(case) == []


def test_a_renewal_that_does_not_find_what_lives_is_named() -> None:
    passed_over = {"ttl_s": 60, "renew_began_s": 20, "not_renewed_s": 21}
    case = history(write("a", **passed_over))
    assert lifetimes.violations(case) == ["a, renewed at 20.000 s, was not found, though it lived"]
    case.cuts = [Cut(10.5, 18.0)]
    assert lifetimes.violations(case) == [], "the other side of a cut may know it alone"
    for excuse in [{"acknowledged_s": 20.5}, {"ttl_s": 11.5}, {"delete_began_s": 20.5}]:
        assert lifetimes.violations(history(write("a", **{**passed_over, **excuse}))) == []


def test_a_last_answer_that_lacks_something_says_what() -> None:
    case = history(write("a"), replace(ASKED, complete=False))
    assert durability.violations(case, {}) == [
        "an answer is incomplete when everything has healed, and names nothing as missing"
    ]


def test_a_notice_that_comes_far_too_late_is_named() -> None:
    assert notification.violations(history(write("a"), told_s=27.0)) == []
    (late,) = notification.violations(history(write("a"), told_s=28.0))
    assert late == "s was told of a only at 28.000 s"
    case = history(write("a", ttl_s=10), told_s=28.0)
    assert notification.violations(case) == [], "they did not live together for so long"


def after(seconds: float, plant: Callable[[Overlay], None]) -> Callable[[Overlay], None]:
    return lambda overlay: overlay.kernel.call_later(seconds, plant, overlay)


def do_nothing(overlay: Overlay) -> None:
    """Every peer says of what is deleted or renewed by id that there was none, and does nothing."""
    for peer in overlay.peers:
        amend = peer.core._handlers[Amend]

        def nothing(sender: Any, message: Any, remaining_s: float, amend: Any = amend) -> object:
            ghost = altered(message, id=f"ghost.{message.id.partition('.')[2]}")
            return amend(sender, ghost, remaining_s)

        peer.core._handlers[Amend] = nothing


@pytest.mark.parametrize(
    ("plan", "checker"),
    [
        (WorkloadPlan(), "deletion"),
        (WorkloadPlan(deletes=0.0, renewals=0.3, short_lived=0.5), "lifetimes"),
    ],
)
def test_a_verb_that_does_nothing_fails_the_run(plan: WorkloadPlan, checker: str) -> None:
    """Somebody joins now and then: where nothing goes wrong nothing that is asked for may fail."""
    scenario = replace(SCENARIOS["growth"], storm_s=6.0, workload=plan)
    report = run(scenario, 1, sabotage=after(3.0, do_nothing))
    assert any(text.startswith(f"{checker}: ") for text in report.violations), report.text()


def test_other_data_than_was_stored_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Match, "text", property(lambda _: "of somebody else"))
    report = run(replace(SCENARIOS["calm"], storm_s=3.0), 1)
    for checker in ("recall", "notification"):
        assert any(text.startswith(f"{checker}: ") for text in report.violations), report.text()


@pytest.mark.parametrize(("deleted_s", "named"), [(11.4, 1), (11.7, 0)])
def test_an_interest_may_be_told_from_when_it_was_posted(deleted_s: float, named: int) -> None:
    """Its receipt comes later: what was deleted in between it met while that was there."""
    gone = write("a", delete_began_s=11.3, deleted_s=deleted_s)
    case = history(gone, replace(ASKED, found=()))
    assert len(deletion.violations(case)) == named
