"""A partition goes through the clients too: both sides have somebody who asks."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from sim import Overlay
from sim.history import History
from sim.places import SPACE
from sim.scenario import run
from sim.scenarios import SCENARIOS
from sim.weather import Weather, WeatherPlan


@pytest.mark.parametrize("one_way", [False, True])
def test_a_client_is_on_the_side_of_its_peer(one_way: bool) -> None:
    overlay = Overlay(6, space=SPACE, seed=3)
    clients = [overlay.client(peer=number) for number in range(6)]
    plan = WeatherPlan(side_max=0.5)
    weather = Weather(overlay, History(), plan, random.Random(4))
    overlay.kernel.spawn(weather._cut(one_way=one_way))
    overlay.run_for(0.0)
    stops = overlay.faults.stops
    assert overlay.faults.active
    for client, peer in zip(clients, overlay.peers, strict=True):
        contact = client._session.runtime.contact
        assert not stops(contact, peer.address)
        assert not stops(peer.address, contact)
        for other in overlay.peers:
            assert stops(contact, other.address) == stops(peer.address, other.address)


def test_both_sides_of_a_cut_are_heard_of_each_other() -> None:
    report = run(replace(SCENARIOS["partitions"], storm_s=15.0), 3)
    assert not report.violations, report.text()
    assert report.counts.get("retrieve: said incomplete", 0) > 0
