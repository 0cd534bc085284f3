"""Who has taken an interest up is told alone, also when peers fall while its former client lives.

The former client goes on, as a program that was taken for dead.  Where peers had lost the interest
both clients posted it again, and whoever came last was told from then on: the later one often was
not, though its interest stood as active, and no renewal of its own ever brought that back.
"""

from __future__ import annotations

import random

import pytest

from chord import Contact
from meteor import profile
from meteor.rendezvous.amendments import route_since
from meteor.wire.operations import Route
from tests.meteor.building import draw_data
from tests.meteor.copies_world import assert_whole_within, build, crash, restart_all
from tests.meteor.notified_world import Listener, opened

ALL = "temperature=-50..130"
FOUND = (2, 6, 10, 18, 19)
"""The former client was told, and the later one of nothing."""


@pytest.mark.parametrize("seed", FOUND)
def test_the_later_one_is_told(seed: int) -> None:
    overlay, drawn = build(seed, 5, disk_s=0.002), random.Random(seed)
    assert_whole_within(overlay, 30)
    first, second = overlay.client(peer=0), overlay.client(peer=1)
    interest = overlay.run(opened(first, ALL, ttl=7200))
    former = Listener(first, interest).listen()
    later = Listener(second, overlay.run(second.attach(interest.id))).listen()
    overlay.run_for(1)
    fallen = drawn.sample(overlay.living, 3)
    crash(*fallen)
    overlay.run_for(drawn.choice([0.1, 1, 3]))
    restart_all(overlay, fallen)
    assert_whole_within(overlay, 60)
    overlay.run_for(10)
    client = overlay.client()
    stored = [
        overlay.run(client.store(profile(draw_data(drawn)), id=f"s{at}")).id for at in range(10)
    ]
    overlay.run_for(40)
    assert (len(later.came), len(former.came)) == (len(stored), 0)


PEER = Contact.at("10.0.0.1:7400")


def route(client: int, since: int, *, again: bool) -> Route:
    return Route(PEER, client, 1, since, again)


def test_what_is_posted_again_gives_way_to_who_took_it_up_since() -> None:
    former, later = route(1, 10, again=True), route(2, 20, again=True)
    assert route_since(later, former) is later
    assert route_since(former, later) is later


def test_who_takes_it_up_is_told_whatever_his_clock_says() -> None:
    known, behind = route(1, 20, again=True), route(2, 10, again=False)
    assert route_since(known, behind) is behind
