"""What an operator follows in the log as peers fall and come: a line each, and no flood."""

from __future__ import annotations

import logging
import random
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from chord import Contact
from meteor.copies.followed import QUIET_S, SAID_MAX, Followed
from meteor.wire.view import View
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.copies_world import store_some
from tests.meteor.succession_world import wait_until

LOGGER = "meteor.copies"


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.name == LOGGER]


def are_whole(overlay: Overlay) -> bool:
    return all(
        len(view.copies) == 2 for peer in overlay.living for view in peer.core.views.own.values()
    )


@pytest.mark.parametrize("seed", range(1, 4))
def test_who_takes_over_and_whose_copies_go_and_come_is_said_once(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    print(f"seed {seed}")
    overlay, drawn = Overlay(5, space=SPACE, seed=seed, copies=3), random.Random(seed)
    store_some(overlay, overlay.client(), drawn, 20)
    overlay.run_for(30.0)  # copies go to the nearest
    fallen = overlay.peers[2]
    its = [peer for peer in overlay.living if peer is not fallen]
    of_others = [
        peer.address
        for peer in its
        if any(view.has_copy(fallen.contact.id) for view in peer.core.views.own.values())
    ]
    assert of_others
    caplog.set_level(logging.INFO, LOGGER)
    fallen.crash()
    overlay.run_for(5.0)
    wait_until(overlay, lambda: are_whole(overlay), 60.0)
    said = lines(caplog)
    took = [one for one in said if "takes over" in one]
    assert [one.split(" ", 1)[1] for one in took] == [
        f"takes over what {fallen.address} answered for, from its copies"
    ]
    evicted = [one for one in said if "goes on without" in one]
    gone = f"goes on without the copies at {fallen.address}, which is silent or refuses"
    assert sorted(evicted) == sorted(f"{address} {gone}" for address in of_others)
    recruited = [one for one in said if "has copies at" in one]
    assert recruited
    assert max(Counter(said).values()) == 1


def test_nothing_is_said_while_nothing_happens(caplog: pytest.LogCaptureFixture) -> None:
    overlay = Overlay(4, space=SPACE, seed=1, copies=3)
    overlay.run_for(30.0)  # copies go to the nearest
    caplog.set_level(logging.INFO, LOGGER)
    store_some(overlay, overlay.client(), random.Random(1), 10)
    overlay.run_for(30.0)
    assert lines(caplog) == []


@pytest.mark.long
def test_the_same_is_not_said_again_for_a_while(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    own, now = Contact(1, "10.0.0.1:7400"), [0.0]
    runtime: Any = SimpleNamespace(contact=own, now=lambda: now[0])
    followed = Followed(runtime)
    other = Contact(2, "10.0.0.2:7400")
    both = View(own, 1, 1, ((0, 9),), (other,))
    alone = View(own, 1, 2, ((0, 9),), ())
    for _ in range(100):
        followed.holders(alone, both)
        followed.silent([other.id])
        followed.holders(both, alone)
    gone = (
        f"{own.address} goes on without the copies at {other.address}, which is silent or refuses"
    )
    assert lines(caplog) == [f"{own.address} has copies at {other.address} now", gone]
    now[0] += QUIET_S + 1
    followed.holders(both, alone)
    assert lines(caplog)[-1] == (
        f"{own.address} lets go of the copies at {other.address}: others are nearer on the ring, "
        "or it left"
    )
    for number in range(10 * SAID_MAX):
        followed.took_over([Contact(100 + number, f"10.0.0.3:{number}")])
        followed.silent([100 + number])
    assert max(len(followed._said), len(followed._silent)) <= SAID_MAX
    followed.took_over([own])
    assert "takes over what 10.0.0.1" not in caplog.text
