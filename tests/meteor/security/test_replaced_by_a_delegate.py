"""Who may only replace in somebody's name deletes nothing by that, and learns nothing.

A replace carries a document, whose action is its sender's to choose: a delete in it was carried
out, and an interest in it told the delegate all that the owner may see.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arms import Profile
from meteor import ActingFor, Client, MeteorError, ProfileError, Refused
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document, PostReply
from meteor.wire.record_id import stem_of
from sim.clock import EPOCH_S
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.copies_world import build, primary_of
from tests.meteor.security.signers import ALICE, BOB

LATER = datetime.fromtimestamp(EPOCH_S + 3600, UTC)
A = "type=light temperature=20"


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(peers=5, space=SPACE, seed=3)


def delegate(overlay: Overlay, *actions: str, selector: str = "") -> Client:
    words = ALICE.delegate(BOB.key, actions, until=LATER, selector=selector)
    return overlay.client(peer=2, identity=ActingFor(BOB, words))


def replace_by(
    overlay: Overlay, client: Client, full_id: str, action: str, selector: str
) -> PostReply:
    """As a client of one's own making would say it."""
    packed = pack_profile(Profile.parse(selector).typed(SPACE))
    document = encode_document(Document(action, packed))
    session = client._session
    return overlay.run(session.amend("replace", full_id, 5.0, ttl_s=60.0, document=document))


@pytest.mark.parametrize("action", ["delete_data", "delete_interest", "average"])
def test_nothing_is_deleted_by_a_replace(overlay: Overlay, action: str) -> None:
    alice = overlay.client(identity=ALICE)
    full_id = overlay.run(alice.store(A, b"1")).id
    overlay.run(alice.store("type=light temperature=30", b"2"))
    interest = overlay.run(alice.notify_data("type=light temperature>=90"))
    for client in (delegate(overlay, "replace"), alice):
        with pytest.raises(ProfileError, match="takes the place of nothing"):
            replace_by(overlay, client, full_id, action, "type=light")
    found = overlay.run(alice.retrieve("type=light").all())
    assert sorted(match.data for match in found) == [b"1", b"2"]
    overlay.run(alice.store("type=light temperature=99", b"hot"))
    assert overlay.run(interest.recv(timeout=5)).data == b"hot"


@pytest.mark.parametrize("action", ["retrieve", "notify_data", "notify_interest"])
def test_nothing_is_asked_by_a_replace(overlay: Overlay, action: str) -> None:
    alice, bob = overlay.client(identity=ALICE), delegate(overlay, "replace", "store")
    full_id = overlay.run(alice.store(A, b"1")).id
    overlay.run(alice.store("type=siren temperature=20", b"secret", visible_to=[ALICE.key]))
    with pytest.raises(Refused, match=f"not for a replace by {action}") as refused:
        replace_by(overlay, bob, full_id, action, "type=siren temperature=*")
    assert refused.value.rule == "delegation"
    assert overlay.peers[2].core.gatekeeper.denials == {"delegation": 1}
    assert [match.data for match in overlay.run(alice.retrieve("type=light").all())] == [b"1"]


def test_who_may_ask_replaces_what_asks(overlay: Overlay) -> None:
    alice, bob = overlay.client(identity=ALICE), delegate(overlay, "replace", "notify_data")
    interest = overlay.run(bob.notify_data("type=light"))
    overlay.run(bob.replace(interest.id, "type=siren", b""))
    overlay.run(alice.store("type=siren temperature=20", b"2", visible_to=[ALICE.key]))
    assert overlay.run(interest.recv(timeout=5)).data == b"2"


@pytest.mark.parametrize("seed", range(1, 12))
def test_what_lies_beyond_the_delegation_stays(seed: int) -> None:
    """The peer that kept it was a copy of the new place, too, and had the new one by then, which
    the delegation is for; or it was refused, and the copies had it as deleted."""
    overlay = build(seed, peers=5)
    alice = overlay.client(identity=ALICE)
    bob = delegate(overlay, "replace", selector="type=siren")
    full_id = overlay.run(alice.store("type=light temperature=25", b"hers")).id
    siren = overlay.run(alice.store("type=siren temperature=80", b"a siren")).id
    stem, region = stem_of(full_id), siren.partition(".")[2]
    for named in (full_id, f"{stem}.{region}", f"unheard-of.{region}"):
        with pytest.raises(Refused, match=f"^replace of {stem_of(named)}") as refused:
            overlay.run(bob.replace(named, "type=siren temperature=80", b"his"))
        assert refused.value.rule == "delegation"
    holder = primary_of(overlay, full_id)
    entry = next(at for at, peer in enumerate(overlay.peers) if peer is not holder)
    holder.crash()
    overlay.run(until=overlay.kernel.now() + 15.0)
    again = overlay.client(peer=entry, identity=ALICE)
    found = overlay.run(again.retrieve("type=light", timeout=30).all())
    assert [match.data for match in found] == [b"hers"]


def test_what_the_delegation_is_for_is_replaced_as_often_as_asked(overlay: Overlay) -> None:
    alice = overlay.client(identity=ALICE)
    bob = delegate(overlay, "replace", selector="type=siren")
    first = overlay.run(alice.store("type=siren temperature=80", b"1")).id
    for data in (b"2", b"3"):  # by its first id, from where it went on
        overlay.run(bob.replace(first, f"type=siren temperature={data.decode()}", data))
    (match,) = overlay.run(alice.retrieve("type=siren").all())
    assert match.data == b"3"


def test_where_nobody_can_tell_nothing_is_replaced(overlay: Overlay) -> None:
    alice = overlay.client(identity=ALICE)
    bob = delegate(overlay, "replace", selector="type=siren")
    full_id = overlay.run(alice.store("type=siren temperature=80", b"1")).id
    with pytest.raises(MeteorError):
        overlay.run(bob.replace(full_id, "type=siren temperature=81", b"2", timeout=0.0))
    overlay.run(until=overlay.kernel.now() + 5.0)
    (match,) = overlay.run(alice.retrieve("type=siren").all())
    assert match.data == b"1"
