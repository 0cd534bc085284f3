"""What was found good is remembered as a whole: no other division of its bytes passes for it."""

from __future__ import annotations

from itertools import combinations

import pytest

from meteor import ProfileError, Refused
from meteor.rest.signed import request_statement
from meteor.security.credentials import statement_of
from meteor.security.verifying import Verifier
from meteor.wire.messages import Credentials, Post
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE

NOW_S = 1_800_000_000.0
NOW_MS = int(NOW_S * 1000)


def test_what_stands_in_a_signed_body_is_not_signed_as_a_post() -> None:
    """Alice passes on by REST what somebody gave her: it holds the statement of a post."""
    verifier = Verifier(lambda: NOW_S)
    forged = Post(0, b"document", "stem", 1, 60.0, 1.0)
    post = statement_of(forged, Credentials(ALICE.key, b"", NOW_MS), SPACE.digest)
    path, body = "/profiles?profile=x", b"passed on\n" + post
    whole = request_statement(SPACE.digest, "POST", path, "", NOW_MS, 1, body)
    signature = ALICE.sign(whole)
    verifier.actor(Credentials(ALICE.key, signature, NOW_MS), whole, "")
    before = whole.removesuffix(post).removesuffix(b"\n")
    stretched = Credentials(ALICE.key, signature + b"\n" + before, NOW_MS)
    with pytest.raises(Refused, match="signature"):
        verifier.actor(stretched, post, "store")


def test_only_the_very_parts_pass() -> None:
    """Key, signature and statement are divided anew at every two ends of lines of all three."""
    verifier = Verifier(lambda: NOW_S)
    signature, statement = b"\n".join([b"signed"] * 8), b"\n" * 8
    verifier.vouch(ALICE.key, signature, statement)
    said = b"\n".join((ALICE.key.encode(), signature, statement))
    ends = [at for at, byte in enumerate(said) if byte == ord("\n")]
    passed = []
    for first, last in combinations(ends, 2):
        key, between, rest = said[:first].decode(), said[first + 1 : last], said[last + 1 :]
        try:
            verifier.actor(Credentials(key, between, NOW_MS), rest, "")
        except (Refused, ProfileError):
            continue
        passed.append((key, between, rest))
    assert passed == [(ALICE.key, signature, statement)]
