"""What is moved, renewed and deleted many at a time in a scenario; and that what goes wrong with it
is named."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chord import replace as altered
from meteor import Timeout
from meteor.wire.codec import wire_codec
from sim import Overlay
from sim.changing import Changing
from sim.checkers import deletion, lifetimes, moves, recall
from sim.churn import ChurnPlan
from sim.history import Cut, History, Question, Write
from sim.places import drawn_point
from sim.scenario import run
from sim.scenarios import SCENARIOS

QUIET = replace(SCENARIOS["moving"], churn=ChurnPlan(), storm_s=8.0)
ASKED = Question(low=0, high=9, began_s=50, ended_s=51, found=("b",), complete=True)


def way(asked: Question = ASKED, **changes: Any) -> History:
    """A record of value 3, which is replaced by another of value 6 from 20 s to 21 s."""
    first = Write("a", 300, 3, 3600, 10, 11, delete_began_s=20, deleted_s=21)
    second = Write("b", 600, 6, 3600, 20, 21, former="a")
    for name, value in changes.items():
        setattr(second, name, value)
    return History({"a": first, "b": second}, [asked], ended_s=100)


UNDER_WAY = replace(ASKED, began_s=20.5, ended_s=20.6)


@pytest.mark.parametrize("found", [("a",), ("b",)])
def test_one_of_both_is_enough_while_it_moves(found: tuple[str, ...]) -> None:
    case = way(replace(UNDER_WAY, found=found))
    assert moves.violations(case) == recall.violations(case) == deletion.violations(case) == []


@pytest.mark.parametrize("asked", [UNDER_WAY, ASKED])
def test_neither_is_named(asked: Question) -> None:
    (text,) = moves.violations(way(replace(asked, found=())))
    assert text.endswith(("a and b, one after the other, none is in the answer", "of b, one after "
                          "the other, none is in the answer"))  # fmt: skip


def test_what_may_be_elsewhere_need_not_be_met() -> None:
    nothing = replace(UNDER_WAY, found=())
    for asked in (
        replace(nothing, high=5),
        replace(nothing, complete=False, missing=((600, 600),)),
        replace(nothing, complete=False),
        replace(nothing, began_s=9, ended_s=9.5),
    ):
        assert moves.violations(way(asked)) == []
    assert moves.violations(way(nothing, delete_began_s=20.55)) == []
    assert moves.violations(way(nothing, cleared_s=(20.2,))) == []
    apart = way(nothing)
    apart.cuts = [Cut(19.0, 22.0)]
    assert moves.violations(apart) == []


def test_a_move_of_which_nobody_heard_how_it_ended_leaves_one_of_both() -> None:
    asked = replace(ASKED, found=())
    case = way(asked, acknowledged_s=None)
    case.writes["a"].deleted_s = None
    assert len(moves.violations(case)) == 1
    case.questions = [replace(asked, found=("a",))]
    assert moves.violations(case) == []


def test_what_was_replaced_is_not_found_again() -> None:
    assert len(deletion.violations(way(replace(ASKED, found=("a", "b"))))) == 1


def test_what_was_renewed_lives_on() -> None:
    short = Write("a", 300, 3, 5, 10, 11, renew_began_s=12, renewed_s=13)
    case = History({"a": short}, [replace(ASKED, found=())], ended_s=100)
    assert len(recall.violations(case)) == 1
    case.questions = [replace(ASKED, found=("a",))]
    assert lifetimes.violations(case) == recall.violations(case) == []
    short.renewed_s = None
    case.questions = [ASKED, replace(ASKED, found=())]
    assert [text for text in recall.violations(case) if " a," in text] == []


@pytest.mark.parametrize(("ends", "cleared"), [("in time", False), ("unknown", True)])
def test_a_delete_of_which_nobody_heard_may_take_what_comes_later(ends: str, cleared: bool) -> None:
    """Seed 51 of `moving-apart`: it came a twentieth of a second after its client gave up."""
    kept = Write("a", 300, 3, 3600, 10, 11)
    history = History({"a": kept})
    overlay: Any = SimpleNamespace(kernel=SimpleNamespace(now=lambda: 20.0))
    changing = Changing(
        overlay, history, random.Random(1), draw=lambda: drawn_point("light", 0.0), described={},
        count=lambda _: None, timeout_s=1.0,
    )  # fmt: skip

    async def delete_data(*_: Any, **__: Any) -> None:
        if ends == "unknown":
            raise Timeout("the time is up")

    asyncio.run(changing.clear(cast("Any", SimpleNamespace(delete_data=delete_data))))
    assert (kept.deleted_s is None) == cleared
    later = Write("b", 300, 3, 3600, 21, 22)
    changing.begin(later)
    assert history.writes["b"] is later
    assert bool(later.cleared_s) == cleared
    elsewhere = Write("c", 300, 30, 3600, 21, 22)
    changing.begin(elsewhere)
    assert elsewhere.cleared_s == ()


@pytest.mark.parametrize(
    ("cuts", "began_s", "cleared"),
    [
        ([], 30.9, True),
        ([], 31.1, False),
        ([Cut(19.0, 25.0)], 34.9, True),
        ([Cut(19.0, 25.0)], 35.1, False),
        ([Cut(19.0, 25.0), Cut(34.0, 38.0)], 47.9, True),
        ([Cut(19.0, 25.0), Cut(36.0, 38.0)], 37.0, False),
        ([Cut(19.0)], 90.0, True),
    ],
)
def test_what_is_stored_when_such_a_delete_can_come_no_more_is_judged(
    cuts: list[Cut], began_s: float, cleared: bool
) -> None:
    """It began at 20 s and had a second: a cut may hold it up, and then the merging."""
    history, now_s = History({"a": Write("a", 300, 3, 3600, 10, 11)}, cuts=cuts), [20.0]
    overlay: Any = SimpleNamespace(kernel=SimpleNamespace(now=lambda: now_s[0]))
    changing = Changing(
        overlay, history, random.Random(1), draw=lambda: drawn_point("light", 0.0), described={},
        count=lambda _: None, timeout_s=1.0,
    )  # fmt: skip

    async def delete_data(*_: Any, **__: Any) -> None:
        raise Timeout("the time is up")

    asyncio.run(changing.clear(cast("Any", SimpleNamespace(delete_data=delete_data))))
    now_s[0] = began_s
    later = Write("b", 300, 3, 3600, began_s, began_s + 1)
    changing.begin(later)
    assert bool(later.cleared_s) == cleared
    asked = replace(ASKED, began_s=95, ended_s=96, found=())
    history.questions, history.cuts = [asked], []
    assert len([text for text in recall.violations(history) if " b," in text]) == (not cleared)


# ---- planted in peers


def after(seconds: float, plant: Callable[[Overlay], None]) -> Callable[[Overlay], None]:
    return lambda overlay: overlay.kernel.call_later(seconds, plant, overlay)


def leave_first(overlay: Overlay) -> None:
    """A replace begins with its second half."""
    for peer in overlay.peers:
        amending = peer.core.entry._amending

        async def late(
            sender: Any, amend: Any, document: Any, admitted: Any, amending: Any = amending
        ) -> Any:
            cancel = altered(amend, verb="cancel", document=b"")
            await amending.once(sender, cancel, altered(admitted, issued_ms=0))
            await amending._runtime.sleep(1.0)
            return await type(amending)._replace(amending, sender, amend, document, admitted)

        amending._replace = late  # type: ignore[method-assign]


def leave_nothing(overlay: Overlay) -> None:
    """It ends with its first half: the former content stays."""
    for peer in overlay.peers:

        async def stay(_: Any, reply: Any, __: Any) -> Any:
            return reply

        peer.core.entry._amending._leave = stay  # type: ignore[method-assign]


def delete_none(overlay: Overlay) -> None:
    """A delete by selector finds nothing to delete."""
    for peer in overlay.peers:

        async def nothing(*_: Any) -> list[Any]:
            return []

        peer.core.point.changes.deletes.selected = nothing  # type: ignore[method-assign]


def renew_nothing(overlay: Overlay) -> None:
    """A renewal is acknowledged, and the time runs on as it did."""
    for peer in overlay.peers:
        amendments = peer.core.point.changes.amend.__self__  # type: ignore[attr-defined]

        async def nothing(*_: Any) -> None:
            return None

        amendments._renew = nothing


@pytest.mark.parametrize(
    ("plant", "checker"),
    [
        (leave_first, "moves"),
        (leave_nothing, "deletion"),
        (delete_none, "deletion"),
        (renew_nothing, "recall"),
    ],
)
def test_what_goes_wrong_is_named(plant: Callable[[Overlay], None], checker: str) -> None:
    report = run(QUIET, 1, sabotage=after(1.0, plant))
    assert any(text.startswith(f"{checker}:") for text in report.violations), report.text()


def test_nothing_is_named_where_nothing_goes_wrong() -> None:
    """Of the very run into which those above are planted."""
    report = run(QUIET, 1)
    assert not report.violations, report.text()


def test_a_quiet_run_does_each_and_nothing_fails() -> None:
    report = run(QUIET, 2, codec=wire_codec())
    assert not report.violations, report.text()
    for verb in ("replace", "renew", "delete_data"):
        assert report.counts[verb]
    assert not [what for what in report.counts if "Error" in what or "Incomplete" in what]
