"""Who may only replace in somebody's name deletes nothing by that, and learns nothing.

A replace carries a document, whose action is its sender's to choose: a delete in it was carried
out, and an interest in it told the delegate all that the owner may see.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arms import Profile
from meteor import ActingFor, Client, ProfileError, Refused
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document, PostReply
from sim.clock import EPOCH_S
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE, BOB

LATER = datetime.fromtimestamp(EPOCH_S + 3600, UTC)
A = "type=light temperature=20"


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(peers=5, space=SPACE, seed=3)


def delegate(overlay: Overlay, *actions: str) -> Client:
    words = ALICE.delegate(BOB.key, actions, until=LATER)
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
