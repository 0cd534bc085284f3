"""Whoever signs may send it again, for less time, or twice at once: what he has counts on."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from meteor import Client, Profile, Refused
from meteor.admission import place
from meteor.wire.messages import Amend, Post, PostReply
from meteor.wire.record_id import make_id
from sim.clock import EPOCH_S
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.copies_world import primary_of
from tests.meteor.security.signers import ALICE, resign
from tests.meteor.security.test_policy_overlay import QUOTAS, refused_rule
from tests.meteor.security.test_replays import A, Wire, data_of, wait

B = "type=light temperature=30"


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(peers=3, space=SPACE, seed=4, policy=QUOTAS)


@pytest.fixture
def entry(overlay: Overlay) -> int:
    """A peer that does not keep what she posts: it has to ask another."""
    box = place(Profile.parse(A, SPACE), "store", SPACE, everywhere=False)
    full_id = make_id("a", box, SPACE.curve)
    return next(
        at for at, peer in enumerate(overlay.peers) if peer is not primary_of(overlay, full_id)
    )


@pytest.fixture
def alice(overlay: Overlay, entry: int) -> Client:
    return overlay.client(peer=entry, identity=ALICE)


@pytest.fixture
def wire(overlay: Overlay, alice: Client) -> Wire:
    return Wire(overlay, alice, overlay.client())


def store_two(overlay: Overlay, alice: Client, **options: Any) -> list[str]:
    return [overlay.run(alice.store(A, b"1", id=name, **options)).id for name in "ab"]


def assert_full(overlay: Overlay, alice: Client) -> None:
    """There are the two that her quota allows, and a third is refused."""
    assert len(data_of(overlay)) == 2
    assert refused_rule(overlay, alice.store(A, b"1", id="c")) == "few"


def test_a_delete_that_comes_again_gives_nothing_back(
    overlay: Overlay, alice: Client, entry: int, wire: Wire
) -> None:
    overlay.run(alice.store(A, b"0", id="first"))
    overlay.run(alice.delete_data("type=light"))
    store_two(overlay, alice)
    assert wire.again(wire.read[1], entry).matches == 1
    assert_full(overlay, alice)


def hurry(
    wire: Wire, alice: Client, entry: int, request: Post | Amend, **changed: Any
) -> PostReply:
    """The like of a request, without any time to carry it out."""
    assert isinstance(request, Post)
    assert request.credentials is not None
    like = replace(request, timeout_s=0.0, version=request.version + 1, **changed)
    wall_s = wire.overlay.kernel.now() + EPOCH_S
    return wire.again(resign(alice, like, ALICE, wall_s), entry)


def test_a_delete_without_time_gives_nothing_back(
    overlay: Overlay, alice: Client, entry: int, wire: Wire
) -> None:
    overlay.run(alice.delete_data("type=light"))
    store_two(overlay, alice)
    assert not hurry(wire, alice, entry, wire.read[0]).complete
    assert_full(overlay, alice)


def test_a_store_without_time_shortens_nothing(
    overlay: Overlay, alice: Client, entry: int, wire: Wire
) -> None:
    store_two(overlay, alice, ttl=3600)
    for request in wire.read[:2]:
        assert not hurry(wire, alice, entry, request, ttl_s=1.0).complete
    wait(overlay, 3)
    assert_full(overlay, alice)


def test_a_renewal_that_comes_again_shortens_nothing(
    overlay: Overlay, alice: Client, entry: int, wire: Wire
) -> None:
    ids = store_two(overlay, alice)
    for ttl in (1, 3600):
        for full_id in ids:
            overlay.run(alice.renew(full_id, ttl=ttl))
    for request in wire.read[2:4]:
        wire.again(request, entry)
    wait(overlay, 3)
    assert_full(overlay, alice)


def test_an_older_store_that_comes_again_shortens_nothing(
    overlay: Overlay, alice: Client, entry: int, wire: Wire
) -> None:
    for ttl in (1, 3600):
        store_two(overlay, alice, ttl=ttl)
    for request in wire.read[:2]:
        wire.again(request, entry)
    wait(overlay, 3)
    assert_full(overlay, alice)


def test_a_replace_that_comes_again_leaves_nothing(
    overlay: Overlay, alice: Client, entry: int, wire: Wire
) -> None:
    ids = store_two(overlay, alice)
    moved = [overlay.run(alice.replace(full_id, B, b"1", ttl=1)).id for full_id in ids]
    for full_id in moved:
        overlay.run(alice.replace(full_id, A, b"1", ttl=3600))
    for request in wire.read[2:4]:
        with suppress(Refused):  # there is no room for it
            wire.again(request, entry)
    wait(overlay, 3)
    assert_full(overlay, alice)


@pytest.mark.parametrize("time_s", [0.0, 0.0002, 0.001, 0.002, 0.004, 0.008])
def test_a_renewal_whose_answer_comes_too_late_counts(
    overlay: Overlay, alice: Client, entry: int, wire: Wire, time_s: float
) -> None:
    """Who gave it hardly any time had what he posted renewed, and it was not counted any more."""
    ids = store_two(overlay, alice, ttl=2)
    for full_id in ids:
        wall_s = overlay.kernel.now() + EPOCH_S
        like = Amend(1, "renew", full_id, int(wall_s * 1e6), 3600.0, time_s)
        wire.again(resign(alice, like, ALICE, wall_s), entry)
    wait(overlay, 3)
    if data_of(overlay):
        assert_full(overlay, alice)


def test_what_nobody_owns_counts_on_when_somebody_renews_it(
    overlay: Overlay, alice: Client, entry: int
) -> None:
    """Whoever makes himself a key had as much kept in nobody's name as he liked."""
    nobody = overlay.client(peer=entry)
    ids = store_two(overlay, nobody, ttl=2)
    for full_id in ids:
        assert overlay.run(alice.renew(full_id, ttl=3600)).matches == 1
    wait(overlay, 3)
    assert_full(overlay, nobody)
    store_two(overlay, alice)
    assert refused_rule(overlay, alice.store(A, b"1", id="c")) == "few"
