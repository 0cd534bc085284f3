"""A delete that was answered takes nothing that is stored from then on, whatever is late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from chord import Contact
from meteor import Client
from meteor.rendezvous.moves import KEPT_S
from meteor.wire.messages import IsWanted, Wants
from sim.overlay import Overlay, SimPeer
from squid import HandOn
from tests.meteor.building import SPACE
from tests.meteor.copies_world import assert_whole_within, build, primary_of
from tests.meteor.security.signers import ALICE
from tests.meteor.security.test_replays import Wire, remembering_for_long

ALARMS = "type=alarm"
ALARM = "type=alarm temperature=20 humidity=50"


def profiles() -> Iterator[str]:
    """All over the region of alarms."""
    for temperature in range(-40, 125, 10):
        for humidity in (5, 50, 95):
            yield f"type=alarm temperature={temperature} humidity={humidity}"


def places_of(overlay: Overlay, client: Client) -> dict[str, str]:
    """A profile at each peer of the region, by its address; the overlay has them now."""
    found: dict[str, str] = {}
    for profile in profiles():
        stored = overlay.run(client.store(profile, b"old", ttl=7200))
        found.setdefault(primary_of(overlay, stored.id).address, profile)
    assert len(found) > 1, "the region has more than one peer"
    return found


def found_by(overlay: Overlay, client: Client) -> set[str]:
    """The ids of all alarms; the answer is complete."""
    return {match.id for match in overlay.run(client.retrieve(ALARMS).all())}


def shares_to(peer: SimPeer) -> list[tuple[Contact, Contact]]:
    """From whom a peer is handed shares of what changes something, and their origins."""
    told: list[tuple[Contact, Contact]] = []
    take = peer.core._handlers[HandOn]

    def heard(sender: Contact, share: HandOn, left_s: float) -> object:
        if not share.asks:
            told.append((sender, share.origin))
        return take(sender, share, left_s)

    peer.core._handlers[HandOn] = heard
    return told


def one_between(overlay: Overlay, holder: SimPeer) -> tuple[Client, Contact]:
    """A client of whose deletes another peer than its own hands the holder its share, and it."""
    told = shares_to(holder)
    for at, peer in enumerate(overlay.living):
        client = overlay.client(peer=at)
        told.clear()
        overlay.run(client.delete_data(ALARMS))
        if told and told[0][0].id != told[0][1].id and peer is not holder:
            return client, told[0][0]
    raise AssertionError("everybody leads to it directly")


@pytest.mark.parametrize("seed", [5, pytest.param(7, marks=pytest.mark.long)])
def test_whose_word_that_it_took_a_share_is_late_is_not_passed_over(seed: int) -> None:
    """It does the share, tells the origin, and leaves; who handed it on does not hear of it, and
    must not hand it to the heir as well: the client has been told, and stores again."""
    overlay = build(seed, 12, disk_s=0.0)
    holder = primary_of(overlay, overlay.run(overlay.client().store(ALARM, b"x", ttl=7200)).id)
    assert_whole_within(overlay)
    client, between = one_between(overlay, holder)
    overlay.run_for(3.0)
    began_s = overlay.kernel.now()
    late = overlay.faults.partition([holder.contact], [between], one_way=True)
    assert overlay.run(client.delete_data(ALARMS, timeout=10.0)).complete
    overlay.run(holder.leave())
    stored = overlay.run(client.store(ALARM, b"new", ttl=7200))
    overlay.run(until=max(began_s + 0.9, overlay.kernel.now()))
    late.heal()
    overlay.run_for(5.0)
    assert found_by(overlay, client) == {stored.id}


@pytest.mark.parametrize("seed", [1, pytest.param(5, marks=pytest.mark.long)])
def test_a_peer_whose_client_went_to_another_one_tries_a_delete_no_more(seed: int) -> None:
    """It does not reach one holder; when that has left, the heir is too young to speak of all, and
    everything would be deleted anew."""
    overlay = build(seed, 12, disk_s=0.0)
    first = overlay.client()
    places = places_of(overlay, first)
    assert_whole_within(overlay)
    overlay.run(first.delete_data(ALARMS))
    overlay.run_for(3.0)
    ring = sorted(overlay.living, key=lambda peer: peer.contact.id)
    kept = next(peer for peer in ring if peer.address in places)
    gone = next(
        peer for peer in ring
        if peer.address in places and ring[(ring.index(peer) + 1) % len(ring)] is not kept
        and peer is not kept
    )  # fmt: skip
    heir = ring[(ring.index(gone) + 1) % len(ring)]
    entry = next(peer for peer in overlay.living if peer not in (kept, gone, heir))
    client = overlay.client(peer=overlay.living.index(entry))
    overlay.run_for(3.0)
    overlay.faults.partition([entry.contact], [gone.contact])
    deleting = overlay.kernel.spawn(deleted(client))
    overlay.run_for(0.1)
    runtime = client._session.runtime
    (end,) = (one for one in runtime.ends if one.contact.address == entry.address)
    runtime.lose(end, "its client hears nothing any more")
    assert overlay.kernel.run_until(deleting)
    assert client.peer_address != entry.address
    stored = overlay.run(client.store(places[kept.address], b"new", ttl=7200))
    overlay.run(gone.leave())
    overlay.run_for(15.0)
    assert primary_of(overlay, stored.id) is kept
    assert found_by(overlay, client) == {stored.id}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nor_does_it_look_where_something_went(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has asked everywhere, and something had moved: it looks once more, where that is by now,
    which is with itself.  Whoever asks later is not told of the move: there this was not done."""
    overlay = build(seed, 12, disk_s=0.0)
    mover = overlay.client()
    first = overlay.run(mover.store("type=alarm temperature=90 humidity=5", b"old"))
    entry = primary_of(overlay, overlay.run(mover.replace(first.id, ALARM, b"old")).id)
    client = overlay.client(peer=overlay.living.index(entry))
    router, runtime = entry.core.router, client._session.runtime
    disseminate = router.disseminate

    async def late(*said: Any, **more: Any) -> Any:
        outcome = await disseminate(*said, **more)
        monkeypatch.setattr(router, "disseminate", disseminate)
        await entry.runtime.sleep(2.0)
        return outcome

    overlay.run_for(KEPT_S - 0.1)
    monkeypatch.setattr(router, "disseminate", late)
    deleting = overlay.kernel.spawn(deleted(client))
    overlay.run_for(0.2)
    (end,) = (one for one in runtime.ends if one.contact.address == entry.address)
    runtime.lose(end, "its client hears nothing any more")
    assert overlay.kernel.run_until(deleting)
    assert client.peer_address != entry.address
    stored = overlay.run(client.store(ALARM, b"new", ttl=7200))
    overlay.run_for(5.0)
    assert found_by(overlay, client) == {stored.id}


async def deleted(client: Client) -> bool:
    return (await client.delete_data(ALARMS, timeout=20.0)).complete


@pytest.mark.parametrize("seed", [1, pytest.param(5, marks=pytest.mark.long)])
def test_a_repeat_after_a_holder_fell_takes_nothing_that_came_since(seed: int) -> None:
    """Who read along says a signed delete again: the heir is too young to speak of all, and the
    others have done it."""
    overlay = Overlay(peers=12, space=SPACE, seed=seed)
    alice = overlay.client(identity=ALICE)
    reader = overlay.client(peer=3)
    reader._session.handlers[IsWanted] = lambda *_: Wants(True)  # it wants whatever it sent
    wire = Wire(overlay, alice, reader)
    places = places_of(overlay, alice)
    remembering_for_long(overlay)
    assert overlay.run(alice.delete_data(ALARMS)).complete
    delete = wire.read[-1]
    stored = {at: overlay.run(alice.store(one, b"new")).id for at, one in places.items()}
    overlay.run_for(60.0)
    spared = (overlay.living[0], overlay.living[3])
    falls = next(one for one in overlay.living if one.address in places and one not in spared)
    falls.crash()
    elsewhere = next(at for at, one in enumerate(overlay.living) if one.address not in places)
    assert wire.again(delete, elsewhere).repeated
    overlay.run_for(20.0)
    assert found_by(overlay, alice) == set(stored.values())


def test_a_delete_is_tried_again_while_its_client_waits_for_it() -> None:
    """A share of it is lost, and the client says that it still wants it."""
    overlay = build(1, 12, disk_s=0.0)
    first = overlay.client()
    places = places_of(overlay, first)
    assert_whole_within(overlay)
    holder = next(peer for peer in overlay.living if peer.address in places)
    entry = next(peer for peer in overlay.living if peer.address not in places)
    client = overlay.client(peer=overlay.living.index(entry))
    overlay.run_for(3.0)
    cut = overlay.faults.partition(
        [holder.contact], [one.contact for one in overlay.living if one is not holder]
    )
    deleting = overlay.kernel.spawn(deleted(client))
    overlay.run_for(1.3)
    cut.heal()
    assert overlay.kernel.run_until(deleting)
    assert client.peer_address == entry.address
    assert found_by(overlay, client) == set()


def test_a_client_wants_what_it_waits_for_and_nothing_else() -> None:
    overlay = build(1, 4, disk_s=0.0)
    client = overlay.client()
    overlay.run(client.store(ALARM, b"x", ttl=60))
    asked = client._session.handlers[IsWanted]
    deleting = overlay.kernel.spawn(deleted(client))
    overlay.run_for(0.0001)
    (token,) = client._session._requests._attempts
    assert asked(overlay.living[0].contact, IsWanted(token), 1.0) == Wants(True)
    assert asked(overlay.living[0].contact, IsWanted(token + 1), 1.0) == Wants(False)
    assert overlay.kernel.run_until(deleting)
    assert asked(overlay.living[0].contact, IsWanted(token), 1.0) == Wants(False)
