"""Clients that lose their peers, post again, and let others have their interests: what is right of
it, and that what goes wrong with it is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chord import replace as altered
from meteor import profile
from meteor.rendezvous.outbox import Outbox
from meteor.wire.messages import Amend
from sim import Overlay
from sim.checkers import deletion, notification, watching
from sim.checkers.notification import TOLD_WITHIN_S
from sim.churn import ChurnPlan
from sim.history import (
    MERGED_WITHIN_S,
    UNDER_WAY_S,
    Cut,
    History,
    Subscription,
    Watching,
    Write,
)
from sim.places import SPACE, first_index, region_asked
from sim.scenario import run
from sim.scenarios import SCENARIOS

SCENARIO = SCENARIOS["clients-that-move"]
QUIET = replace(SCENARIO, churn=ChurnPlan(), storm_s=6.0)
WHERE = region_asked("value=0..9")


def after(seconds: float, plant: Callable[[Overlay], None]) -> Callable[[Overlay], None]:
    return lambda overlay: overlay.kernel.call_later(seconds, plant, overlay)


@pytest.mark.long
def test_everything_that_the_scenario_is_about_happens() -> None:
    report = run(replace(SCENARIO, storm_s=6.0), 2)
    assert not report.violations, report.text()
    for what in (
        "attach", "store_again", "store_twice", "notify_interest",
        "strikes: breaks", "cut-offs", "delete_data",
    ):  # fmt: skip
        assert report.counts.get(what, 0) > 0, what


def test_what_is_posted_twice_in_one_moment_has_one_version() -> None:
    overlay = Overlay(peers=4, space=SPACE, seed=1)
    one, other = overlay.new_client(peer=0), overlay.new_client(peer=1)
    overlay.run(one.open())
    overlay.run(other.open())
    overlay.run_for(1.2345678)
    described = profile({"type": "light", "value": 3})
    posts = [client.store(described, b"x", id="twin") for client in (one, other)]
    ids = {overlay.run(post).id for post in posts}
    versions = {
        placed.carried.version
        for peer in overlay.peers
        for record in peer.core.shelf.store.records()
        if (placed := peer.core.shelf.find(record.key)) is not None
    }
    assert len(ids) == len(versions) == 1


# ---- judged


def interest(**changes: Any) -> Subscription:
    made = Subscription("i", 0, 9, 10, 11, region=WHERE)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def watch(*told: tuple[float, str, str], active: bool | None = True) -> Watching:
    return Watching("w", 0, 20, "*", WHERE, 5, 6, told=list(told), active=active)


def complaints(seen: Watching, *interests: Subscription, ended_s: float = 100) -> list[str]:
    return watching.violations(history_of(seen, *interests, ended_s=ended_s))


def history_of(seen: Watching, *interests: Subscription, ended_s: float = 100) -> History:
    return History(subscriptions=list(interests), watches=[seen], ended_s=ended_s)


APPEARED, GONE = (12.0, "appeared", "i"), (22.0, "gone", "i")
DELETED = {"ended_s": 20.0, "delete_began_s": 20.0, "deleted_s": 21.0}


def test_a_watch_that_was_told_in_time_is_right() -> None:
    assert complaints(watch(APPEARED), interest()) == []
    assert complaints(watch(APPEARED, GONE, active=False), interest(**DELETED)) == []
    assert complaints(watch(active=None), interest(), ended_s=11 + TOLD_WITHIN_S - 1) == []
    assert complaints(watch((12.0, "appeared", "a stem of what only asked")), interest()) != []


@pytest.mark.parametrize(
    ("seen", "other", "says"),
    [
        (watch(), interest(), "w was not told by 26.000 s of i"),
        (watch((30.0, "appeared", "i")), interest(), "w was not told by 26.000 s of i"),
        (watch(APPEARED), interest(**DELETED), "w was not told by 36.000 s that i is gone"),
        (watch(APPEARED, GONE), interest(), "w was told at 22.000 s that i is gone, which lives"),
        (watch(APPEARED), interest(low=30, high=40), "of i, which does not meet it"),
        (watch(APPEARED, active=False), interest(), "w says that nobody is interested"),
        (watch(APPEARED, GONE), interest(**DELETED), "w says that somebody is interested"),
        (watch(APPEARED, APPEARED), interest(), "w was told at 12.000 s once more that i appeared"),
    ],
)
def test_a_watch_that_was_not_is_named(seen: Watching, other: Subscription, says: str) -> None:
    assert any(says in text for text in complaints(seen, other))


def test_an_interest_goes_on_in_other_hands() -> None:
    before, now = interest(ended_s=20.0), interest(began_s=20.5, opened_s=21.0, goes_on=True)
    assert complaints(watch(APPEARED), before, now) == []
    assert len(complaints(watch(APPEARED, GONE), before, now)) == 1


def test_what_cannot_be_attached_to_though_it_lives_is_named() -> None:
    history = History(not_attached=[(30.0, "i", "unknown")], subscriptions=[interest()])
    (text,) = watching.violations(history)
    assert "i, which lived, could not be attached to at 30.000 s: unknown" in text
    excused_where_it_was_wounded_or_cut(history, 30.0)


def test_a_deletion_that_does_not_find_what_lives_is_named() -> None:
    """Of an interest; it was counted as deleted."""
    lost = {"ended_s": 20.0, "delete_began_s": 20.0, "not_found_s": 21.0}
    history = History(subscriptions=[interest(**lost)])
    (text,) = watching.violations(history)
    assert text == "i, deleted at 20.000 s, was not found, though it lived"
    excused_where_it_was_wounded_or_cut(history, 20.0)
    history.not_attached = [(15.0, "i", "unknown")]
    assert len(watching.violations(history)) == 1, "it was named as it was not attached to"


def test_an_interest_that_seems_to_be_gone_is_excused_only_there_and_then() -> None:
    excused_where_it_was_wounded_or_cut(history_of(watch(APPEARED, GONE), interest()), 22.0)


def excused_where_it_was_wounded_or_cut(history: History, at_s: float) -> None:
    """One place elsewhere that was wounded, or one cut at another time, excused a whole run."""
    begins = first_index(WHERE)
    elsewhere = SPACE.curve.next_match(region_asked("value=500..600"), 0)
    assert elsewhere is not None
    assert len(watching.violations(history)) == 1
    history.wounds = ((elsewhere, elsewhere),)
    assert len(watching.violations(history)) == 1
    history.wounds = ((begins, begins),)
    assert watching.violations(history) == []
    history.wounds = ()
    history.cuts = [Cut(1.0, at_s - MERGED_WITHIN_S - 0.1), Cut(at_s + 2)]
    assert len(watching.violations(history)) == 1
    history.cuts = [Cut(at_s - MERGED_WITHIN_S, at_s - 1)]
    assert watching.violations(history) == []
    history.cuts = []


def test_who_is_interested_at_the_end_without_anybody_having_heard_so_is_no_wrong() -> None:
    """An interest of which no receipt came may live, and so may one whose deletion is new."""
    history = history_of(watch(APPEARED, GONE), interest(**DELETED))
    assert len(watching.violations(history)) == 1
    history.unheard["late"] = interest(name="late", low=30, high=40)
    assert len(watching.violations(history)) == 1, "it does not meet it"
    history.unheard["late"] = interest(name="late")
    assert watching.violations(history) == []
    seen, told = watch(APPEARED), interest(once=True, told=[(12.0, "a")])
    assert complaints(seen, told, ended_s=12 + TOLD_WITHIN_S - 1) == []
    assert len(complaints(seen, told, ended_s=12 + TOLD_WITHIN_S + 1)) == 1


def test_what_is_posted_again_may_appear_again() -> None:
    again = interest(began_s=20.5, opened_s=21.0, goes_on=True, once=True)
    assert complaints(watch(APPEARED, APPEARED), interest(ended_s=20.0), again) == []
    back = watch(APPEARED, GONE, APPEARED)
    assert [text for text in complaints(back, interest()) if "once more" in text] == []


def told_of(*times_s: float, reposts: int = 0, **changes: Any) -> list[str]:
    write = Write("a", 300, 3, 3600, 10, 11, reposts=reposts)
    told = [(at_s, "a") for at_s in times_s]
    return notification.violations(
        History({"a": write}, subscriptions=[interest(told=told, **changes)], ended_s=100)
    )


def test_what_is_posted_again_may_be_told_again_and_no_more() -> None:
    assert told_of(12.0) == told_of(12.0, 13.0, reposts=1) == []
    assert len(told_of(12.0, 13.0)) == len(told_of(12.0, 13.0, 14.0, reposts=1)) == 1


def test_whose_client_ended_need_not_be_told_and_once_is_enough() -> None:
    assert told_of(ended_s=20.0) == []
    assert told_of(12.0, once=True) == []
    assert len(told_of(once=True)) == 1
    assert len(told_of(12.0, 13.0, reposts=1, once=True)) == 1


def test_who_goes_on_may_hear_what_was_under_way_and_nothing_older() -> None:
    write = Write("a", 300, 3, 3600, 1, 2, delete_began_s=8, deleted_s=9)
    history = History({"a": write}, subscriptions=[interest(told=[(12.0, "a")], goes_on=True)])
    assert deletion.violations(history) == []
    history.subscriptions[0].goes_on = False
    assert len(deletion.violations(history)) == 1
    history.subscriptions[0].goes_on, write.deleted_s = True, 9.9 - UNDER_WAY_S
    assert len(deletion.violations(history)) == 1


# ---- planted in peers


def delete_no_interest(overlay: Overlay) -> None:
    """Every peer says of an interest that is to be deleted that there is none."""
    for peer in overlay.peers:
        amend = peer.core._handlers[Amend]

        def nothing(sender: Any, message: Any, remaining_s: float, amend: Any = amend) -> object:
            if not message.id.startswith("interest"):
                return amend(sender, message, remaining_s)
            ghost = altered(message, id=f"ghost.{message.id.partition('.')[2]}")
            return amend(sender, ghost, remaining_s)

        peer.core._handlers[Amend] = nothing


def test_interests_that_are_not_found_by_their_deletion_fail_the_run() -> None:
    workload = replace(QUIET.workload, attaches=3.0)
    report = run(replace(QUIET, workload=workload), 1, sabotage=after(1.0, delete_no_interest))
    assert any("was not found, though it lived" in text for text in report.violations), (
        report.text()
    )


def tell_watches_nothing(overlay: Overlay) -> None:
    """The peers keep to themselves what watches should hear."""
    for peer in overlay.peers:
        tell = peer.core.telling.tell

        def of_data_alone(told: Any, tell: Callable[[Any], Any] = tell) -> Any:
            return tell(told) if told.kind == "match" else None

        peer.core.telling.tell = of_data_alone  # type: ignore[method-assign]


def test_watches_that_are_not_told_fail_the_run() -> None:
    report = run(QUIET, 1, sabotage=tell_watches_nothing)
    assert any(text.startswith("watching: ") for text in report.violations), report.text()


def test_who_is_to_be_told_once_and_is_not_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the interest before it was told of counts as the one notice."""
    has_told = Outbox.has_told

    def of_any_life(self: Outbox, name: str, _: int) -> bool:
        return has_told(self, name, 0)

    monkeypatch.setattr(Outbox, "has_told", of_any_life)
    workload = replace(QUIET.workload, onces=3.0, clients=2, attaches=0.0)
    report = run(replace(QUIET, workload=workload), 1)
    assert any("notification: once" in text for text in report.violations), report.text()
    assert all("was never told of" in text for text in report.violations), report.text()


@pytest.mark.long
def test_a_delete_that_lay_on_a_link_takes_nothing_that_was_stored_since() -> None:
    """Its client had it done by another peer, and stored anew; who has the place by now joined
    after that, and did not know that it was done."""
    report = run(SCENARIO, 4)
    assert not report.violations, report.text()
