"""Every checker passes what is right and names each fault that is planted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from chord import Contact, ideal_ring
from sim.checkers import (
    convergence,
    deletion,
    durability,
    holders,
    lifetimes,
    notification,
    ownership,
    recall,
)
from sim.checkers.convergence import Pointers
from sim.checkers.copies import CopyLedger, Loss
from sim.checkers.ownership import Claim
from sim.history import MERGED_WITHIN_S, Cut, History, Question, Subscription, Write


def write(stem: str, **changes: Any) -> Write:
    """A profile stored at 10 s, acknowledged at 11 s, of value 5 at index 500."""
    made = Write(stem=stem, index=500, value=5, ttl_s=3600, began_s=10, acknowledged_s=11)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


ASKED = Question(low=0, high=9, began_s=20, ended_s=21, found=("a",), complete=True, last=True)


def history(*writes: Write, asked: Question = ASKED, told: tuple[str, ...] = ("a",)) -> History:
    subscription = Subscription("s", 0, 9, 11.5, 12, told=[(15.0, stem) for stem in told])
    return History({one.stem: one for one in writes}, [asked], [subscription], ended_s=100)


NOTHING: Final[Mapping[str, Loss]] = {}
ALL = (recall, deletion, lifetimes, notification)


DOWN = Loss("b", 15.0, (("p", 14.0), ("q", 15.0)))


def complaints(case: History, losses: Mapping[str, Loss] = NOTHING) -> dict[str, list[str]]:
    found = {one.__name__.rpartition(".")[2]: one.violations(case) for one in ALL}
    found["durability"] = durability.violations(case, losses)
    return {name: texts for name, texts in found.items() if texts}


@pytest.mark.parametrize(
    "case",
    [
        history(write("a")),
        history(write("a"), write("b", value=10)),
        history(write("a"), write("b", acknowledged_s=None)),
        history(write("a"), write("b", delete_began_s=13, deleted_s=14)),
        history(write("a", delete_began_s=20.5, deleted_s=22)),
        history(write("a"), write("b", ttl_s=5)),
        history(write("a", ttl_s=9.5)),
        history(write("a", ttl_s=6, drift=0.5)),
        history(write("a"), write("b", ttl_s=13, drift=0.4)),
        history(write("a"), write("b", began_s=20.5, acknowledged_s=90)),
    ],
)  # fmt: skip
def test_what_is_right_passes(case: History) -> None:
    assert complaints(case) == {}


def test_what_had_no_copy_up_may_be_said_missing() -> None:
    asked = replace(ASKED, complete=False, missing=((400, 600),))
    case = history(write("a"), write("b"), asked=asked, told=("a", "b"))
    case.wounds = ((300, 600),)
    assert complaints(case, {"b": DOWN}) == {}
    assert set(complaints(case)) == {"durability"}


@pytest.mark.parametrize(
    ("case", "checkers"),
    [
        (history(write("a"), write("b"), told=("a", "b")), {"recall", "durability"}),
        (
            history(
                write("a"), write("b"), told=("a", "b"),
                asked=replace(ASKED, complete=False, missing=((501, 600),)),
            ),
            {"recall", "durability"},
        ),
        (history(write("a"), asked=replace(ASKED, found=("a", "a"))), {"recall"}),
        (history(write("a"), asked=replace(ASKED, found=("a", "ghost"))), {"recall"}),
        (
            history(write("a"), write("b", value=10), asked=replace(ASKED, found=("a", "b"))),
            {"recall"},
        ),
        (history(write("a", delete_began_s=12, deleted_s=13)), {"deletion"}),
        (history(write("a", delete_began_s=11, deleted_s=11.5)), {"deletion"}),
        (history(write("a", ttl_s=6)), {"lifetimes"}),
        (history(write("a", ttl_s=7, drift=0.01)), {"lifetimes"}),
        (  # an interest that came when its time was over was told of it
            history(
                write("a", began_s=1, acknowledged_s=2, ttl_s=3), asked=replace(ASKED, found=())
            ),
            {"lifetimes"},
        ),
        (
            history(write("a"), write("b", ttl_s=12.5, drift=0.01), told=("a", "b")),
            {"recall", "durability"},
        ),
        (history(write("a"), told=("a", "a")), {"notification"}),
        (history(write("a"), told=("a", "ghost")), {"notification"}),
        (history(write("a"), told=()), {"notification"}),
        (history(write("a"), write("b", value=10), told=("a", "b")), {"notification"}),
        (history(write("a"), asked=replace(ASKED, last=False)), {"durability"}),
    ],
)  # fmt: skip
def test_each_planted_fault_is_named_by_its_checkers(case: History, checkers: set[str]) -> None:
    assert set(complaints(case)) == checkers


def test_with_copies_only_what_had_none_up_may_be_lost_and_must_be_named() -> None:
    named = history(
        write("a"), write("b"), asked=replace(ASKED, complete=False, missing=((400, 600),))
    )
    assert durability.violations(named, {"b": DOWN}) == [
        "an answer calls [190, 258] missing, though a copy of it was always up"
    ]
    named.wounds = ((0, 1000),)
    assert durability.violations(named, {"b": DOWN}) == []
    assert durability.violations(named, {"a": DOWN}) == [
        "b, acknowledged at 11.000 s, is lost, though a copy of it was always up"
    ]
    silent = history(write("a"), write("b"))
    assert durability.violations(silent, {"b": DOWN}) == [
        "an answer lacks without a word what is lost: "
        "b: 2 copies down: p at 14.000 s, q at 15.000 s"
    ]


def test_while_the_network_is_cut_an_answer_speaks_for_its_side() -> None:
    asked = replace(ASKED, last=False)
    case = history(write("a"), write("b"), asked=asked, told=("a", "b"))
    assert recall.violations(case)
    case.cuts = [Cut(10.5, 18.0)]
    assert recall.violations(case) == []
    case.questions = [replace(asked, last=True)]
    assert recall.violations(case)
    case.questions = [asked]
    case.cuts = [Cut(11.5, 18.0)]
    assert recall.violations(case), "acknowledged before the cut: both sides know it"
    case.cuts = [Cut(1.0, 20.0 - MERGED_WITHIN_S)]
    assert recall.violations(case), "the sides have been one again for long"
    case.cuts = [Cut(10.5)]
    assert recall.violations(case) == []
    deleted = history(write("a", delete_began_s=12, deleted_s=13), asked=asked)
    assert deletion.violations(deleted)
    deleted.cuts = [Cut(12.5, 18.0)]
    assert deletion.violations(deleted) == []
    deleted.cuts = [Cut(13.5, 18.0)]
    assert deletion.violations(deleted)


def test_a_pair_is_excused_where_all_copies_of_a_place_were_down() -> None:
    case = history(
        write("a"), write("b"), asked=replace(ASKED, complete=False, missing=((400, 600),))
    )
    case.wounds = ((0, 1000),)
    assert notification.violations(case) == []
    assert notification.violations(case, excuse=False) == ["s was never told of b"]


def test_a_record_is_lost_with_its_last_copy_and_its_copies_are_named() -> None:
    ledger = CopyLedger()
    assert ledger.went_down({"p": ["a", "b"]}, {"a", "b", "c"}, 1.0) == []
    assert ledger.went_down({"q": ["b", "c"]}, {"a", "c"}, 2.0) == [
        Loss("b", 2.0, (("p", 1.0), ("q", 2.0)))
    ]
    ledger.came_back("p")
    assert ledger.went_down({"r": ["a"]}, {"a", "b", "c"}, 3.0) == []
    both = ledger.went_down({"p": ["a", "b"], "s": ["a"]}, {"c"}, 4.0)
    assert [str(loss) for loss in both] == [
        "a: 3 copies down: r at 3.000 s, p at 4.000 s, s at 4.000 s",
        "b: 2 copies down: q at 2.000 s, p at 4.000 s",
    ]
    assert ledger.losses["b"].at_s == 2.0
    assert set(ledger.losses) == set(ledger.open_losses()) == {"a", "b"}
    for peer in ("p", "q", "r"):
        ledger.came_back(peer)
    assert set(ledger.open_losses()) == {"a"}
    ledger.came_back("s")
    assert ledger.open_losses() == {}


def test_two_holders_and_none_are_named() -> None:
    sound = {"p": ((0, 9), (30, 39)), "q": ((10, 29),)}
    assert holders.overlaps(sound) == []
    assert holders.gaps(sound, 40) == []
    assert holders.gaps(sound, 41) == ["nobody holds [28, 28]"]
    assert holders.overlaps({**sound, "r": ((9, 10),)}) == [
        "p and r both hold [9, 9]",
        "r and q both hold [a, a]",
    ]
    assert holders.overlaps({"p": ((0, 99),), "q": ((5, 6),), "r": ((50, 60),)}) == [
        "p and q both hold [5, 6]",
        "p and r both hold [32, 3c]",
    ]
    assert holders.gaps({"q": ((10, 29),)}, 40) == ["nobody holds [0, 9]", "nobody holds [1e, 27]"]
    assert holders.gaps({}, 1) == ["nobody holds [0, 0]"]


def test_two_owners_in_one_epoch_are_named_however_far_apart() -> None:
    sound = [
        Claim("p", 1, ((0, 99),), 1.0),
        Claim("q", 2, ((50, 99),), 2.0),
        Claim("p", 1, ((0, 49),), 2.5),
        Claim("p", 3, ((0, 99),), 9.0),
        Claim("r", 1, ((100, 120), (130, 131)), 9.0),
        Claim("p", 1, ((0, 99),), 20.0),
    ]
    assert ownership.violations(sound) == []
    again = [Claim("q", 3, ((99, 200),), 30.0), Claim("q", 3, ((99, 200),), 31.0)]
    assert ownership.violations([*sound, *again]) == [
        "epoch 3: p since 9.000 s and q since 30.000 s both own [63, 63]"
    ]
    late = Claim("q", 1, ((20, 30), (125, 130)), 40.0)
    assert ownership.violations([*sound, late]) == [
        "epoch 1: p since 1.000 s and q since 40.000 s both own [14, 1e]",
        "epoch 1: p since 2.500 s and q since 40.000 s both own [14, 1e]",
        "epoch 1: r since 9.000 s and q since 40.000 s both own [82, 82]",
    ]


def test_a_ring_that_is_not_ideal_is_named() -> None:
    contacts = [Contact(n, f"{n}:1") for n in (10, 20, 30, 40)]
    members: dict[Contact, Pointers | None] = {
        place.contact: Pointers(place.predecessor, place.successors)
        for place in ideal_ring(contacts, 2)
    }
    assert convergence.flaws(members, 2) == []
    assert len(convergence.flaws({**members, Contact(25, "25:1"): None}, 2)) > 1
    broken = {**members, contacts[0]: Pointers(contacts[3], (contacts[2], contacts[3]))}
    assert len(convergence.flaws(broken, 2)) == 1
    broken = {**members, contacts[0]: Pointers(contacts[2], (contacts[1], contacts[2]))}
    assert len(convergence.flaws(broken, 2)) == 1
