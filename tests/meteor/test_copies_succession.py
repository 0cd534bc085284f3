"""What was acknowledged under copies while its holders are held, fall, leave and come back.

A primary that was passed over answers nothing stale; what it had not acknowledged is handed on;
tombstones, renewals, watermarks and moves are as much at the copies as data is.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from meteor import Client, Interest, MeteorError, profile
from sim.overlay import Overlay, SimPeer
from squid import covers
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    index_of,
    is_shown,
    primary_of,
    restart_all,
    seeds,
    store_some,
    view_of,
)


def wait_until(
    overlay: Overlay, condition: Callable[[], bool], seconds: float, *, step_s: float = 0.05
) -> None:
    """Let virtual time pass until something is so; fails when it is not within `seconds`."""
    ends_s = overlay.kernel.now() + seconds
    while not condition():
        assert overlay.kernel.now() < ends_s, "it did not come"
        overlay.run_for(step_s)


NOTE_S = 0.01
"""What a disk takes for a note."""


def is_replacing_a_copy(overlay: Overlay) -> bool:
    """Whether some copy has noted an epoch that its primary has not."""
    own = {peer.contact.id: peer.core.views.own for peer in overlay.living}
    return any(
        (view := own[primary].get(number)) is None or view.epoch < copy.view.epoch
        for peer in overlay.living
        for (primary, number), copy in peer.core.views.copies.items()
        if primary in own
    )


def holders_of(overlay: Overlay, record_id: str) -> list[SimPeer]:
    return [primary_of(overlay, record_id), *copies_of(overlay, record_id)]


def client_at(overlay: Overlay, peer: SimPeer) -> Client:
    return overlay.client(peer=overlay.living.index(peer))


async def tried(work: object) -> bool:
    try:
        await work  # type: ignore[misc]
    except MeteorError:
        return False
    return True


# -- a primary that was passed over


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


# -- not only data


@pytest.mark.parametrize("seed", seeds(3))
def test_a_delete_wins_wherever_its_record_was_kept(seed: int) -> None:
    """Each holder of the record in turn is held or down while something is deleted, and comes
    back."""
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 12)
    assert_whole_within(overlay)
    expected = set(stored)
    for probe in drawn.sample(stored, 3):
        client, absent = client_away_from(overlay, probe), drawn.choice(holders_of(overlay, probe))
        held = drawn.random() < 0.5
        if held:
            absent.pause()
        else:
            absent.crash()
        assert overlay.run(client.cancel(probe, timeout=20)).matches == 1
        expected.remove(probe)
        overlay.run_for(drawn.choice([0.0, 2.0, 6.0]))
        if held:
            absent.resume()
        else:
            overlay.run(overlay.restart(absent))
        assert_never_silently_partial(overlay, client, expected)
        assert_whole_within(overlay, 30)
        assert ask(overlay, client) == (expected, True)
        overlay.run_for(3.0)  # who kept it before has tidied up
        assert not any(is_shown(peer, probe) for peer in overlay.living)


@pytest.mark.parametrize("seed", seeds(2))
def test_a_renewal_is_at_every_copy(seed: int) -> None:
    overlay, drawn = build(seed), random.Random(seed)
    client = overlay.client()
    probe = overlay.run(client.store(profile(draw_data(drawn)), b"x", ttl=12)).id
    assert_whole_within(overlay)
    client = client_away_from(overlay, probe)
    overlay.run(client.renew(probe, ttl=600))
    crash(*drawn.sample(holders_of(overlay, probe), 2))
    overlay.run_for(15.0)
    assert ask(overlay, client) == ({probe}, True)
    assert_whole_within(overlay)


@pytest.mark.parametrize("seed", seeds(3))
def test_replacing_while_copies_change_leaves_one_of_two(seed: int) -> None:
    overlay, drawn = build(seed, 9), random.Random(seed)
    assert_whole_within(overlay)
    client = overlay.client()
    living, open_ = {}, set()

    async def trouble() -> None:
        for _ in range(6):
            await overlay.peers[0].runtime.sleep(drawn.uniform(0.1, 0.6))
            mortal = [peer for peer in overlay.living[1:] if not peer.runtime.paused]
            if drawn.random() < 0.5 and len(mortal) > 5:
                drawn.choice(mortal).crash()
            else:
                await overlay.add_peer()

    async def work() -> None:
        for number in range(25):
            stem = f"thing-{number % 6}"
            attributes = draw_data(drawn)
            try:
                if stem in living and stem not in open_:
                    receipt = await client.replace(living[stem], profile(attributes), b"x")
                elif stem not in living:
                    receipt = await client.store(profile(attributes), b"x", id=stem)
                else:
                    continue
            except MeteorError:
                open_.add(stem)
                continue
            living[stem] = receipt.id

    for task in [overlay.kernel.spawn(one) for one in (trouble(), work())]:
        overlay.kernel.run_until(task)
    assert_whole_within(overlay, 30)
    found, complete = ask(overlay, client)
    assert complete
    sure = {full_id for stem, full_id in living.items() if stem not in open_}
    assert sure <= found
    assert {one for one in found if one.partition(".")[0] not in open_} == sure
    assert len(sure) >= 2


# -- interests


class Listener:
    """Collects what an interest's client is told."""

    def __init__(self, overlay: Overlay, interest: Interest) -> None:
        self.told: list[str] = []
        self.task = overlay.kernel.spawn(self._listen(interest))

    async def _listen(self, interest: Interest) -> None:
        async for notification in interest:
            self.told.append(notification.id)


@pytest.mark.parametrize("seed", seeds(3))
def test_nothing_is_told_twice_or_never_when_the_peer_that_matched_dies(seed: int) -> None:
    """The watermark of what the client has is at the copies, so that an heir tells the rest."""
    overlay, drawn = build(seed), random.Random(seed)
    client = overlay.client()
    interest = overlay.run(_opened(client.notify_data("type=alarm3 temperature=0..120", ttl=3000)))
    listener = Listener(overlay, interest)
    stored = [
        overlay.run(client.store(f"type=alarm3 temperature={n} humidity=5", b"x")).id
        for n in range(30)
    ]
    assert_whole_within(overlay)
    overlay.run_for(3.0)
    assert sorted(listener.told) == sorted(stored)
    probe = drawn.choice(stored)
    mortal = [peer for peer in holders_of(overlay, probe) if peer is not overlay.peers[0]]
    producer = client_away_from(overlay, probe)
    crash(*mortal[: drawn.choice([1, 2])])
    stored += [
        overlay.run(producer.store(f"type=alarm3 temperature={n} humidity=6", b"x", timeout=20)).id
        for n in range(10)
    ]
    wait_until(overlay, lambda: set(listener.told) == set(stored), 40.0)
    overlay.run_for(10.0)
    assert sorted(listener.told) == sorted(stored), "told twice"
    assert_whole_within(overlay)


@pytest.mark.parametrize("seed", seeds(2))
def test_every_copy_knows_how_far_the_clients_are(seed: int) -> None:
    overlay, drawn = build(seed), random.Random(seed)
    client = overlay.client()
    interest = overlay.run(_opened(client.notify_data("type=alarm3 temperature=0..120", ttl=3000)))
    listener = Listener(overlay, interest)
    stored = [
        overlay.run(client.store(f"type=alarm3 temperature={n} humidity=5", b"x")).id
        for n in range(20)
    ]
    assert_whole_within(overlay)
    overlay.run_for(6.0)  # acknowledged, and said to the copies
    probe = drawn.choice(stored)
    fallen = primary_of(overlay, probe)
    stem = interest.id.partition(".")[0]
    due = fallen.core.telling.watermark("", stem)
    assert due > 0
    mortal = [copy for copy in copies_of(overlay, probe) if copy is not overlay.peers[0]]
    mortal[0].crash()
    assert_whole_within(overlay)  # somebody else is a copy now, and no mark has changed since
    for copy in copies_of(overlay, probe):
        marks = copy.core._keeper.watermarks(fallen.contact.id)
        assert marks.acknowledged(("", stem)) == due, copy.address
    fallen.crash()
    overlay.run_for(20.0)
    assert sorted(listener.told) == sorted(stored)


@pytest.mark.parametrize("seed", seeds(2))
def test_an_heir_tells_nothing_again_that_was_acknowledged_before_a_renewal(seed: int) -> None:
    overlay = build(seed)
    client = overlay.client()
    interest = overlay.run(_opened(client.notify_data("type=alarm3 temperature=0..120", ttl=3000)))
    listener = Listener(overlay, interest)
    stored = [
        overlay.run(client.store(f"type=alarm3 temperature={n} humidity=5", b"x")).id
        for n in range(10)
    ]
    assert_whole_within(overlay)
    overlay.run(client.renew(interest.id, ttl=4000))
    overlay.run(client.renew(stored[0], ttl=4000))
    overlay.run_for(6.0)  # acknowledged, and said to the copies
    primary = primary_of(overlay, stored[0])
    kept: list[int] = []
    for peer in overlay.living:
        telling = peer.core.telling
        telling._keep = lambda _, __, number: kept.append(number)  # type: ignore[method-assign]
    primary.crash()
    assert_whole_within(overlay)
    overlay.run_for(5.0)
    assert not kept, "told again"
    assert sorted(listener.told) == sorted(stored)


@pytest.mark.parametrize("seed", seeds(2))
def test_who_is_no_copy_any_more_is_found_out_without_a_write(seed: int) -> None:
    """It lost its view without its primary's doing: comparing finds it."""
    overlay, drawn = build(seed), random.Random(seed)
    probe = drawn.choice(store_some(overlay, overlay.client(), drawn, 5))
    assert_whole_within(overlay)
    view = view_of(overlay, probe)
    copies_of(overlay, probe)[0].core.views.drop(view.key)
    assert_whole_within(overlay, 30)
    assert view_of(overlay, probe).epoch > view.epoch


async def _opened(interest: Interest) -> Interest:
    return await interest


@pytest.mark.parametrize("seed", seeds(2))
def test_a_wide_interest_is_told_of_every_match_once_in_any_weather(seed: int) -> None:
    """It lives on every peer; these fall, join and are held under it."""
    overlay, drawn = build(seed, 9), random.Random(seed)
    client = overlay.client()
    interest = overlay.run(
        _opened(client.notify_data("temperature=-40..125", ttl=3000, queue=10_000))
    )
    listener = Listener(overlay, interest)
    assert_whole_within(overlay)
    acknowledged: list[str] = []

    async def produce() -> None:
        producer = clients[1]
        for number in range(60):
            await producer._session.runtime.sleep(drawn.uniform(0, 0.15))
            attributes = {**draw_data(drawn), "type": f"t{number % 9}"}
            try:
                receipt = await producer.store(profile(attributes), b"x", id=f"n{number}")
            except MeteorError:
                continue
            acknowledged.append(receipt.id)

    async def trouble() -> None:
        for _ in range(7):
            await overlay.peers[0].runtime.sleep(drawn.uniform(0.2, 1.0))
            mortal = [peer for peer in overlay.living[2:] if not peer.runtime.paused]
            what = drawn.choice(["crash", "hold", "join"])
            if what == "join" or len(mortal) < 4:
                await overlay.add_peer()
            elif what == "crash":
                drawn.choice(mortal).crash()
            else:
                held = drawn.choice(mortal)
                held.pause()
                await overlay.peers[0].runtime.sleep(drawn.uniform(0.5, 4.0))
                held.resume()

    clients = [client, overlay.client(peer=1)]
    for task in [overlay.kernel.spawn(one) for one in (trouble(), produce())]:
        overlay.kernel.run_until(task)
    assert_whole_within(overlay, 30)
    found, complete = ask(overlay, client, "temperature=-40..125")
    assert complete
    wait_until(overlay, lambda: found <= set(listener.told), 60.0)
    overlay.run_for(5.0)
    assert sorted(listener.told) == sorted(found), "told twice"
    assert len(view_of(overlay, acknowledged[0]).copies) == 2
