"""What copies keep of a view that gave way when two sides of a partition met.

A deleted profile was back, and what was new absent without a word, at a second cut a few seconds
after the first had healed, though all had been whole in between.  The copies of a view that gave
way were told by nobody, as its primary lives and is heard of: cut off together, two of them vouched
for each other, and answered.
"""

from __future__ import annotations

import random

import pytest

from meteor import profile
from meteor.copies.standing_down import StandingDown
from sim.kernel import Kernel
from sim.overlay import Overlay, SimPeer
from squid import covers
from tests.meteor.building import SPACE, draw_data
from tests.meteor.copies_world import ask, assert_whole_within, index_of, store_some

COUNT = 24
LATER_S = 12.0
"""A copy that is told by nobody asks its primary within this."""


def world(seed: int = 1) -> tuple[Overlay, list[SimPeer], list[str]]:
    """Two sides were apart for 8 s, and are one again: every answer is complete."""
    print(f"seed {seed}")
    step = (1 << 160) // COUNT
    ids = [(number + 1) * step - 1 for number in range(COUNT)]
    overlay, drawn = Overlay(COUNT, space=SPACE, kernel=Kernel(seed), ids=ids), random.Random(seed)
    overlay.run_for(5.0)
    ring = sorted(overlay.peers, key=lambda peer: peer.contact.id)
    stored = store_some(overlay, overlay.client(peer=0), drawn, 200)
    assert_whole_within(overlay)
    side = random.Random(seed).sample(range(COUNT), 6)
    cut = overlay.faults.partition([ring[number].contact for number in side])
    overlay.run_for(8.0)
    cut.heal()
    overlay.run_for(1.0)
    assert_whole_within(overlay, 30)
    overlay.run_for(3.0)
    return overlay, ring, stored


def stale(ring: list[SimPeer]) -> list[str]:
    """Whole copies that their primaries do not count on."""
    own = {peer.contact.id: peer.core.views.own for peer in ring}
    return [
        f"{peer.address} keeps {copy.view.intervals} of {key[0]:x}, in epoch {copy.view.epoch}"
        for peer in ring
        for key, copy in peer.core.views.copies.items()
        if copy.whole
        and (key[1] not in own[key[0]] or not own[key[0]][key[1]].has_copy(peer.contact.id))
    ]


def test_nobody_keeps_a_copy_that_its_primary_does_not_count_on() -> None:
    """Nor is there one in the worlds of the test below, each of which is cut once more."""
    _, ring, _ = world(5)
    assert not stale(ring), "\n".join(stale(ring))


@pytest.mark.parametrize(
    ("seed", "owner", "first", "last"),
    [
        (2, 23, 2, 8),
        *(pytest.param(*one, marks=pytest.mark.long) for one in ((7, 20, 0, 6), (10, 22, 1, 7))),
    ],
)
def test_what_was_deleted_when_all_was_one_does_not_come_back_at_the_next_cut(
    seed: int, owner: int, first: int, last: int
) -> None:
    overlay, ring, stored = world(seed)
    assert not stale(ring), "\n".join(stale(ring))
    held = ring[owner].core.holdings.held
    client = overlay.client(peer=overlay.living.index(ring[owner - 1]))
    gone = next(one for one in stored if covers(held, index_of(one)))
    assert overlay.run(client.cancel(gone)).matches == 1
    drawn, new = random.Random(2), gone
    while new == gone or not covers(held, index_of(new)):  # something new beside it
        new = overlay.run(client.store(profile(draw_data(drawn)), b"y", ttl=7200)).id
    overlay.run_for(1.0)
    side = ring[first:last]
    beyond = overlay.client(peer=overlay.living.index(side[-1]))
    contact = next(one for one, client in overlay.clients.items() if client is beyond)
    overlay.faults.partition([*(peer.contact for peer in side), contact])
    for _ in range(14):
        answer = beyond.retrieve("type=*", everywhere=True, allow_partial=True, timeout=3)
        found = {match.id for match in overlay.run(answer.all())}
        at_s = overlay.kernel.now()
        assert gone not in found, f"{at_s:.2f} s: deleted, and found"
        named = new in found or covers(answer.missing, index_of(new))
        assert named, f"{at_s:.2f} s: silently absent"
        overlay.run_for(0.2)


def test_a_copy_that_was_not_told_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StandingDown, "tell", lambda _: None)
    overlay, ring, stored = world(10)
    assert stale(ring), "nothing to ask about"
    overlay.run_for(LATER_S)
    assert not stale(ring), "\n".join(stale(ring))
    assert ask(overlay, overlay.client(peer=0)) == (set(stored), True)


def test_a_copy_of_what_was_given_and_has_not_begun_is_told_that_it_is_one() -> None:
    """Should giver and taker fall, such copies are all that there is."""
    overlay, ring, _ = world()
    core = ring[0].core
    (view, *_) = core.views.own.values()
    stands = core._handoff._standing_down
    copy, gifts = view.copies[0], core.replication.gifts
    assert stands._counts_on(copy, view.number)
    core.views.give(view.intervals)
    assert not stands._counts_on(copy, view.number)
    taker = ring[5].core.views.own[next(iter(ring[5].core.views.own))]
    core.views.put_given(taker, (view,))
    gifts.note(taker.key, (view,))
    assert stands._counts_on(copy, view.number)
    overlay.run_for(0.0)
