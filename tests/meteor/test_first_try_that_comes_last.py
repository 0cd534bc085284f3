"""The first try of a post that was repeated elsewhere may come last: the later one counts."""

from __future__ import annotations

import pytest

from meteor.keeping.placement import route_of
from meteor.wire.record_id import stem_of
from tests.meteor.copies_world import assert_whole_within, build, client_away_from, primary_of
from tests.meteor.notified_world import Listener, opened

HELD_S = 1.0


@pytest.mark.parametrize("verb", ["post", "renew"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_notices_go_to_where_the_last_try_was_made(seed: int, verb: str) -> None:
    """Who took the first one was held, and its link was gone; as it went on, it led them to itself,
    where the client was no more, until the next renewal."""
    overlay = build(seed, 8, disk_s=0.001)
    sensor = overlay.client()
    probe = overlay.run(sensor.store("type=lamp temperature=1 humidity=2", b"x")).id
    assert_whole_within(overlay)
    primary = primary_of(overlay, probe)
    client = client_away_from(overlay, probe)
    (first,) = (one for one in overlay.living if one.address == client.peer_address)
    interest = None
    if verb == "renew":
        interest = overlay.run(opened(client, "type=lamp temperature=1 humidity=2", ttl=3000))
    first.pause()
    asking = opened(client, "type=lamp temperature=1 humidity=2", ttl=3000)
    if interest is not None:
        asking.close()
        asking = client.renew(interest.id, ttl=3000)
    posting = overlay.kernel.spawn(asking)
    overlay.run_for(0.1)
    runtime = client._session.runtime
    (end,) = (one for one in runtime.ends if one.contact.address == first.address)
    runtime.lose(end, "it ends")
    overlay.run_for(HELD_S)
    assert posting.done()
    interest = interest or posting.result()
    assert client.peer_address != first.address
    first.resume()
    overlay.run_for(5.0)
    record = primary.core.shelf.store.get("", stem_of(interest.id))
    assert record is not None
    route = route_of(record)
    assert route is not None
    assert route.peer.address == client.peer_address
    listener = Listener(client, interest).listen()
    told = overlay.run(sensor.store("type=lamp temperature=1 humidity=2", b"y")).id
    overlay.run_for(2.0)
    assert stem_of(told) in listener.came
