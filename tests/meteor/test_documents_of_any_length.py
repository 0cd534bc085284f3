"""A document has a length: what goes with its payload, too, which no client of ours makes long.

Claims of four megabytes were kept beside a payload of one at most.  A little more, and they fitted
into the frame of a post and into no share of it: who posted them heard nothing but that the answer
is incomplete, each time that he asked again.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from arms import Profile
from meteor import LimitExceeded
from meteor.admission import CONTEXT_LENGTH_MAX, REPLY_TO_LENGTH_MAX, check_document, place
from meteor.client.draft import Draft
from meteor.wire.codec import FRAME_BYTES_MAX
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document
from tests.meteor.building import SPACE
from tests.meteor.copies_world import build

PROFILE = Profile.parse("type=light temperature=25", SPACE)
BARE = Document("store", pack_profile(PROFILE), b"x")


@pytest.mark.parametrize("field", ["claims", "reply_to"])
@pytest.mark.parametrize("room", [120, 160, 200, 240, 280, 320, 1500, FRAME_BYTES_MAX // 2])
def test_what_fits_hardly_a_frame_is_refused(field: str, room: int) -> None:
    overlay = build(1, peers=5)
    text = "x" * (FRAME_BYTES_MAX - room - len(encode_document(BARE)) - 10)
    value = text if field == "reply_to" else (("a", text),)
    document = encode_document(replace(BARE, **{field: value}))
    region = place(PROFILE, "store", SPACE, everywhere=False)
    draft = Draft(
        action="store", profile=PROFILE, document=document, stem="long", region=region, version=1,
        ttl_s=60.0,
    )  # fmt: skip
    client = overlay.client(peer=2)
    with pytest.raises(LimitExceeded, match=f"{field} characters"):
        overlay.run(client._session.post(draft, 2.0))
    assert overlay.run(client.retrieve("type=light").all()) == []


def test_the_longest_are_taken() -> None:
    claims = (("a" * 32, "b" * (CONTEXT_LENGTH_MAX - 32)),)
    check_document(replace(BARE, claims=claims, reply_to="a" * REPLY_TO_LENGTH_MAX))
