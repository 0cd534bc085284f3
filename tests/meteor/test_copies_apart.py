"""Copies while the network is cut, links are slow or lossy, and a client's own peer falls too."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from meteor import Interest, MeteorError, profile
from sim.faults import FrameFaults
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    client_away_from,
    crash,
    primary_of,
    seeds,
    store_some,
    view_of,
)

HEALED_WITHIN_S = 60.0


@pytest.mark.parametrize("seed", seeds(2))
def test_two_sides_become_one_without_losing_what_either_acknowledged(seed: int) -> None:
    """Versions merge and deletes win; nothing that was deleted on one side comes back."""
    overlay, drawn = build(seed, 9), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 20)
    assert_whole_within(overlay)
    peers = drawn.sample(overlay.peers, 9)
    left = peers[: drawn.choice([2, 3, 4])]
    right = [peer for peer in peers if peer not in left]
    sides = [overlay.client(peer=overlay.peers.index(side[0])) for side in (left, right)]
    expected, open_, gone = set(stored), set(), set()
    cut = overlay.faults.partition(
        [peer.contact for peer in left], [peer.contact for peer in right]
    )
    overlay.run_for(drawn.choice([0.5, 6.0]))
    for number, client in enumerate(sides):
        for step in range(6):
            stem = f"{'left' if number == 0 else 'right'}-{step}"
            work = client.store(profile(draw_data(drawn)), b"x", id=stem, timeout=4)
            try:
                expected.add(overlay.run(work).id)
            except MeteorError:
                open_.add(stem)
        for victim in drawn.sample(sorted(set(stored) & expected), 3):
            expected.discard(victim)
            try:
                done = overlay.run(client.cancel(victim, timeout=4)).matches
            except MeteorError:
                done = 0
            if done:
                gone.add(victim)
            else:
                open_.add(victim.partition(".")[0])
    cut.heal()
    took_s = assert_whole_within(overlay, HEALED_WITHIN_S)
    print(f"one again after {took_s:.1f} s")
    found, complete = ask(overlay, sides[0])
    assert complete
    assert expected <= found
    assert not gone & found, "what was deleted is back"
    assert {one.partition(".")[0] for one in found - expected} <= open_


@pytest.mark.parametrize(
    "seed",
    [
        2, 7, 10, 14, 30,
        *(pytest.param(n, marks=pytest.mark.long) for n in range(15, 40) if n != 30),
    ],
)
def test_an_answer_after_a_cut_is_of_both_sides_or_says_that_it_is_not(seed: int) -> None:
    """One peer was alone long enough to answer for everything, in later epochs than the others."""
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 12)
    assert_whole_within(overlay)
    probe = drawn.choice(stored)
    client, alone = client_away_from(overlay, probe), primary_of(overlay, probe)
    others = [peer.contact for peer in overlay.living if peer is not alone]
    cut = overlay.faults.partition([alone.contact], others)
    overlay.run_for(4.0)
    overlay.run(client.renew(probe, ttl=8000))
    stored += store_some(overlay, client, drawn, 5)
    overlay.run_for(drawn.choice([0.0, 40.0]))  # links do not outlive so long a cut
    cut.heal()
    for _ in range(10):
        assert_never_silently_partial(overlay, client, stored)
        overlay.run_for(drawn.uniform(0, 0.3))
    assert_whole_within(overlay, HEALED_WITHIN_S)
    assert ask(overlay, client) == (set(stored), True)


@pytest.mark.parametrize("seed", seeds(2))
def test_one_way_cuts_never_make_an_answer_silently_partial(seed: int) -> None:
    """A primary that is still heard, or still hears, and a copy that is not."""
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 12)
    assert_whole_within(overlay)
    probe = drawn.choice(stored)
    holders = view_of(overlay, probe).holder_ids
    inside = [peer for peer in overlay.living if peer.contact.id in holders]
    client = client_away_from(overlay, probe)
    source = drawn.choice(inside)
    others = [peer.contact for peer in overlay.living if peer is not source]
    cut = overlay.faults.partition([source.contact], others, one_way=drawn.random() < 0.7)
    for _ in range(8):
        with suppress(MeteorError):
            overlay.run(client.renew(probe, ttl=8000, timeout=2))
        assert_never_silently_partial(overlay, client, stored)
        overlay.run_for(drawn.uniform(0.0, 0.5))
    cut.heal()
    assert_whole_within(overlay, HEALED_WITHIN_S)
    assert ask(overlay, client) == (set(stored), True)


@pytest.mark.parametrize("seed", seeds(2))
def test_a_lossy_network_evicts_no_living_copy_for_good(seed: int) -> None:
    overlay, drawn = build(seed), random.Random(seed)
    client = overlay.client()
    stored = store_some(overlay, client, drawn, 10)
    assert_whole_within(overlay)
    overlay.faults.frames = FrameFaults(loss=0.02, duplication=0.02, reordering=0.05)
    for step in range(20):
        try:
            stored.append(
                overlay.run(client.store(profile(draw_data(drawn)), b"x", id=f"late-{step}")).id
            )
        except MeteorError:
            continue
        assert_never_silently_partial(overlay, client, stored)
    overlay.faults.frames = None
    assert_whole_within(overlay)
    assert ask(overlay, client) == (set(stored), True)


@pytest.mark.parametrize("seed", seeds(2))
def test_nothing_is_told_twice_or_never_when_both_peers_of_an_interest_fall(seed: int) -> None:
    """The one that matched, and the one that the client is linked to, at once or one by one."""
    overlay, drawn = build(seed, 10), random.Random(seed)
    first = overlay.run(
        overlay.client().store("type=alarm3 temperature=50 humidity=5", b"x", ttl=7200)
    ).id
    assert_whole_within(overlay)
    client, producer = client_away_from(overlay, first), client_away_from(overlay, first)
    interest = overlay.run(
        _opened(client.notify_data("type=alarm3 temperature=0..120", ttl=3000, queue=1000))
    )
    told: list[str] = []

    async def listen() -> None:
        while True:
            told.append((await interest.recv()).id)

    overlay.kernel.spawn(listen())
    (near,) = [peer for peer in overlay.living if peer.address == client.peer_address]
    if producer.peer_address == near.address:
        number = next(
            n for n, peer in enumerate(overlay.living)
            if peer is not near and peer.contact.id not in view_of(overlay, first).holder_ids
        )  # fmt: skip
        producer = overlay.client(peer=number)
    stored = [first]
    for step in range(24):
        if step == 8:
            crash(near)
        if step == drawn.choice([8, 9, 12]):
            matched = primary_of(overlay, first)
            if matched.alive and sum(one.alive for one in overlay.peers) > 7:
                crash(matched)
        stem = f"alarm-{step}"
        selector = f"type=alarm3 temperature={step} humidity=6"
        stored.append(overlay.run(producer.store(selector, b"x", id=stem, timeout=20)).id)
        overlay.run_for(drawn.uniform(0.0, 0.3))
    ends_s = overlay.kernel.now() + 60
    while set(told) != set(stored) and overlay.kernel.now() < ends_s:
        overlay.run_for(0.5)
    overlay.run_for(5.0)
    assert sorted(told) == sorted(stored), "told twice, or never"
    assert_whole_within(overlay, 30)


async def _opened(interest: Interest) -> Interest:
    return await interest
