"""A primary whose machine slept until its links were gone, and that none of its copies remembers:
others joined where it had been, and keep everything among themselves."""

from __future__ import annotations

import random

import pytest

from meteor import Client
from sim.overlay import Overlay, SimPeer
from squid import covers
from tests.meteor.building import SPACE
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    index_of,
    primary_of,
    store_some,
)

SLEPT_S = 70.0
PATIENT_S = 200.0
"""A question that may have lain before who slept for all of its time is refused."""
JOINERS = 4


def join_after(overlay: Overlay, index: int) -> None:
    """Peers that own an index from now on, and who keep copies for the first of them."""
    for number in range(JOINERS):
        overlay.run(overlay.add_peer(index + 1 + number << 160 - SPACE.curve.index_bits))
        overlay.run_for(1.0)


def holder_beside(overlay: Overlay, asleep: SimPeer, index: int) -> SimPeer:
    """Who has an index meanwhile."""
    others = (one for one in overlay.living if one is not asleep)
    (found,) = (one for one in others if covers(one.core.holdings.held, index))
    return found


def ask_patiently(overlay: Overlay, client: Client) -> tuple[set[str], bool]:
    """The ids that an answer has, and whether it says that these are all."""
    answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=PATIENT_S)
    found = {match.id for match in overlay.run(answer.all())}
    return found, answer.complete


@pytest.mark.parametrize("seed", range(1, 4))
def test_what_was_deleted_meanwhile_is_in_no_answer_of_who_slept(seed: int) -> None:
    """Its own client asks it as it wakes.  The copies that it knows of are none any more, and were
    told that somebody else began: it let go of them, as of copies that were restarted, went on in
    an epoch above that of who has the interval, and answered."""
    overlay, drawn = build(seed, 12, disk_s=0.001), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 12)
    assert_whole_within(overlay)
    deleted = drawn.choice(stored)
    asleep, copies = primary_of(overlay, deleted), copies_of(overlay, deleted)
    away = client_away_from(overlay, deleted)
    cut = overlay.faults.partition([asleep.contact])
    asleep.pause()
    overlay.run_for(5.0)
    join_after(overlay, index_of(deleted))
    overlay.run_for(SLEPT_S)
    now = holder_beside(overlay, asleep, index_of(deleted))
    holders = {one.holder_ids for one in now.core.views.own.values()}
    assert all(one.contact.id not in ids for one in copies for ids in holders)
    overlay.run(away.cancel(deleted))
    cut.heal()
    asleep.resume()
    client = overlay.client(peer=overlay.living.index(asleep))
    for _ in range(20):
        found, complete = ask_patiently(overlay, client)
        assert deleted not in found, f"a deleted record is back; complete: {complete}"
        assert not complete or found == {*stored} - {deleted}
        overlay.run_for(drawn.choice([0.0, 0.1]))
    assert_whole_within(overlay, 60.0)
    assert ask_patiently(overlay, client) == ({*stored} - {deleted}, True)
