"""What a replace took away counts no more, whatever was put in its place, and for however long; nor
does what somebody took that was nobody's.
"""

from __future__ import annotations

import pytest

from arms import Profile
from meteor import Client, Refused
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE
from tests.meteor.security.test_policy_overlay import QUOTAS, refused_rule

A, B = "type=light temperature=20", "type=light temperature=30"
INTEREST = encode_document(Document("notify_data", pack_profile(Profile.parse(B).typed(SPACE))))


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(peers=3, space=SPACE, seed=4, policy=QUOTAS)


@pytest.fixture
def alice(overlay: Overlay) -> Client:
    return overlay.client(peer=1, identity=ALICE)


def assert_room_for_one(overlay: Overlay, alice: Client) -> None:
    overlay.run(alice.store(A, b"1", id="c"))
    assert refused_rule(overlay, alice.store(A, b"1", id="d")) == "few"


def test_data_that_makes_way_for_what_is_kept_no_time(overlay: Overlay, alice: Client) -> None:
    ids = [overlay.run(alice.store(A, b"1", id=name)).id for name in "ab"]
    assert overlay.run(alice.replace(ids[0], B, b"2", ttl=0)).complete
    assert_room_for_one(overlay, alice)


def test_data_that_makes_way_for_an_interest(overlay: Overlay, alice: Client) -> None:
    ids = [overlay.run(alice.store(A, b"1", id=name)).id for name in "ab"]
    asked = alice._session.amend("replace", ids[0], 5.0, ttl_s=60.0, document=INTEREST)
    assert overlay.run(asked).complete
    assert_room_for_one(overlay, alice)


def test_data_counts_on_where_nothing_takes_its_place(overlay: Overlay, alice: Client) -> None:
    ids = [overlay.run(alice.store(A, b"1", id=name)).id for name in "ab"]
    overlay.run(alice.notify_data("type=light"))
    with pytest.raises(Refused):  # one interest is all that her quota allows
        overlay.run(alice._session.amend("replace", ids[0], 5.0, ttl_s=60.0, document=INTEREST))
    assert refused_rule(overlay, alice.store(A, b"1", id="c")) == "few"


@pytest.mark.parametrize("verb", ["cancel", "replace"])
def test_what_somebody_takes_that_was_nobodys(overlay: Overlay, alice: Client, verb: str) -> None:
    nobody = overlay.client(peer=1)
    ids = [overlay.run(nobody.store(A, b"1", id=name)).id for name in "ab"]
    if verb == "cancel":
        assert overlay.run(alice.cancel(ids[0])).matches == 1
    else:
        assert overlay.run(alice.replace(ids[0], B, b"2")).complete
    assert_room_for_one(overlay, nobody)


def test_nobodys_counts_on_beside_somebodys_of_the_same_id(overlay: Overlay, alice: Client) -> None:
    """Else whoever makes himself a key had as much kept in nobody's name as he likes."""
    nobody, elsewhere = overlay.client(peer=1), overlay.client(peer=2, identity=ALICE)
    for name in "ab":
        overlay.run(nobody.store(A, b"1", id=name))
        assert overlay.run(alice.cancel(overlay.run(elsewhere.store(A, b"2", id=name)).id)).matches
    assert refused_rule(overlay, nobody.store(A, b"1", id="c")) == "few"
