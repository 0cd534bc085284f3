"""Deletes: within or overlapping, whose, and of what kind."""

from __future__ import annotations

from random import Random

import pytest

from arms import DATA, INTEREST, WATCH, Profile, Rendezvous, Store
from tests.arms.posting import post


def deleted(
    peer: Rendezvous, text: str, kinds: set[str], owner: str = "", mode: str = "within",
    dry_run: bool = False,
) -> set[str]:  # fmt: skip
    removed = peer.delete(Profile.parse(text), kinds, owner, mode, dry_run, 1.0)  # type: ignore[arg-type]
    return {record.stem for record in removed.records}


@pytest.mark.parametrize(
    ("selector", "stored", "within"),
    [
        ("t=20..30", "t=20..30", True),
        ("t=20..30", "t=20..31", False),
        ("t=*", "t=20..31", True),
        ("t=*", "t=*", True),
        ("t=20..30", "t=*", False),
        ("t=*", "t", False),
        ("t", "t", True),
        ("t", "t=5", True),
        ("t=Fa*", "t=Fahr*", True),
        ("t=Fahr*", "t=Fa*", False),
        ("a=1", "a=1 b=2", True),
        ("a=1 b=2", "a=1", False),
        ("a=1 | b=2", "b=2", True),
        ("a(b=1)", "a(b=1 c=2)", True),
        ("//b=1..5", "a(b=2)", True),
        ("(a=1..3) b", "b a=2", True),
    ],
)
def test_within_means_contained(selector: str, stored: str, within: bool) -> None:
    for action, kinds in (
        ("store", {DATA}), ("notify_data", {INTEREST}), ("notify_interest", {WATCH}),
    ):  # fmt: skip
        peer = Rendezvous(Store(), Random(7))
        peer.arrive(post("it", action, stored), 0.0)
        assert deleted(peer, selector, kinds, dry_run=True) == ({"it"} if within else set())
        assert len(peer.store) == 1
        assert deleted(peer, selector, kinds) == ({"it"} if within else set())
        assert len(peer.store) == 1 - within


def test_overlap_on_request(peer: Rendezvous) -> None:
    for stem, action in (("d", "store"), ("i", "notify_data"), ("w", "notify_interest")):
        peer.arrive(post(stem, action, "t=20..31"), 0.0)
    assert deleted(peer, "t=20..30", {DATA, INTEREST, WATCH}) == set()
    assert deleted(peer, "t=31..40", {INTEREST, WATCH}, mode="overlap") == {"i", "w"}
    assert deleted(peer, "t=31..40", {DATA}, mode="overlap") == {"d"}


def test_an_interest_is_contained_when_all_its_alternatives_are(peer: Rendezvous) -> None:
    peer.arrive(post("or", "notify_data", "a=1 | b=2"), 0.0)
    peer.arrive(post("deep", "notify_data", "//a=1"), 0.0)
    assert deleted(peer, "a=1", {INTEREST}) == set()
    assert deleted(peer, "a=1", {INTEREST}, mode="overlap", dry_run=True) >= {"or"}
    assert deleted(peer, "a=1 | b=2", {INTEREST}) == {"or"}
    assert deleted(peer, "//a=1", {INTEREST}) == {"deep"}


def test_an_interest_of_many_alternatives_is_contained_too(peer: Rendezvous) -> None:
    wide = " ".join(f"(a{i} | b{i})" for i in range(9))
    peer.arrive(post("i", "notify_data", wide), 0.0)
    assert deleted(peer, "a0", {INTEREST}) == set()
    assert deleted(peer, "a0", {INTEREST}, mode="overlap", dry_run=True) == {"i"}
    assert deleted(peer, "a0 | b0", {INTEREST}) == {"i"}


def test_only_the_senders_own(peer: Rendezvous) -> None:
    peer.arrive(post("mine", "store", owner="me"), 0.0)
    peer.arrive(post("yours", "store", owner="you"), 0.0)
    peer.arrive(post("nobodys", "store"), 0.0)
    assert deleted(peer, "p1=*", {DATA}, owner="me") == {"mine"}
    assert deleted(peer, "p1=*", {DATA}) == {"nobodys"}


def test_the_expired_are_not_counted(peer: Rendezvous) -> None:
    peer.arrive(post("d", "store", ttl=1.0), 0.0)
    peer.arrive(post("i", "notify_data", ttl=1.0), 0.0)
    assert deleted(peer, "p1=*", {DATA, INTEREST}) == set()
