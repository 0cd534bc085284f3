"""Ownership in an overlay: who may delete, renew and replace what, wherever it went meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from meteor import ActingFor, Client, LocalOverlay, MeteorError, Refused
from meteor.wire.messages import Acknowledge
from sim.clock import EPOCH_S
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE, BOB, CAROL

A = "type=light temperature=20"
LATER = datetime.fromtimestamp(EPOCH_S + 3600, UTC)


def world(peers: int = 5, **options: object) -> Overlay:
    return Overlay(peers=peers, space=SPACE, seed=3, **options)  # type: ignore[arg-type]


def data_of(overlay: Overlay, client: Client, selector: str = "type=light") -> list[bytes]:
    return sorted(match.data for match in overlay.run(client.retrieve(selector).all()))


def test_what_is_signed_is_owned() -> None:
    overlay = world()
    alice = overlay.client(identity=ALICE)
    overlay.run(alice.store(A, b"hers"))
    (match,) = overlay.run(overlay.client(peer=2).retrieve("type=light").all())
    assert match.owner == ALICE.key


def test_nobody_else_deletes_renews_or_replaces_it() -> None:
    overlay = world()
    alice, bob = overlay.client(identity=ALICE), overlay.client(peer=2, identity=BOB)
    nobody = overlay.client(peer=3)
    full_id = overlay.run(alice.store(A, b"hers")).id
    for other in (bob, nobody):
        for attempt in (
            lambda other=other: other.cancel(full_id),
            lambda other=other: other.renew(full_id, ttl=9),
            lambda other=other: other.replace(full_id, "type=light temperature=90", b"his"),
        ):
            with pytest.raises(Refused) as refused:
                overlay.run(attempt())
            assert refused.value.rule == "owner"
        assert overlay.run(other.delete_data("type=light")).matches == 0
        assert overlay.run(other.delete_data("type=light", mode="overlap")).matches == 0
    for entry in (2, 3):
        assert overlay.peers[entry].core.gatekeeper.denials == {"owner": 3}
    assert data_of(overlay, nobody) == [b"hers"]
    assert overlay.run(alice.renew(full_id, ttl=900)).matches == 1
    moved = overlay.run(alice.replace(full_id, "type=light temperature=90", b"new")).id
    assert overlay.run(alice.cancel(moved)).matches == 1
    assert data_of(overlay, nobody) == []


def test_what_nobody_owns_everybody_may_touch() -> None:
    overlay = world()
    alice, nobody = overlay.client(identity=ALICE), overlay.client(peer=2)
    first = overlay.run(nobody.store(A, b"1")).id
    second = overlay.run(nobody.store(A, b"2")).id
    third = overlay.run(nobody.store(A, b"3")).id
    assert overlay.run(alice.renew(first, ttl=9)).matches == 1
    assert overlay.run(alice.cancel(first)).matches == 1
    assert overlay.run(alice.replace(second, "type=light temperature=99", b"hers")).complete
    assert data_of(overlay, nobody) == [b"3", b"hers"]
    assert overlay.run(alice.delete_data("type=light")).matches == 1  # her own alone
    assert overlay.run(overlay.client(peer=1).cancel(third)).matches == 1
    assert data_of(overlay, nobody) == []


def test_two_owners_of_one_name_do_not_meet() -> None:
    overlay = world()
    alice, bob = overlay.client(identity=ALICE), overlay.client(peer=2, identity=BOB)
    interest = overlay.run(overlay.client(peer=1).notify_data("type=light"))
    overlay.run(alice.store(A, b"hers", id="lamp"))
    overlay.run(bob.store(A, b"his", id="lamp"))
    assert data_of(overlay, bob) == [b"hers", b"his"]
    told = [overlay.run(interest.recv(timeout=5)).data for _ in range(2)]
    assert sorted(told) == [b"hers", b"his"]
    assert overlay.run(bob.delete_data("type=light")).matches == 1
    assert data_of(overlay, bob) == [b"hers"]


def test_interests_of_one_name_are_told_apart() -> None:
    overlay = world()
    alice, bob = overlay.client(identity=ALICE), overlay.client(peer=2, identity=BOB)
    hers = overlay.run(alice.notify_data("type=light", id="mine"))
    his = overlay.run(bob.notify_data("type=light", id="mine"))
    overlay.run(overlay.client(peer=3).store(A, b"x"))
    assert overlay.run(hers.recv(timeout=5)).data == b"x"
    assert overlay.run(his.recv(timeout=5)).data == b"x"
    overlay.run(hers.close())
    overlay.run(overlay.client(peer=3).store(A, b"y"))
    assert overlay.run(his.recv(timeout=5)).data == b"y"


def test_owners_stay_through_joins_departures_and_crashes() -> None:
    overlay = world(peers=4)
    alice, bob = overlay.client(identity=ALICE), overlay.client(peer=2, identity=BOB)
    ids = [
        overlay.run(alice.store({"type": "light", "temperature": t}, b"%d" % t)).id
        for t in range(-30, 120, 10)
    ]
    overlay.run(overlay.add_peer())
    overlay.run(overlay.peers[3].leave())
    overlay.peers[1].crash()
    overlay.run(until=overlay.kernel.now() + 20.0)
    with pytest.raises(Refused, match="somebody else's"):
        overlay.run(bob.cancel(ids[0], timeout=30))
    assert overlay.run(bob.delete_data("type=light", timeout=30)).matches == 0
    matches = overlay.run(bob.retrieve("type=light", timeout=30).all())
    assert {match.owner for match in matches} == {ALICE.key}
    assert overlay.run(alice.delete_data("type=light", timeout=30)).matches == len(ids)


def test_a_restarted_peer_knows_the_owners() -> None:
    overlay = world(peers=1)
    alice = overlay.client(identity=ALICE)
    full_id = overlay.run(alice.store(A, b"hers", visible_to=[])).id
    overlay.peers[0].crash()
    overlay.run(overlay.restart(overlay.peers[0]))
    bob, again = overlay.client(identity=BOB), overlay.client(identity=ALICE)
    assert data_of(overlay, bob) == []
    assert overlay.run(bob.cancel(full_id)).matches == 0
    assert data_of(overlay, again) == [b"hers"]
    assert overlay.run(again.cancel(full_id)).matches == 1


# -- delegation


def acting(*actions: str, selector: str = "", until: datetime = LATER) -> ActingFor:
    return ActingFor(BOB, ALICE.delegate(BOB.key, actions, until=until, selector=selector))


def test_a_delegate_does_what_he_was_let() -> None:
    overlay = world()
    alice = overlay.client(identity=ALICE)
    full_id = overlay.run(alice.store(A, b"hers")).id
    bob = overlay.client(peer=2, identity=acting("renew", "delete_data", "replace"))
    assert overlay.run(bob.renew(full_id, ttl=900)).matches == 1
    full_id = overlay.run(bob.replace(full_id, "type=light temperature=30", b"his")).id
    (match,) = overlay.run(overlay.client().retrieve("type=light").all())
    assert (match.data, match.owner) == (b"his", ALICE.key)
    with pytest.raises(Refused, match="not for cancel") as refused:
        overlay.run(bob.cancel(full_id))
    assert refused.value.rule == "delegation"
    assert overlay.run(bob.delete_data("type=light")).matches == 1


def test_a_delegation_ends() -> None:
    overlay = world()
    full_id = overlay.run(overlay.client(identity=ALICE).store(A, b"hers", ttl=86_400)).id
    soon = datetime.fromtimestamp(EPOCH_S + 60, UTC)
    bob = overlay.client(identity=acting("renew", until=soon))
    assert overlay.run(bob.renew(full_id, ttl=86_400)).matches == 1
    overlay.run(until=overlay.kernel.now() + 61)
    with pytest.raises(Refused, match="ended"):
        overlay.run(bob.renew(full_id))


def test_what_a_delegate_keeps_open_is_ended_by_its_owner() -> None:
    """It outlives the delegation, as docs/security.md says, and not the owner's delete."""
    overlay = world()
    alice = overlay.client(identity=ALICE)
    soon = datetime.fromtimestamp(EPOCH_S + 60, UTC)
    bob = overlay.client(peer=1, identity=acting("notify_data", until=soon))
    interest = overlay.run(bob.notify_data("type=light", ttl=86_400))
    overlay.run(until=overlay.kernel.now() + 61)
    overlay.run(alice.store(A, b"for Alice alone", visible_to=[ALICE.key]))
    assert overlay.run(interest.recv(timeout=5)).data == b"for Alice alone"
    assert overlay.run(alice.delete_interest("type=light")).matches == 1
    overlay.run(alice.store(A, b"later", visible_to=[ALICE.key], id="later"))
    with pytest.raises(MeteorError):
        overlay.run(interest.recv(timeout=5))


def test_a_delegation_is_for_what_lies_within_its_selector() -> None:
    overlay = world()
    alice = overlay.client(identity=ALICE)
    cold = overlay.run(alice.store("type=light temperature=5", b"cold")).id
    warm = overlay.run(alice.store("type=light temperature=25", b"warm")).id
    bob = overlay.client(
        peer=1,
        identity=acting("cancel", "delete_data", "store", selector="type=light temperature<=10"),
    )
    with pytest.raises(Refused) as refused:
        overlay.run(bob.cancel(warm))
    assert refused.value.rule == "delegation"
    with pytest.raises(Refused, match="lies within"):
        overlay.run(bob.delete_data("type=light"))
    with pytest.raises(Refused, match="lies within"):
        overlay.run(bob.store("type=light temperature=11", b"x"))
    for text in ("type=light type=siren temperature=5", "type=light temperature=5 temperature=99"):
        with pytest.raises(Refused, match="lies within"):
            overlay.run(bob.store(text, b"found elsewhere too"))
    assert overlay.run(bob.cancel(cold)).matches == 1
    assert data_of(overlay, alice) == [b"warm"]


def test_a_delegation_for_another_key_is_none() -> None:
    overlay = world()
    full_id = overlay.run(overlay.client(identity=ALICE).store(A, b"hers")).id
    stolen = acting("cancel")
    object.__setattr__(stolen, "signer", CAROL)
    with pytest.raises(Refused) as refused:
        overlay.run(overlay.client(identity=stolen).cancel(full_id))
    assert refused.value.rule == "delegation"


# -- in real time


async def test_identities_on_an_event_loop() -> None:
    async with LocalOverlay(peers=3, space=SPACE) as overlay:
        alice = await overlay.connect(identity=ALICE)
        bob = await overlay.connect(peer=1, identity=BOB)
        receipt = await alice.store(A, b"hers", visible_to=[BOB.key])
        assert [match.data for match in await bob.retrieve("type=light")] == [b"hers"]
        assert await (await overlay.connect(peer=2)).retrieve("type=light") == []
        with pytest.raises(Refused, match="somebody else's"):
            await bob.cancel(receipt.id)
        assert (await alice.cancel(receipt.id)).matches == 1


# -- interests that somebody owns


def test_an_interest_is_taken_up_by_its_owner_alone() -> None:
    overlay = world()
    alice, again = overlay.client(identity=ALICE), overlay.client(peer=1, identity=ALICE)
    bob = overlay.client(peer=2, identity=BOB)
    for audience, rule in ((None, "owner"), ([], "unknown")):
        interest = overlay.run(alice.notify_data("type=light", visible_to=audience))
        full_id = overlay.run(interest.detach())
        for other in (bob, overlay.client(peer=3)):
            with pytest.raises(Refused) as refused:
                overlay.run(other.attach(full_id))
            assert refused.value.rule == rule
        taken = overlay.run(again.attach(full_id))
        overlay.run(bob.store(A, b"x", ttl=5))
        assert overlay.run(taken.recv(timeout=5)).data == b"x"
        overlay.run(taken.replace("type=dark"))
        overlay.run(bob.store("type=dark temperature=1", b"y", ttl=5))
        assert overlay.run(taken.recv(timeout=5)).data == b"y"
        overlay.run(taken.close())
        overlay.run(until=overlay.kernel.now() + 10)


@pytest.mark.parametrize("seed", range(1, 4))
def test_an_owned_interest_is_told_once_whoever_dies(seed: int) -> None:
    """Watermarks travel with the owner: heirs tell what was not acknowledged, and that alone."""
    print(f"seed {seed}")
    overlay = Overlay(peers=6, space=SPACE, seed=seed)
    alice, sensor = overlay.client(identity=ALICE), overlay.client(peer=1, identity=BOB)
    came: list[bytes] = []
    overlay.run(
        alice.notify_data(
            "type=light", handler=lambda told: came.append(told.data), id="mine", visible_to=[]
        )
    )
    number = 0
    for victim in (5, 3):
        for _ in range(5):
            number += 1
            temperature = (number * 37) % 150 - 30
            overlay.run(
                sensor.store(
                    {"type": "light", "temperature": temperature}, b"%d" % number, timeout=30,
                    visible_to=[ALICE.key],
                )
            )  # fmt: skip
        overlay.peers[victim].crash()
        overlay.run(until=overlay.kernel.now() + 10)
    overlay.run(until=overlay.kernel.now() + 45)
    assert sorted(came, key=int) == [b"%d" % one for one in range(1, number + 1)]


def test_nobody_acknowledges_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    overlay = world(peers=2)
    alice, mallory = overlay.client(identity=ALICE), overlay.client(peer=1)
    monkeypatch.setattr(alice._session, "_acknowledge", lambda: None)
    interest = overlay.run(alice.notify_data("type=light", id="mine"))
    overlay.run(mallory.store(A, b"x", id="data"))
    overlay.run(interest.recv(timeout=5))
    holders = [peer.core.telling for peer in overlay.peers if peer.core.telling.waiting]
    assert holders
    (match,) = overlay.run(mallory.retrieve("type=light").all())
    for peer in overlay.peers:
        for client in (alice, mallory):
            for owner in ("", ALICE.key):
                ids = (f"mine:data:{match.version}",)
                told = Acknowledge(
                    "mine", ids, peer.contact, owner, int(client._runtime.contact.id)
                )
                mallory._runtime.send(overlay.peers[1].contact, told)
    overlay.run(until=overlay.kernel.now() + 0.5)
    assert all(telling.waiting for telling in holders)
