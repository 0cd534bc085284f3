"""An interest that lies at several holders: what one of them says of it, of a renewal or of how far
its client is there, hides nothing that the client was not told of by another one."""

from __future__ import annotations

from random import Random

import pytest

from chord import replace
from meteor import profile
from meteor.keeping.placement import Admission
from meteor.wire.messages import Notice, Told
from tests.meteor.copies_world import build, crash
from tests.meteor.notified_world import SETTLED_S, Listener, opened
from tests.meteor.test_how_far_clients_are import Teller
from tests.meteor.test_overlay_notifications import readings_of
from tests.meteor.test_shelf import carried

LONG = pytest.mark.long
"""What is looked at in long runs only."""


@pytest.mark.parametrize("seed", [2, *(pytest.param(seed, marks=LONG) for seed in (1, 4, 6))])
def test_an_heir_tells_what_lay_there_though_the_interest_was_renewed(seed: int) -> None:
    """Who matches is a copy of another holder, that renews it under an earlier number."""
    overlay = build(seed)
    sensor, client = overlay.client(peer=7), overlay.client(peer=6)
    dies = sorted(overlay.peers, key=lambda peer: peer.contact.id)[3]
    readings = readings_of(overlay, dies, Random(seed), 5)
    for number, one in enumerate(readings):
        overlay.run(sensor.store(profile(one), b"x", id=f"d{number}", ttl=7200))
    handlers = client._session.handlers
    heard = {kind: handlers.pop(kind) for kind in (Notice, Told)}
    handlers |= dict.fromkeys(heard, lambda *_: None)  # what comes is lost on the way
    interest = overlay.run(opened(client, "temperature=-40..125 humidity>=0", ttl=600))
    overlay.run_for(3.0)
    overlay.run(interest.renew(600))
    overlay.run_for(5.0)  # the copies have heard how far the client is
    crash(dies)
    overlay.run_for(5.0)
    handlers |= heard
    listener = Listener(client, interest).listen()
    overlay.run_for(SETTLED_S)
    listener.assert_once()
    assert len(listener.came) == len(readings)


def test_a_renewal_by_another_holder_leaves_an_interest_its_number() -> None:
    """Its pairs would be earlier than where it is to be told on from, and none of them due."""
    teller = Teller()
    asks = carried("asks", "temperature=0..10", kind="interest", number=60)
    teller.run(teller.shelf.admit([asks], Admission()))
    renewed = replace(asks, number=3, renewed=2)
    teller.run(teller.shelf.admit([renewed], Admission()))
    placed = teller.shelf.find(("", "asks"))
    assert placed is not None
    assert (placed.carried.renewed, placed.number) == (2, 60)


def test_what_is_brought_to_ones_copies_says_how_far_the_client_is_here() -> None:
    """The other holder had told of all up to 50, and this one not of a pair of an earlier number:
    its heir is to tell of it."""
    teller = Teller()
    asks = carried("asks", "temperature=0..10", kind="interest", number=3)
    late = carried("late", "type=a temperature=3", number=20)
    teller.run(teller.shelf.admit([asks, late], Admission()))
    teller.gain(Admission())
    assert teller.pending("asks") == {"asks:late:1"}
    renewed = replace(asks, renewed=2, acknowledged=50)
    teller.run(teller.shelf.admit([renewed], Admission()))
    placed = teller.shelf.find(("", "asks"))
    assert placed is not None
    (paid,) = teller.shelf.begin([placed.carried])
    assert teller.shelf.outgoing(paid).acknowledged < 20
