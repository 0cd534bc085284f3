"""The action matrix of SPEC section 1 and the report's figure 2.2, on 16 peers in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from meteor import Client, Incomplete, ProfileError, Refused, Timeout, profile
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE

Run = Callable[[Any], Any]


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=16, space=SPACE, seed=22)


@pytest.fixture
def run(overlay: Overlay) -> Run:
    return overlay.run


@pytest.fixture
def one(overlay: Overlay) -> Client:
    return overlay.client(peer=0)


@pytest.fixture
def other(overlay: Overlay) -> Client:
    return overlay.client(peer=7)


def silent(run: Run, stream: Any) -> None:
    """Nothing comes within a virtual second."""
    with pytest.raises(Timeout):
        run(stream.recv(timeout=1.0))


def test_figure_2_2_step_by_step(run: Run, one: Client, other: Client) -> None:
    """C1 watches <p1, p2>; C2's interest <p1, *> is told to C1; C1 stores, C2 is notified, C2
    retrieves C1's data; both delete."""
    watch = run(one.notify_interest("type=p1 temperature=2"))
    silent(run, watch)
    interest = run(other.notify_data("type=p1 temperature=*"))
    appeared = run(watch.recv(timeout=1.0))
    assert appeared.kind == "appeared"
    stored = run(one.store("type=p1 temperature=2", b"the data"))
    notified = run(interest.recv(timeout=1.0))
    assert (notified.kind, notified.id) == ("match", stored.id)
    (match,) = run(other.retrieve("type=p1 temperature=*").all())
    assert (match.id, match.data) == (stored.id, b"the data")
    assert run(one.delete_data("type=p1 temperature=2")).matches == 1
    assert run(other.retrieve("type=p1 temperature=*").all()) == []
    # by id: without identities C1's watch is unowned too, and the selector contains it
    assert run(other.cancel(interest.id)).matches == 1
    heard = [run(watch.recv(timeout=1.0)) for _ in range(5)]
    # each retrieve was an interest too, for a moment
    assert [n.kind for n in heard if n.id == interest.id] == ["gone"]
    assert {n.kind for n in heard if n.id != interest.id} == {"appeared", "gone"}
    assert not watch.active


def test_store_row(run: Run, one: Client, other: Client) -> None:
    """Data meets interests: each sender gets a notification with the data."""
    hot = run(other.notify_data("temperature>=80"))
    cold = run(other.notify_data("temperature<=0"))
    receipt = run(one.store("type=probe temperature=90", b"90"))
    assert receipt.matches == 1
    assert run(hot.recv(timeout=1)).data == b"90"
    silent(run, cold)


def test_standing_retrieve_row(run: Run, one: Client, other: Client) -> None:
    """A retrieve with a ttl answers with what lives, then follows; a watch hears of it."""
    watch = run(one.notify_interest("type=probe temperature=* humidity=*"))
    run(one.store("type=probe temperature=1", b"before"))
    answer = other.retrieve("type=probe", ttl=60)

    async def two() -> list[bytes]:
        seen = []
        async for match in answer:
            seen.append(match.data)
            if len(seen) == 1:
                await one.store("type=probe temperature=2", b"after")
            if len(seen) == 2:
                break
        return seen

    assert run(two()) == [b"before", b"after"]
    assert run(watch.recv(timeout=1)).kind == "appeared"


def test_notify_data_row_tells_first_what_already_lives(
    run: Run, one: Client, other: Client
) -> None:
    run(one.store("type=probe temperature=50", b"old"))
    watch = run(one.notify_interest("type=probe temperature=* humidity=*"))
    interest = run(other.notify_data("type=probe"))
    assert run(interest.recv(timeout=1)).data == b"old"
    assert run(watch.recv(timeout=1)).kind == "appeared"


def test_notify_interest_row_a_watch_meets_interests_only(
    run: Run, one: Client, other: Client
) -> None:
    """Interests that live already are told; a watch is never data, and never meets a watch."""
    run(other.notify_data("type=lamp temperature>=5"))
    watch = run(one.notify_interest("type=lamp temperature=* humidity=*"))
    second = run(other.notify_interest("type=lamp temperature=* humidity=*"))
    assert run(watch.recv(timeout=1)).kind == "appeared"
    run(watch.wait_active(timeout=1))
    assert run(second.recv(timeout=1)).kind == "appeared"
    silent(run, watch)
    assert run(other.retrieve("type=lamp").all()) == []


def test_delete_rows_take_what_is_contained(run: Run, one: Client, other: Client) -> None:
    run(one.store("type=probe temperature=10..20", b"wide"))
    run(one.store("type=probe temperature=12", b"point"))
    dry = run(one.delete_data("type=probe temperature=11..15", dry_run=True))
    assert dry.matches == 1
    assert len(run(other.retrieve("type=probe").all())) == 2
    assert run(one.delete_data("type=probe temperature=11..15")).matches == 1
    (left,) = run(other.retrieve("type=probe").all())
    assert left.data == b"wide"
    overlapping = run(one.delete_data("type=probe temperature=15..99", mode="overlap"))
    assert overlapping.matches == 1
    assert run(other.retrieve("type=probe").all()) == []


def test_delete_interest_row(run: Run, one: Client, other: Client) -> None:
    interest = run(one.notify_data("temperature>=80"))
    assert run(one.delete_interest("temperature>=70")).matches == 1
    run(other.store("type=probe temperature=90"))
    silent(run, interest)


def test_one_to_many_one_to_some_one_to_all(overlay: Overlay, run: Run, one: Client) -> None:
    clients = [overlay.client(peer=index) for index in range(8)]
    fahrenheit = [run(c.notify_data("type=alarm temperature>=80")) for c in clients[:5]]
    some = [run(c.notify_data("type=al* humidity<=10")) for c in clients[5:7]]
    every = run(clients[7].notify_data("type=*", everywhere=True))
    run(one.store("type=alarm temperature=95 humidity=90"))
    for interest in [*fahrenheit, every]:
        assert run(interest.recv(timeout=1)).kind == "match"
    for interest in some:
        silent(run, interest)


def test_a_walking_client_is_followed_from_room_to_room(
    overlay: Overlay, run: Run, one: Client
) -> None:
    """`replace` moves an interest: it lives at other peers, the stream goes on, nothing of the
    room that was left arrives any more."""
    walker = overlay.client(peer=3)
    interest = run(walker.notify_data("type=attic temperature=20 humidity>=50"))
    homes = set()
    for room in ("attic", "kitchen", "yard", "attic"):
        if room != "attic" or homes:
            run(interest.replace(f"type={room} temperature=20 humidity>=50"))
        holders = {
            index
            for index, peer in enumerate(overlay.peers)
            for record in peer.core.shelf.store.records()
            if record.kind == "interest"
        }
        homes.add(tuple(sorted(holders)))
        run(one.store(f"type={room} temperature=20 humidity=60", room.encode()))
        run(one.store("type=elsewhere temperature=20 humidity=60", b"no"))
        assert run(interest.recv(timeout=1)).data == room.encode()
        silent(run, interest)
    assert len(homes) > 1, "the interest moved from peer to peer"


def test_replaced_data_is_found_by_the_new_content_and_not_by_the_old(
    run: Run, one: Client, other: Client
) -> None:
    receipt = run(one.store("type=badge temperature=1 humidity=1", b"1"))
    moved = run(one.replace(receipt.id, "type=badge temperature=99 humidity=99", b"2"))
    assert run(other.retrieve("temperature<=50").all()) == []
    (match,) = run(other.retrieve("temperature>=50").all())
    assert (match.data, match.id) == (b"2", moved.id)
    assert run(one.renew(receipt.id, ttl=100)).matches == 1, "an old id leads to the new place"
    assert run(one.cancel(receipt.id)).matches == 1
    assert run(other.retrieve("type=badge").all()) == []


def test_expired_profiles_never_match(overlay: Overlay, run: Run, one: Client) -> None:
    run(one.store("type=probe temperature=1", ttl=2))
    kept = run(one.store("type=probe temperature=2", ttl=2))
    run(one.renew(kept.id, ttl=60))
    overlay.run_for(2.0)
    assert [match.id for match in run(one.retrieve("type=probe").all())] == [kept.id]
    overlay.run_for(60.0)
    assert run(one.retrieve("type=probe").all()) == []
    assert all(peer.core.state().data == 0 for peer in overlay.peers)


def test_an_interest_that_nobody_renews_runs_out_and_its_watch_hears(
    overlay: Overlay, run: Run, one: Client, other: Client
) -> None:
    watch = run(one.notify_interest("type=lamp temperature=* humidity=*"))
    interest = run(other.notify_data("type=lamp", ttl=3, keep_alive=False))
    assert run(watch.recv(timeout=1)).kind == "appeared"
    overlay.run_for(5.0)
    assert run(watch.recv(timeout=1)).kind == "gone"
    assert not watch.active
    assert interest.state == "expired"


def test_renewed_interests_are_silent_to_watches(
    overlay: Overlay, run: Run, one: Client, other: Client
) -> None:
    watch = run(one.notify_interest("type=lamp temperature=* humidity=*", ttl=6))
    run(other.notify_data("type=lamp", ttl=3))
    assert run(watch.recv(timeout=1)).kind == "appeared"
    overlay.run_for(20.0)
    silent(run, watch)
    assert watch.active


def test_own_data_matches_own_interest(run: Run, one: Client) -> None:
    """Rule 36."""
    interest = run(one.notify_data("type=probe"))
    run(one.store("type=probe temperature=3"))
    assert run(interest.recv(timeout=1)).kind == "match"


def test_a_deleted_id_stays_deleted(run: Run, one: Client) -> None:
    receipt = run(one.store("type=probe temperature=3", id="probe-3"))
    run(one.cancel(receipt.id))
    with pytest.raises(Refused) as refused:
        run(one.store("type=probe temperature=3", id="probe-3"))
    assert refused.value.rule == "deleted"


def test_the_same_id_again_replaces(run: Run, one: Client, other: Client) -> None:
    """Rule 37, at the same place of the space."""
    run(one.store("type=probe temperature=3", b"1", id="probe-3"))
    run(one.store("type=probe temperature=3", b"2", id="probe-3"))
    (match,) = run(other.retrieve("type=probe").all())
    assert match.data == b"2"


def test_safety_rules(run: Run, one: Client) -> None:
    for selector in ("type=*", "type=* temperature=*"):
        with pytest.raises(Refused) as refused:
            run(one.retrieve(selector).all())
        assert refused.value.rule == "everywhere"
        with pytest.raises(Refused):
            run(one.delete_data(selector))
    assert run(one.retrieve("type=*", everywhere=True).all()) == []
    with pytest.raises(ProfileError, match="temperature"):
        run(one.store("tempreture=3"))
    run(one.store(profile({"type": "a*b (c) | d=e", "temperature": 5})))
    assert len(run(one.retrieve(profile({"type": "a*b (c) | d=e"})).all())) == 1


def test_the_arc_of_a_crashed_peer_is_reported_missing() -> None:
    """One copy: what a crashed peer held is gone, and every answer about its arc says so, while
    new posts to the arc are taken and found."""
    overlay = Overlay(12, space=SPACE, seed=3, copies=1)
    run, one = overlay.run, overlay.client(peer=0)
    drawn = {}
    for number in range(60):
        receipt = run(one.store(f"type=probe temperature={number} humidity={number}"))
        drawn[receipt.id] = number
    victim = max(overlay.peers[1:], key=lambda peer: peer.core.state().data)
    lost = {r.id for r in victim.core.shelf.store.records()}
    assert lost
    victim.crash()
    overlay.run_for(10.0)
    with pytest.raises(Incomplete) as incomplete:
        run(one.retrieve("type=probe").all())
    assert {match.id for match in incomplete.value.matches} == set(drawn) - lost
    arcs = victim.core.holdings.held
    for first, last in incomplete.value.missing:
        assert any(a <= first and last <= z for a, z in arcs)
    number = drawn[min(lost)]
    again = run(one.store(f"type=probe temperature={number} humidity={number}", b"again"))
    assert again.complete
    matches = run(one.retrieve(f"type=probe temperature={number}", allow_partial=True).all())
    assert b"again" in [match.data for match in matches]
