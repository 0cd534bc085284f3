"""k copies of everything, in seeded virtual time: that they are there, and that they are enough."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from chord import Deferred
from meteor import Incomplete, JoinFailed, MeteorError, profile
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Learn
from meteor.wire.view import View
from sim.overlay import SimPeer
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    durable_at,
    is_shown,
    primary_of,
    restart_all,
    seeds,
    store_some,
    view_of,
)

PROBE = "type=probe temperature=7 humidity=7"


# -- that they are there


@pytest.mark.parametrize("seed", seeds(2))
def test_all_copies_are_there_soon_after_every_join_leave_and_crash(seed: int) -> None:
    overlay, drawn = build(seed), random.Random(seed)
    client = overlay.client()
    stored = store_some(overlay, client, drawn, 20)
    assert_whole_within(overlay)
    for step in range(8):
        what = drawn.choice(["join", "leave", "crash", "restart"])
        fallen = [peer for peer in overlay.peers if not peer.alive]
        if what == "restart" and fallen:
            overlay.run(overlay.restart(drawn.choice(fallen)))
        elif what == "join" or len(overlay.living) < 6:
            overlay.run(overlay.add_peer())
        elif what == "leave":
            overlay.run(drawn.choice(overlay.living[1:]).leave())
        else:
            drawn.choice(overlay.living[1:]).crash()
        took_s = assert_whole_within(overlay)
        print(f"step {step}: {what}, whole after {took_s:.1f} s")
        stored += store_some(overlay, client, drawn, 1)
    assert ask(overlay, client) == (set(stored), True)


@pytest.mark.parametrize("peers", [1, 2, 3, 4])
def test_a_small_ring_has_as_many_copies_as_it_can(peers: int) -> None:
    overlay = build(peers, peers)
    stored = overlay.run(overlay.client().store(PROBE, b"x")).id
    assert_whole_within(overlay)
    assert len(view_of(overlay, stored).copies) == min(peers, 3) - 1


@pytest.mark.parametrize("seed", seeds(2))
def test_a_write_is_durable_at_every_copy_when_it_is_acknowledged(seed: int) -> None:
    overlay, drawn = build(seed, disk_s=0.02), random.Random(seed)
    client = overlay.client()
    assert_whole_within(overlay)
    for number in range(10):
        stem = f"write-{number}"
        receipt = overlay.run(client.store(profile(draw_data(drawn)), b"x", id=stem))
        view = view_of(overlay, receipt.id)
        holders = [primary_of(overlay, receipt.id), *copies_of(overlay, receipt.id)]
        assert len(holders) >= 3  # a fourth while one takes the place of another
        assert {peer.address for peer in holders} <= set(durable_at(overlay, stem))
        assert all(is_shown(peer, receipt.id) for peer in holders), view


@pytest.mark.parametrize("seed", seeds(2))
def test_every_acknowledged_write_has_two_holders_in_any_storm(seed: int) -> None:
    """Whatever happens to peers, an acknowledgement is never given by one alone."""
    overlay, drawn = build(seed, 9), random.Random(seed)
    acknowledged: dict[str, list[str]] = {}

    async def write(number: int) -> None:
        client = clients[number]
        for step in range(30):
            stem = f"{number}-{step}"
            await client._session.runtime.sleep(drawn.uniform(0, 0.2))
            try:
                await client.store(profile(draw_data(drawn)), b"x", id=stem, timeout=3)
            except MeteorError:
                continue
            acknowledged[stem] = durable_at(overlay, stem)

    async def restart(peer: SimPeer) -> None:
        with suppress(JoinFailed):  # it falls again as it joins
            await overlay.restart(peer)

    async def storm() -> None:
        for _ in range(12):
            await overlay.peers[0].runtime.sleep(drawn.uniform(0.05, 0.5))
            peer = drawn.choice(overlay.peers[2:])
            if not peer.alive:
                overlay.kernel.spawn(restart(peer))
            elif peer.runtime.paused:
                peer.resume()
            elif drawn.random() < 0.5:
                peer.pause()
            elif sum(one.alive for one in overlay.peers) > 6:
                peer.crash()

    clients = [overlay.client(peer=number) for number in range(2)]
    tasks = [overlay.kernel.spawn(work) for work in (storm(), write(0), write(1))]
    for task in tasks:
        overlay.kernel.run_until(task)
    print(f"{len(acknowledged)} acknowledged")
    alone = {stem: at for stem, at in acknowledged.items() if len(at) < 2}
    assert not alone
    assert len(acknowledged) > 20


# -- eviction


@pytest.mark.parametrize("seed", seeds(2))
def test_a_silent_copy_is_evicted_and_the_write_goes_on_within_about_a_second(seed: int) -> None:
    overlay, drawn = build(seed), random.Random(seed)
    probe = store_some(overlay, overlay.client(), drawn, 1)[0]
    overlay.run_for(1.0)  # a copy may be about to be let go: it would be missed by nobody
    assert_whole_within(overlay)
    client, silent = client_away_from(overlay, probe), drawn.choice(copies_of(overlay, probe))
    before = view_of(overlay, probe)
    silent.pause()
    began_s = overlay.kernel.now()
    overlay.run(client.renew(probe, ttl=9000))
    assert 0.5 < overlay.kernel.now() - began_s < 1.6
    view = view_of(overlay, probe)
    assert silent.contact.id not in view.holder_ids
    assert view.epoch > before.epoch
    silent.resume()
    assert_whole_within(overlay)


@pytest.mark.parametrize("write_s", [0.4, 0.5])
def test_a_copy_with_a_slow_disk_is_asked_less_often_and_stays(write_s: float) -> None:
    """Asked as often as one that may be silent, it would write the same again and again, and never
    be done with the last."""
    overlay, drawn = build(1, 4, disk_s=0.001), random.Random(1)
    client = overlay.client()
    probe = store_some(overlay, client, drawn, 1)[0]
    assert_whole_within(overlay)
    before = view_of(overlay, probe)
    assert overlay.disk is not None
    overlay.disk.write_latency_s = write_s
    began_s = overlay.kernel.now()
    overlay.run(client.renew(probe, ttl=9000, timeout=20))
    assert overlay.kernel.now() - began_s < 4.0
    assert view_of(overlay, probe).holder_ids == before.holder_ids


def test_who_falls_silent_while_it_is_waited_for_longer_is_given_up_soon() -> None:
    """It was heard all the time, and did not answer; then it is heard no more."""
    overlay = build(1, 2, disk_s=0.001)
    assert_whole_within(overlay)
    asker, asked = overlay.peers
    config = asker.core.copies_config

    async def never(*_: object) -> None:
        await asked.runtime.sleep(3600.0)

    asked.core._handlers[Learn] = lambda *_: Deferred(never())
    view = next(iter(asker.core.views.own.values()))
    asking = overlay.kernel.spawn(asker.core.replication.ask(asked.contact, Learn(view)))
    overlay.run_for(2.0)
    asked.pause()
    overlay.run_for(2 * config.silence_s + 0.1)
    assert asking.done()
    assert asking.result() is None


@pytest.mark.parametrize("seed", seeds(2))
def test_a_copy_whose_dial_is_refused_is_evicted_at_once(seed: int) -> None:
    overlay, drawn = build(seed), random.Random(seed)
    probe = store_some(overlay, overlay.client(), drawn, 1)[0]
    assert_whole_within(overlay)
    client, dead = client_away_from(overlay, probe), drawn.choice(copies_of(overlay, probe))
    dead.crash()
    began_s = overlay.kernel.now()
    overlay.run(client.renew(probe, ttl=9000))
    assert overlay.kernel.now() - began_s < 0.3
    assert dead.contact.id not in view_of(overlay, probe).holder_ids


@pytest.mark.parametrize("seed", seeds(2))
def test_of_two_peers_none_acknowledges_alone_while_both_are_members(seed: int) -> None:
    overlay, drawn = build(seed, 2), random.Random(seed)
    probe = store_some(overlay, overlay.client(), drawn, 1)[0]
    assert_whole_within(overlay)
    primary, (copy,) = primary_of(overlay, probe), copies_of(overlay, probe)
    client = overlay.client(peer=overlay.peers.index(primary))
    copy.pause()
    stored = overlay.kernel.spawn(_try(client.renew(probe, ttl=9000)))
    while not overlay.kernel.now() > 600 and not stored.done():
        overlay.run_for(0.01)
        alone = not primary.core.node.successors
        assert alone or not stored.done() or not stored.result(), "acknowledged with one holder"
    copy.resume()
    assert_whole_within(overlay, 40)
    assert ask(overlay, client)[1]


async def _try(work: object) -> bool:
    try:
        await work  # type: ignore[misc]
    except MeteorError:
        return False
    return True


@pytest.mark.parametrize("seed", seeds(2))
def test_a_pause_shorter_than_the_silence_evicts_nobody(seed: int) -> None:
    """A collector pause or a late loop must not make living peers look dead: nor must the peer that
    was held find the others silent."""
    overlay, drawn = build(seed, 6), random.Random(seed)
    client = overlay.client()
    stored = store_some(overlay, client, drawn, 10)
    assert_whole_within(overlay)
    overlay.run_for(3.0)
    epochs = {one: view_of(overlay, one).epoch for one in stored}
    for peer in overlay.peers[1:]:
        peer.pause()
        tasks = [overlay.kernel.spawn(_try(client.renew(one, ttl=9000))) for one in stored]
        overlay.run_for(0.5)
        peer.resume()
        for task in tasks:
            assert overlay.kernel.run_until(task)
        overlay.run_for(1.0)
        assert {one: view_of(overlay, one).epoch for one in stored} == epochs
    assert ask(overlay, client) == (set(stored), True)


# -- that they are enough


@pytest.mark.parametrize("seed", seeds(2))
def test_one_survivor_of_three_is_enough(seed: int) -> None:
    """Two neighbours fall in one moment; the third takes over whole, or gives to whom the ring
    names."""
    overlay, drawn = build(seed, 9), random.Random(seed)
    client = overlay.client()
    stored = store_some(overlay, client, drawn, 25)
    assert_whole_within(overlay)
    for _ in range(2):
        assert_whole_within(overlay)
        probe = drawn.choice(stored)
        client = client_away_from(overlay, probe)
        holders = [primary_of(overlay, probe), *copies_of(overlay, probe)]
        crash(*drawn.sample(holders, 2))
        assert_never_silently_partial(overlay, client, stored)
        assert_whole_within(overlay)
        assert ask(overlay, client) == (set(stored), True)


@pytest.mark.parametrize("seed", seeds(2))
def test_an_heir_without_a_copy_answers_missing_until_a_holder_returns(seed: int) -> None:
    overlay, drawn = build(seed, 9), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 25)
    probe = drawn.choice(stored)
    assert_whole_within(overlay)
    overlay.run_for(0.5)  # whoever was a copy until just now has heard that it is none
    client = client_away_from(overlay, probe)
    holders = [primary_of(overlay, probe), *copies_of(overlay, probe)]
    crash(*holders)
    for _ in range(6):
        assert not assert_never_silently_partial(overlay, client, stored)
        overlay.run_for(1.0)
    with pytest.raises(Incomplete) as incomplete:
        overlay.run(client.retrieve("type=*", everywhere=True, timeout=3).all())
    assert incomplete.value.missing
    late = store_some(overlay, client, drawn, 10)
    for peer in drawn.sample(holders, 2):
        overlay.run(overlay.restart(peer))
        assert_never_silently_partial(overlay, client, stored + late)
    assert_whole_within(overlay, 30)
    assert ask(overlay, client) == ({*stored, *late}, True)


@pytest.mark.parametrize("seed", seeds(2))
def test_an_evicted_copy_gives_nothing(seed: int) -> None:
    """It was passed over while it was held; then all who knew better fall."""
    overlay, drawn = build(seed, 9), random.Random(seed)
    probe = store_some(overlay, overlay.client(), drawn, 1)[0]
    assert_whole_within(overlay)
    client = client_away_from(overlay, probe)
    evicted = drawn.choice(copies_of(overlay, probe))
    evicted.pause()
    overlay.run(client.cancel(probe))
    overlay.run_for(drawn.uniform(0.0, 0.4))
    view = view_of(overlay, probe)
    fallen = [peer for peer in overlay.living if peer.contact.id in view.holder_ids]
    assert evicted not in fallen
    client = client_away_from(overlay, probe)
    crash(*fallen)
    evicted.resume()
    for _ in range(10):
        overlay.run_for(0.5)
        found, complete = ask(overlay, client)
        assert probe not in found, "what was cancelled is back"
        assert not complete, "nobody is left who would know"
    restart_all(overlay, fallen)
    assert_whole_within(overlay, 40)
    found, complete = ask(overlay, client)
    assert probe not in found
    assert complete


@pytest.mark.parametrize("seed", seeds(2))
def test_nobody_who_takes_over_is_alone_with_it_for_a_moment(seed: int) -> None:
    """Found by a peer that was crashed in the very moment in which it had joined: those who had
    everything were not the ones that the ring names, and it began without any copy."""
    overlay, alone = build(seed), []
    store_some(overlay, overlay.client(), random.Random(seed), 10)
    assert_whole_within(overlay)
    put_own = Views.put_own

    def watched(views: Views, view: View) -> None:
        if view.number not in views.own and not view.copies:  # as it is begun
            alone.append(view)
        put_own(views, view)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Views, "put_own", watched)
        for _ in range(6):
            overlay.run(overlay.add_peer())
            overlay.run(random.Random(seed).choice(overlay.living[1:]).leave())
            overlay.run(overlay.add_peer())
    assert not alone
