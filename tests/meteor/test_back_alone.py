"""Who is back from a crash, and lost something, acknowledges nothing there until as many as before
have it.

Its epoch would be known to few others, or to none.  Should these fall again before the others come
back, those would go on with the past among themselves, and whatever had been acknowledged since
would be absent without a word until one that has it is there once more.
"""

from __future__ import annotations

import random

import pytest

from meteor import Incomplete, profile
from sim.overlay import Overlay, SimPeer
from squid import covers
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    EVERYTHING,
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    copies_of,
    crash,
    index_of,
    primary_of,
    seeds,
    store_some,
)
from tests.meteor.test_falling_one_by_one import fall, start

PEERS = 5
GAP_S_MAX = 0.06
"""Between two that fall: evenly drawn up to this."""


def fallen(seed: int) -> tuple[Overlay, random.Random, set[str], list[SimPeer]]:
    """With what was stored, and those that fell, in the order in which they come back."""
    overlay, drawn = build(seed, PEERS, disk_s=0.004), random.Random(seed)
    stored = set(store_some(overlay, overlay.client(), drawn, 30))
    assert_whole_within(overlay)
    order = fall(overlay, drawn, GAP_S_MAX)
    return overlay, drawn, stored, drawn.sample(order, PEERS)


def store_more(overlay: Overlay, drawn: random.Random, count: int) -> tuple[set[str], set[str]]:
    """What of some stores was acknowledged; and the others, which may be there all the same."""
    acknowledged: set[str] = set()
    tried: set[str] = set()
    for _ in range(count):
        client = overlay.client(peer=drawn.randrange(len(overlay.living)))
        data = profile(draw_data(drawn))
        try:
            acknowledged.add(overlay.run(client.store(data, b"y", ttl=7200, timeout=2)).id)
        except Incomplete as error:
            if error.receipt is not None:
                tried.add(error.receipt.id)
    return acknowledged, tried


FOUND = [6, 10, 12]
"""Of these something was absent silently while nobody waited for more holders."""


@pytest.mark.parametrize(
    "seed", [*FOUND, *(pytest.param(one, marks=pytest.mark.long) for one in range(13, 81))]
)
def test_it_falls_again_and_nothing_that_was_acknowledged_is_absent_silently(seed: int) -> None:
    overlay, drawn, before, (one, second, *others) = fallen(seed)
    start(overlay, [one])
    since, tried = store_more(overlay, drawn, 5)
    start(overlay, [second])
    overlay.run_for(drawn.uniform(0, 0.15))
    again = next(peer for peer in overlay.living if peer.address == one.address)
    crash(again)
    _look_on(overlay, drawn, before | since, tried, 3)
    start(overlay, others)
    more, tried_more = store_more(overlay, drawn, 2)
    stored, tried = before | since | more, tried | tried_more
    _look_on(overlay, drawn, stored, tried, 4)
    start(overlay, [again])
    _look_on(overlay, drawn, stored, tried, 6)
    assert_whole_within(overlay, 60)
    found, complete = ask(overlay, overlay.client())
    assert complete
    assert stored <= found <= stored | tried


def _look_on(
    overlay: Overlay, drawn: random.Random, stored: set[str], tried: set[str], times: int
) -> None:
    for _ in range(times):
        client = overlay.client(peer=drawn.randrange(len(overlay.living)))
        assert_never_silently_partial(overlay, client, stored, may=tried)
        overlay.run_for(drawn.choice([0.02, 0.2, 1.0]))


def test_it_acknowledges_as_soon_as_enough_others_are_there() -> None:
    overlay, drawn, _, (one, second, third, *_) = fallen(5)
    data = profile(draw_data(drawn))
    start(overlay, [one])
    assert not store_more(overlay, drawn, 5)[0]
    waiting = overlay.kernel.spawn(overlay.client().store(data, b"y", ttl=7200, timeout=20))
    start(overlay, [second])
    start(overlay, [third])
    began_s = overlay.kernel.now()
    overlay.kernel.run_until(waiting)
    assert waiting.result().complete
    assert overlay.kernel.now() - began_s < 10  # its client asks again ever more seldom


def test_it_acknowledges_what_an_operator_has_given_up() -> None:
    overlay, drawn, _, (one, *_) = fallen(5)
    start(overlay, [one])
    assert store_more(overlay, drawn, 10)[1], "refused where the past is lost"
    overlay.run(overlay.client().forget(*EVERYTHING))
    assert len(store_more(overlay, drawn, 10)[0]) == 10


@pytest.mark.parametrize("seed", seeds(3, 12))
def test_two_of_three_take_the_past_back_in_though_they_are_fewer_than_before(seed: int) -> None:
    """What is lost is so until somebody shows it: that is not for clients, and waits for nobody."""
    overlay, drawn = build(seed, 3, disk_s=0.001), random.Random(seed)
    stored = set(store_some(overlay, overlay.client(), drawn, 12))
    assert_whole_within(overlay)
    one, second, _ = fallen_peers = list(overlay.living)
    crash(*fallen_peers)
    overlay.run_for(1.0)
    start(overlay, [one])
    assert ask(overlay, overlay.client()) == (set(), False)
    overlay.run_for(3.0)
    start(overlay, [second])
    overlay.run_for(5.0)
    assert ask(overlay, overlay.client()) == (stored, True)
    assert len(store_more(overlay, drawn, 5)[0]) == 5


def test_who_has_everything_again_is_as_if_it_had_never_fallen() -> None:
    """All were started again, one by one; much later all who have something fall for good."""
    overlay, drawn = build(2, PEERS, disk_s=0.001), random.Random(2)
    data = profile(draw_data(drawn))
    record = overlay.run(overlay.client().store(data, b"x", ttl=7200)).id
    for peer in list(overlay.living):
        crash(peer)
        overlay.run_for(2.0)
        start(overlay, [peer])
        assert_whole_within(overlay, 30)
    overlay.run_for(20.0)
    crash(primary_of(overlay, record), *copies_of(overlay, record))
    overlay.run_for(10.0)
    assert covers(primary_of(overlay, record).core.views.lost(), index_of(record))
    assert overlay.run(overlay.client().store(data, b"y", ttl=7200, timeout=2)).complete


def test_a_survivor_takes_posts_alone_once_it_is_sure_to_be_one() -> None:
    """It has seen the others fall, and may just be about to fall itself; what it has lost is named
    all the same."""
    overlay, drawn = build(2, PEERS, disk_s=0.001), random.Random(2)
    (mine,) = store_some(overlay, overlay.client(), drawn, 1)
    assert_whole_within(overlay)
    survivor = primary_of(overlay, mine)
    client = overlay.client(peer=overlay.peers.index(survivor))
    crash(*(peer for peer in overlay.peers if peer is not survivor))
    began_s = overlay.kernel.now()
    assert overlay.run(client.renew(mine, ttl=9000, timeout=20)).complete
    assert 3 <= overlay.kernel.now() - began_s < 6
    began_s = overlay.kernel.now()
    assert overlay.run(client.renew(mine, ttl=9500)).complete
    assert overlay.kernel.now() - began_s < 0.1
    overlay.run_for(10.0)
    assert survivor.core.views.lost()
    assert len(store_more(overlay, drawn, 10)[0]) == 10
