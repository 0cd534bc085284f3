"""Deletes, renewals, replaced records and interests have copies as data has."""

from __future__ import annotations

import random

import pytest

from meteor import Interest, MeteorError, profile
from sim.overlay import Overlay
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    is_shown,
    primary_of,
    seeds,
    store_some,
    view_of,
)
from tests.meteor.succession_world import holders_of, wait_until


@pytest.mark.parametrize("seed", seeds(1))
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


@pytest.mark.parametrize("seed", seeds(1))
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


@pytest.mark.parametrize("seed", seeds(1))
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


class Listener:
    """Collects what an interest's client is told."""

    def __init__(self, overlay: Overlay, interest: Interest) -> None:
        self.told: list[str] = []
        self.task = overlay.kernel.spawn(self._listen(interest))

    async def _listen(self, interest: Interest) -> None:
        async for notification in interest:
            self.told.append(notification.id)


@pytest.mark.parametrize("seed", seeds(1))
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


@pytest.mark.parametrize("seed", seeds(1))
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
        marks = copy.core._keeper.marks.of(fallen.contact.id)
        assert marks.acknowledged(("", stem)) == due, copy.address
    fallen.crash()
    overlay.run_for(20.0)
    assert sorted(listener.told) == sorted(stored)


@pytest.mark.parametrize("seed", seeds(1))
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


@pytest.mark.parametrize("seed", seeds(1))
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


@pytest.mark.parametrize("seed", seeds(1))
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
