"""A ring that has fewer peers than copies names no peer that left as one of them.

One that said so gives nothing any more; one that is merely silent may be back with everything.
"""

from __future__ import annotations

import random

import pytest

from chord import replace
from meteor.copies.handoff import Handoff
from meteor.operation.snapshot import copies_missing
from sim.overlay import Overlay, SimPeer
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    crash,
    restart_all,
    seeds,
    store_some,
)

SETTLED_S = 5.0
STORED = 8


def ring_of_three(seed: int) -> tuple[Overlay, set[str], list[SimPeer]]:
    """A ring, what is stored in it, and its peers in a drawn order."""
    overlay, drawn = build(seed, 3, disk_s=0.001), random.Random(seed)
    assert_whole_within(overlay)
    stored = set(store_some(overlay, overlay.client(), drawn, STORED))
    return overlay, stored, drawn.sample(overlay.peers, 3)


def named(overlay: Overlay) -> set[str]:
    """The addresses that any view names as copies."""
    views = [view for peer in overlay.living for view in peer.core.views.own.values()]
    return {copy.address for view in views for copy in view.copies}


@pytest.mark.parametrize("seed", seeds(6))
def test_who_left_is_no_copy_though_nothing_is_written(seed: int) -> None:
    overlay, stored, (left, one, other) = ring_of_three(seed)
    overlay.run(left.leave())
    overlay.run_for(SETTLED_S)
    assert named(overlay) == {one.address, other.address}
    assert_whole_within(overlay, 0.0)
    for peer in overlay.living:
        assert copies_missing(peer.core) == len(peer.core.views.own), "what `doctor` tells of"
        assert not any(view.is_brief for view in peer.core.views.own.values())
    assert ask(overlay, overlay.client(peer=0)) == (stored, True)
    assert store_some(overlay, overlay.client(peer=0), random.Random(seed), 1)


@pytest.mark.parametrize("seed", seeds(2))
def test_who_says_nothing_stays_one_until_it_is_missed(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handoff, "say_handed_over", lambda _: None)
    overlay, stored, (left, *_) = ring_of_three(seed)
    overlay.run(left.leave())
    overlay.run_for(SETTLED_S)
    for peer in overlay.living:
        assert all(view.has_copy(left.contact.id) for view in peer.core.views.own.values())
    assert ask(overlay, overlay.client(peer=0)) == (stored, True)
    overlay.run(overlay.client(peer=0).store("type=* temperature=* humidity=*", b"all"))
    assert left.address not in named(overlay)


@pytest.mark.parametrize("seed", seeds(4))
def test_the_last_of_a_ring_comes_back_alone_with_everything(seed: int) -> None:
    """It waited for two that had left, and its past was lost until they were back."""
    overlay, stored, (left, next_left, last) = ring_of_three(seed)
    for peer in (left, next_left):
        overlay.run(peer.leave())
        overlay.run_for(SETTLED_S)
    assert not named(overlay)
    crash(last)
    restart_all(overlay, [last])
    overlay.run_for(1.0)
    assert ask(overlay, overlay.client(peer=0)) == (stored, True)


@pytest.mark.parametrize("seed", seeds(4))
def test_two_that_are_left_come_back_from_a_fall(seed: int) -> None:
    overlay, stored, (left, one, other) = ring_of_three(seed)
    overlay.run(left.leave())
    overlay.run_for(SETTLED_S)
    crash(one, other)
    overlay.run_for(2.0)
    restart_all(overlay, [other, one])
    assert_whole_within(overlay)
    again = restart_left(overlay, left)
    assert_whole_within(overlay)
    assert again.address in named(overlay), "in a later life it is a copy as any other"
    assert ask(overlay, overlay.client(peer=0)) == (stored, True)


def restart_left(overlay: Overlay, left: SimPeer) -> SimPeer:
    restart_all(overlay, [left])
    (again,) = [one for one in overlay.living if one.address == left.address]
    return again


def test_a_word_of_a_former_life_is_not_of_this_one() -> None:
    overlay, _, (left, one, _) = ring_of_three(1)
    contact, witnesses = replace(left.contact, incarnation=2), one.core.replication
    assert not witnesses.has_left(contact)
    witnesses.note_left(contact)
    assert witnesses.has_left(contact)
    assert witnesses.has_left(left.contact), "it is named as it was before"
    assert not witnesses.has_left(replace(contact, incarnation=3)), "it is back"
    assert not witnesses.has_left(replace(contact, address="10.9.9.9:1")), "another has its place"
    overlay.run_for(30.0)
    witnesses.note_left(one.contact)
    assert not witnesses.has_left(contact), "that was long ago"
