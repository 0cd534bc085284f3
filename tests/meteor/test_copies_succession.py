"""What was acknowledged outlives its holders, one after the other, over restarts and leaves."""

from __future__ import annotations

import random

import pytest

from meteor import Client, profile
from sim.overlay import Overlay, SimPeer
from squid import covers
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    client_away_from,
    crash,
    index_of,
    primary_of,
    restart_all,
    seeds,
    store_some,
)
from tests.meteor.succession_world import (
    NOTE_S,
    client_at,
    holders_of,
    is_replacing_a_copy,
    tried,
    wait_until,
)


def passed_over(overlay: Overlay, probe: str, client: Client) -> SimPeer:
    """Hold a record's primary until another one answers for it."""
    primary = primary_of(overlay, probe)
    index = index_of(probe)
    primary.pause()
    others = [peer for peer in overlay.living if peer is not primary]
    wait_until(overlay, lambda: any(covers(one.core.holdings.held, index) for one in others), 20.0)
    overlay.run(client.renew(probe, ttl=8000))
    return primary


@pytest.mark.parametrize("seed", seeds(3))
def test_a_primary_that_was_passed_over_answers_nothing_stale(seed: int) -> None:
    """Its own client asks it in the moment in which it goes on."""
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 12)
    assert_whole_within(overlay)
    probe = drawn.choice(stored)
    client = client_away_from(overlay, probe)
    near = client_at(overlay, primary_of(overlay, probe))
    primary = passed_over(overlay, probe, client)
    overlay.run(client.cancel(probe))
    attributes = draw_data(drawn)
    late = overlay.run(client.store(profile(attributes), b"late")).id
    asking = overlay.kernel.spawn(_found(near))
    overlay.run_for(drawn.choice([0.0, 0.2]))
    primary.resume()
    found, complete = overlay.kernel.run_until(asking)
    assert probe not in found, "what was cancelled is still there"
    assert not complete or found == {*stored, late} - {probe}
    assert_whole_within(overlay)
    assert ask(overlay, near) == ({*stored, late} - {probe}, True)


async def _found(client: Client) -> tuple[set[str], bool]:
    answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=30)
    found = {match.id for match in await answer.all()}
    return found, answer.complete


@pytest.mark.parametrize("seed", seeds(3))
def test_what_a_passed_over_primary_wrote_alone_is_handed_on(seed: int) -> None:
    """Its copies do not hear of a write any more, nor does it hear of its successor."""
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 12)
    assert_whole_within(overlay)
    probe = drawn.choice(stored)
    client, primary = client_away_from(overlay, probe), primary_of(overlay, probe)
    near = client_at(overlay, primary)
    others = [one.contact for one in overlay.living if one is not primary]
    cut = overlay.faults.partition([primary.contact], others)
    if drawn.random() < 0.7:
        overlay.kernel.spawn(tried(near.renew(probe, ttl=7500, timeout=2)))
    index = index_of(probe)
    wait_until(
        overlay,
        lambda: any(
            covers(one.core.holdings.held, index) for one in overlay.living if one is not primary
        ),
        30.0,
    )
    overlay.run(client.renew(probe, ttl=8000))
    late = store_some(overlay, client, drawn, 5)
    overlay.run_for(drawn.choice([0.0, 40.0]))  # links do not outlive so long a cut
    cut.heal()
    assert_whole_within(overlay, 60)
    assert ask(overlay, near) == ({*stored, *late}, True)


# -- restarts, leaves, and who comes back


@pytest.mark.parametrize("seed", seeds(2))
def test_a_restarted_peer_takes_its_place_among_the_copies(seed: int) -> None:
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 15)
    assert_whole_within(overlay)
    probe = drawn.choice(stored)
    client, fallen = client_away_from(overlay, probe), drawn.choice(holders_of(overlay, probe))
    fallen.crash()
    overlay.run_for(drawn.choice([0.0, 0.3, 5.0]))
    overlay.run(client.cancel(probe))
    stored.remove(probe)
    stored += store_some(overlay, client, drawn, 5)
    again = overlay.run(overlay.restart(fallen))
    assert_never_silently_partial(overlay, client, stored)
    assert_whole_within(overlay)
    assert ask(overlay, client_at(overlay, again)) == (set(stored), True)


@pytest.mark.parametrize("seed", seeds(5))
def test_all_peers_come_back_in_any_order_without_one(seed: int) -> None:
    """Nothing is lost, nothing that was deleted comes back, and until all is there again what is
    absent is named."""
    overlay, drawn = build(seed, 6), random.Random(seed)
    client = overlay.client()
    stored = store_some(overlay, client, drawn, 20)
    gone = drawn.sample(stored, 5)
    for one in gone[:-1]:
        overlay.run(client.cancel(one))
    assert_whole_within(overlay)
    overlay.run_for(2 * overlay.config.state_interval_s)  # everybody has noted whom it knows
    overlay.run(client.cancel(gone[-1]))
    expected = set(stored) - set(gone)
    fallen = list(overlay.peers)
    crash(*fallen)
    drawn.shuffle(fallen)
    overlay.run_for(1.0)
    restart_all(overlay, fallen[1:])
    client = overlay.client()
    for _ in range(4):
        assert_never_silently_partial(overlay, client, expected)
        overlay.run_for(1.0)
    assert_whole_within(overlay, 60)
    assert ask(overlay, client) == (expected, True)


@pytest.mark.parametrize("seed", seeds(4))
def test_a_small_ring_that_falls_while_a_copy_is_replaced_comes_back_whole(seed: int) -> None:
    """The copies of a next epoch have noted it, its primary has not: nobody had moved on from it,
    and all who have anything are back."""
    overlay, drawn = build(seed, 3, disk_s=NOTE_S), random.Random(seed)
    client = overlay.client()
    stored = store_some(overlay, client, drawn, 20)
    assert_whole_within(overlay)
    fallen = list(overlay.peers)
    drawn.shuffle(fallen)
    crash(fallen[0])
    wait_until(overlay, lambda: is_replacing_a_copy(overlay), 20, step_s=NOTE_S / 8)
    overlay.run_for(NOTE_S)  # what the copies noted is on their disks, the primary's note is not
    crash(*fallen[1:])
    overlay.run_for(1.0)
    for peer in fallen:
        overlay.run(overlay.restart(peer))
    assert_whole_within(overlay, 60)
    assert ask(overlay, overlay.client()) == (set(stored), True)


@pytest.mark.parametrize("seed", seeds(2))
def test_two_neighbours_that_leave_at_once_take_nothing_along(seed: int) -> None:
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 20)
    assert_whole_within(overlay)
    probe = drawn.choice(stored)
    client = client_away_from(overlay, probe)
    leavers = holders_of(overlay, probe)[: drawn.choice([2, 3])]
    tasks = [overlay.kernel.spawn(peer.leave()) for peer in leavers]
    assert_never_silently_partial(overlay, client, stored)
    for task in tasks:
        overlay.kernel.run_until(task)
    assert_never_silently_partial(overlay, client, stored)
    assert_whole_within(overlay)
    assert ask(overlay, client) == (set(stored), True)


@pytest.mark.parametrize("seed", seeds(2))
def test_who_left_and_comes_back_brings_nothing_old(seed: int) -> None:
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 15)
    assert_whole_within(overlay)
    probe = drawn.choice(stored)
    client, leaver = client_away_from(overlay, probe), primary_of(overlay, probe)
    overlay.run(leaver.leave())
    overlay.run(client.cancel(probe))
    stored.remove(probe)
    stored += store_some(overlay, client, drawn, 5)
    again = overlay.run(overlay.restart(leaver))
    assert_never_silently_partial(overlay, client, stored)
    assert_whole_within(overlay)
    assert ask(overlay, client_at(overlay, again)) == (set(stored), True)
