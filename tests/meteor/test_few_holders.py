"""Nothing counts where fewer than `copies_min` peers hold it: nothing is acknowledged there, and no
answer is complete.  Where that is more than half of all peers, two groups that do not know of each
other, on two sides of a cut or one after the other, never both go on."""

from __future__ import annotations

import random
from typing import Any

import pytest

import meteor
from arms import Profile
from chord import ChordConfig
from meteor import Client, Incomplete, profile
from meteor.copies.config import CopiesConfig
from sim.overlay import Overlay
from squid import covers
from tests.meteor import copies_world
from tests.meteor.building import SPACE, draw_data
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    copies_of,
    crash,
    index_of,
    primary_of,
    restart_all,
    seeds,
)

SLOWLY_S = 4.0
"""Longer than peers are taken to fall together."""


def ring(monkeypatch: pytest.MonkeyPatch, seed: int, peers: int, least: int | None) -> Overlay:
    monkeypatch.setattr(copies_world, "COPIES_MIN", least)
    overlay = build(seed, peers, disk_s=0.001)
    assert_whole_within(overlay)
    return overlay


def store(overlay: Overlay, client: Client, seed: int) -> str:
    data = profile(draw_data(random.Random(seed)))
    return overlay.run(client.store(data, b"x", ttl=7200, timeout=12.0)).id


def refused(overlay: Overlay, client: Client, seed: int) -> bool:
    try:
        store(overlay, client, seed)
    except Incomplete:
        return True
    return False


@pytest.mark.parametrize("seed", seeds(2))
def test_one_of_three_that_is_alone_promises_nothing(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = ring(monkeypatch, seed, 3, 2)
    last, *others = overlay.peers
    early = store(overlay, overlay.client(), seed)
    crash(others[0])
    overlay.run_for(SLOWLY_S)
    later = store(overlay, overlay.client(), seed + 100)  # two are enough
    assert ask(overlay, overlay.client()) == ({early, later}, True)
    crash(others[1])
    overlay.run_for(SLOWLY_S)
    client = overlay.client()
    assert ask(overlay, client) == (set(), False), "it may be gone by what it does not know of"
    assert refused(overlay, client, seed + 200)
    began_s = overlay.kernel.now()
    with pytest.raises(Incomplete):
        overlay.run(client.retrieve("type=*", everywhere=True, timeout=30.0).all())
    assert overlay.kernel.now() - began_s < 1.0, "it has been so for long: it is named at once"
    overlay.run(overlay.restart(others[1]))
    assert_whole_within(overlay, 30)
    found, complete = ask(overlay, overlay.client())
    assert {early, later} <= found
    assert complete
    assert last.alive


@pytest.mark.parametrize("seed", seeds(2))
def test_the_smaller_side_of_a_cut_names_what_the_larger_one_may_know(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = ring(monkeypatch, seed, 3, 2)
    alone, *others = overlay.peers
    cut = overlay.faults.partition([alone.contact], [one.contact for one in others])
    here, there = overlay.client(peer=0), overlay.client(peer=1)
    stored = store(overlay, there, seed)
    assert ask(overlay, there) == ({stored}, True)
    assert ask(overlay, here) == (set(), False)
    assert refused(overlay, here, seed + 100)
    assert ask(overlay, here)[1] is False
    cut.heal()
    assert_whole_within(overlay, 30)
    found, complete = ask(overlay, here)
    assert stored in found
    assert complete


@pytest.mark.parametrize(("least", "is_told"), [(None, True), (3, False)])
def test_the_last_two_of_five_acknowledge_nothing_that_the_others_will_not_know(
    least: int | None, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without, they do so once it is clear that they do not fall as well: it is unknown to the
    others, should they fall after all (docs/guide/failures.md)."""
    overlay = ring(monkeypatch, 1, 5, least)
    first, last = overlay.peers[:3], overlay.peers[3:]
    crash(*first)
    overlay.run_for(2 * SLOWLY_S)
    client = overlay.client()
    assert refused(overlay, client, 1) is not is_told
    crash(*last)
    restart_all(overlay, first)
    assert_whole_within(overlay, 30)
    found, complete = ask(overlay, overlay.client())
    assert complete
    assert not found
    restart_all(overlay, last)
    assert_whole_within(overlay, 30)
    found, complete = ask(overlay, overlay.client())
    assert complete
    assert found or not is_told  # what nobody was told of may be there as well


def test_nothing_is_kept_under_what_too_few_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on standing for what enough held: who had that lacks nothing."""
    overlay = ring(monkeypatch, 1, 3, 3)
    crash(overlay.peers[0])
    overlay.run_for(SLOWLY_S)
    client = overlay.client()
    answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=SLOWLY_S)
    overlay.run(answer.all())  # it looks who has it still
    overlay.run_for(SLOWLY_S)
    own = [view for one in overlay.living for view in one.core.views.own.values()]
    assert own
    assert all(view.is_brief for view in own)
    restart_all(overlay, overlay.peers[:1])
    assert_whole_within(overlay, 30)
    overlay.run_for(SLOWLY_S)
    own = [view for one in overlay.living for view in one.core.views.own.values()]
    assert not any(view.is_brief for view in own)


def test_nor_is_it_complete_what_the_last_copy_says_in_its_primarys_stead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It goes on alone, as nobody else is there; the primary may be with others."""
    overlay = ring(monkeypatch, 1, 3, 2)
    stored = store(overlay, overlay.client(), 1)
    held = primary_of(overlay, stored)
    crash(next(one for one in overlay.peers if one is not held))
    overlay.run_for(SLOWLY_S)
    store(overlay, overlay.client(), 1)  # where that one is not a copy any more
    client = overlay.client(peer=next(n for n, one in enumerate(overlay.living) if one is not held))
    held.pause()
    answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=2.0)
    assert overlay.run(answer.all()) == []
    assert covers(answer.missing, index_of(stored))
    held.resume()


@pytest.mark.parametrize("seed", seeds(6, 40))
def test_two_of_three_holders_that_are_cut_off_from_three_of_five_peers_know_it(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is the primary and a copy, or two copies: the third one goes on with others."""
    overlay = ring(monkeypatch, seed, 5, 3)
    early = store(overlay, overlay.client(), seed)
    drawn = random.Random(seed)
    two = drawn.sample([primary_of(overlay, early), *copies_of(overlay, early)], 2)
    three = [one for one in overlay.peers if one not in two]
    here, there = (overlay.client(peer=overlay.peers.index(one)) for one in (two[0], three[0]))
    overlay.run_for(drawn.choice([0.0, 0.3, 2.0]))
    overlay.faults.partition([one.contact for one in two], [one.contact for one in three])
    data = profile(draw_data(random.Random(seed)))
    asking = overlay.kernel.spawn(ask_soon(there, data))  # so a copy that is alone goes on at once
    late = [overlay.kernel.spawn(store_soon(there, data)) for _ in range(3)]
    ends_s, told = overlay.kernel.now() + 12.0, 0
    while told < 5 and overlay.kernel.now() < ends_s:
        known = {task.result() for task in late if task.done()}
        answer = here.retrieve(data, allow_partial=True, timeout=drawn.choice([0.3, 1.0]))
        found = {match.id for match in overlay.run(answer.all())}
        assert known <= found or not answer.complete
        told += bool(known - found)
        overlay.run_for(0.05)
    assert told, "nobody went on"
    overlay.kernel.run_until(asking)


class AloneOfThree:
    """The primary of a record, or of where one was, is cut off from the two others, who go on."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, seed: int, *, empty: bool = False
    ) -> None:
        self.overlay = ring(monkeypatch, seed, 3, 2)
        self.early = store(self.overlay, self.overlay.client(), seed)
        self.data = profile(draw_data(random.Random(seed)))
        peers = list(self.overlay.peers)
        alone = primary_of(self.overlay, self.early)
        others = [one for one in peers if one is not alone]
        self.here, self.there = (
            self.overlay.client(peer=peers.index(one)) for one in (alone, others[0])
        )
        if empty:
            self.overlay.run(self.here.delete_data(self.data, timeout=4.0))
        contacts = [one.contact for one in others]
        self.cut = self.overlay.faults.partition([alone.contact], contacts)


def test_alone_it_does_not_say_what_would_be_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is asked of the primary alone, as nobody has to keep anything of it."""
    world = AloneOfThree(monkeypatch, 1)
    store(world.overlay, world.there, 1)
    with pytest.raises(Incomplete):
        world.overlay.run(world.here.delete_data(world.data, dry_run=True, timeout=4.0))


def test_nor_that_nothing_of_what_it_does_not_know_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What finds nothing has nobody keep anything, who would say that the others went on."""
    world = AloneOfThree(monkeypatch, 1, empty=True)
    late, here = store(world.overlay, world.there, 1), world.here
    for change in (
        lambda: here.delete_data(world.data, timeout=4.0),
        lambda: here.cancel(late, timeout=4.0),
        lambda: here.renew(late, ttl=100.0, timeout=4.0),
    ):
        with pytest.raises(Incomplete):
            world.overlay.run(change())
    world.cut.heal()
    assert_whole_within(world.overlay, 30)
    assert late in ask(world.overlay, here)[0]


def test_nor_does_it_show_there_what_was_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    overlay = ring(monkeypatch, 1, 4, 3)
    early, data = store(overlay, overlay.client(), 1), profile(draw_data(random.Random(1)))
    alone = primary_of(overlay, early)
    others = [one for one in overlay.peers if one is not alone]
    here, there = (overlay.client(peer=overlay.peers.index(one)) for one in (alone, others[0]))
    cut = overlay.faults.partition([alone.contact], [one.contact for one in others])
    overlay.run(there.cancel(early, timeout=12.0))
    overlay.run(here.retrieve(data, allow_partial=True, timeout=5.0).all())
    overlay.run_for(SLOWLY_S)
    asked = here.delete_data(data, dry_run=True, timeout=5.0, allow_partial=True)
    asking = overlay.kernel.spawn(asked)
    overlay.run_for(0.3)
    cut.heal()
    overlay.kernel.run_until(asking)
    receipt = asking.result()
    assert receipt.complete or covers(receipt.missing, index_of(early))
    assert not receipt.matches


@pytest.mark.parametrize("after_s", [0.0, 20.0])
def test_alone_it_does_not_let_data_pass_an_interest_that_it_does_not_know_of(
    after_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = AloneOfThree(monkeypatch, 1)
    world.overlay.run(world.there.retrieve(world.data, allow_partial=True, timeout=8.0).all())
    if after_s:
        world.overlay.run(world.here.retrieve(world.data, allow_partial=True, timeout=4.0).all())
        world.overlay.run_for(after_s)
    with pytest.raises(Incomplete):
        world.overlay.run(world.here.store(world.data, b"now", ttl=0, timeout=4.0))


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_what_went_before_a_question_began_is_not_in_its_answer_as_the_cut_heals_meanwhile(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others make it complete, and what the small side has was shown before."""
    overlay, drawn = ring(monkeypatch, seed, 4, 3), random.Random(seed)
    early, data = store(overlay, overlay.client(), seed), profile(draw_data(random.Random(seed)))
    primary, copy = primary_of(overlay, early), copies_of(overlay, early)[0]
    here, there = (overlay.client(peer=overlay.peers.index(one)) for one in (copy, primary))
    cut = overlay.faults.partition(
        [copy.contact], [one.contact for one in overlay.peers if one is not copy]
    )
    overlay.run(there.cancel(early, timeout=8.0))
    overlay.run_for(drawn.choice([0.1, 0.5, 4.0]))
    answer = here.retrieve(data, allow_partial=True, timeout=3.0)
    asking = overlay.kernel.spawn(answer.all())
    overlay.run_for(drawn.uniform(0.2, 1.0))
    cut.heal()
    overlay.kernel.run_until(asking)
    assert early not in {match.id for match in asking.result()}


@pytest.mark.parametrize("later_s", [0.0, 0.3, 0.6, 0.9, 1.5, 2.0])
@pytest.mark.parametrize(("peers", "least"), [(3, 2), (5, 3)])
@pytest.mark.parametrize("seed", seeds(2, 6))
def test_whom_the_others_do_not_hear_is_not_in_touch_though_it_hears_them(
    seed: int, peers: int, least: int, later_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it sends is lost first, and what they send `later_s` seconds after that."""
    overlay = ring(monkeypatch, seed, peers, least)
    early, data = store(overlay, overlay.client(), seed), profile(draw_data(random.Random(seed)))
    few = [primary_of(overlay, early), *copies_of(overlay, early)][: least - 1]
    others = [one for one in overlay.peers if one not in few]
    there = overlay.client(
        peer=next(n for n, one in enumerate(overlay.peers) if one in others
                  and (one in copies_of(overlay, early)))
    )  # fmt: skip
    here = overlay.client(peer=overlay.peers.index(few[0]))
    overlay.run_for(1.0 + random.Random(seed).random())
    overlay.run(here.retrieve(data, timeout=2.0).all())  # it is in touch as it begins
    unheard, heard = [one.contact for one in few], [one.contact for one in others]
    overlay.faults.partition(unheard, heard, one_way=True)
    began_s = overlay.kernel.now()
    asking = overlay.kernel.spawn(ask_again(there, data))
    late = [overlay.kernel.spawn(store_soon(there, data)) for _ in range(3)]
    is_cut = False
    while overlay.kernel.now() < began_s + 4.0:
        if not is_cut and overlay.kernel.now() >= began_s + later_s:
            is_cut = True
            overlay.faults.partition(heard, unheard, one_way=True)
        known = {task.result() for task in late if task.done()}
        answer = here.retrieve(data, allow_partial=True, timeout=0.3)
        question = overlay.kernel.spawn(answer.all())
        overlay.run_for(0.02)
        if question.done():
            assert known <= {match.id for match in question.result()} or not answer.complete
    overlay.kernel.run_until(asking)


async def ask_again(client: Client, data: Profile) -> None:
    for _ in range(12):
        await client.retrieve(data, allow_partial=True, timeout=2.0).all()


async def ask_soon(client: Client, data: Profile) -> None:
    await client.retrieve(data, allow_partial=True, timeout=6.0).all()


async def store_soon(client: Client, data: Profile) -> str:
    receipt = await client.store(data, b"x", ttl=7200, timeout=12.0)
    return receipt.id


def test_who_waits_for_others_that_are_not_there_does_not_look_all_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(copies_world, "COPIES_MIN", 3)
    overlay = build(1, 2, disk_s=0.0)
    looks = 0

    def counted() -> Any:
        nonlocal looks
        looks += 1
        return look()

    tending = overlay.peers[0].core._tending
    look = tending._look
    monkeypatch.setattr(tending, "_look", counted)
    overlay.run_for(20.0)
    assert 0 < looks <= 2 * 20.0 / CopiesConfig().tend_s


async def test_a_peer_of_a_program_waits_for_as_many_as_it_was_told() -> None:
    async with meteor.LocalOverlay(1, space=SPACE, copies_min=2, config=ChordConfig.local()) as one:
        client = await one.connect()
        with pytest.raises(Incomplete):
            await client.store("type=light temperature=1 humidity=1", b"x", timeout=0.3)
        await one.add_peer()
        receipt = await client.store("type=light temperature=1 humidity=1", b"x", timeout=10)
        assert receipt.complete
