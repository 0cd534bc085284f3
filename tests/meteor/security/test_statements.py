"""What is signed: no two requests have one statement, and hostile credentials are only refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meteor import MeteorError, ProfileError
from meteor.client.draft import typed_profile
from meteor.rest.signed import request_statement
from meteor.security.credentials import Request, signed, statement_of
from meteor.security.delegation import Delegation
from meteor.security.gatekeeper import Gatekeeper
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Amend, Credentials, Document, Forget, Post
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE, BOB, CAROL

NOW_S = 1_800_000_000.0
NAMES = st.sampled_from(["a", "a.b", "post", "id a", "1"])
BLOBS = st.sampled_from([b"", b"\n", b"\n\n", b"x", b"for \n\nx"])
NUMBERS = st.sampled_from([0, 1, 11])
POSTS = st.builds(
    Post, token=NUMBERS, document=BLOBS, stem=NAMES, version=NUMBERS,
    ttl_s=st.sampled_from([0.0, 1.0, 11.0]), timeout_s=st.just(1.0), everywhere=st.booleans(),
    mode=st.sampled_from(["within", "overlap"]), dry_run=st.booleans(),
)  # fmt: skip
AMENDS = st.builds(
    Amend, token=NUMBERS, verb=st.sampled_from(["post", "renew", "cancel"]), id=NAMES,
    version=NUMBERS, ttl_s=st.sampled_from([0.0, 1.0]), timeout_s=st.just(1.0), document=BLOBS,
)  # fmt: skip
FORGETS = st.builds(
    Forget, st.lists(st.tuples(NUMBERS, NUMBERS), max_size=3).map(tuple)
)  # fmt: skip
DELEGATIONS = st.sampled_from(
    [None, Delegation(BOB.key, ALICE.key, ("a",), 1), Delegation(CAROL.key, ALICE.key, ("a",), 1)]
)
CREDENTIALS = st.builds(Credentials, st.just(ALICE.key), st.just(b""), NUMBERS, DELEGATIONS)
SAID = st.tuples(POSTS | AMENDS | FORGETS, CREDENTIALS, st.sampled_from([b"", b"\x00", b"\xff"]))


def meaning(said: tuple[Any, Credentials, bytes]) -> tuple[object, ...]:
    """All that must be different for a statement to be; the token and the patience need not."""
    request, credentials, digest = said
    if not isinstance(request, Forget):
        request = replace(request, token=0)
        delegation = credentials.delegation
        return request, credentials.issued_ms, delegation and delegation.owner, digest
    return request, credentials.issued_ms, digest


@given(SAID, SAID)
def test_no_two_requests_have_one_statement(
    one: tuple[Request, Credentials, bytes], other: tuple[Request, Credentials, bytes]
) -> None:
    assert (statement_of(*one) == statement_of(*other)) == (meaning(one) == meaning(other))


@given(
    *[
        st.tuples(
            st.sampled_from([b"", b"\x00", b"\xff"]), st.sampled_from(["GET", "POST"]),
            st.sampled_from(["/", "/a?b=1", "/a?b=11", "/ü", "/\udcff"]),
            st.sampled_from(["", "type", "text/plain", "ü", "\udcc3", "\udcc3\udcbd"]),
            NUMBERS, NUMBERS, BLOBS,
        )
    ] * 2
)  # fmt: skip
def test_no_two_http_requests_have_one_statement(one: Any, other: Any) -> None:
    assert (request_statement(*one) == request_statement(*other)) == (one == other)


@pytest.mark.parametrize(
    "request_",
    [
        Post(0, b"", "a\nb", 0, 0.0, 1.0),
        Post(0, b"", "ä", 0, 0.0, 1.0),
        Post(0, b"", "a", 0, 0.0, 1.0, mode="within dry_run"),
        Amend(0, "renew 1", "a", 0, 0.0, 1.0),
        Amend(0, "", "a", 0, 0.0, 1.0),
    ],
)
def test_what_could_be_read_in_two_ways_is_not_signed(request_: Request) -> None:
    with pytest.raises(ProfileError):
        statement_of(request_, Credentials(ALICE.key, b"", 0), b"")


def document(action: str = "store", **fields: Any) -> bytes:
    profile = pack_profile(typed_profile("type=light temperature=1", SPACE))
    return encode_document(Document(action, profile, **fields))


HOSTILE_KEYS = st.sampled_from([ALICE.key, "", "ed25519:", BOB.key, "x" * 10_000]) | st.text()
HOSTILE_DELEGATIONS = st.none() | st.builds(
    Delegation, HOSTILE_KEYS, HOSTILE_KEYS, st.lists(st.text(max_size=5)).map(tuple),
    st.integers(), st.text(max_size=9), st.binary(max_size=70),
)  # fmt: skip


@given(
    HOSTILE_KEYS,
    st.binary(max_size=70),
    st.integers(-(2**63), 2**63),
    HOSTILE_DELEGATIONS,
    st.booleans(),
)
def test_hostile_credentials_are_refused_and_nothing_else(
    key: str, signature: bytes, issued_ms: int, delegation: Delegation | None, posts: bool
) -> None:
    gatekeeper = Gatekeeper(SPACE, lambda: NOW_S)
    credentials = Credentials(key, signature, issued_ms, delegation)
    request: Any = (
        Post(0, document(), "a", 1, 1.0, 1.0, credentials=credentials)
        if posts
        else Amend(0, "cancel", "a.b", 1, 0.0, 1.0, credentials=credentials)
    )
    admit: Callable[[], object] = (
        (lambda: gatekeeper.admit_post(request, Document("store", b""), 0.0))
        if posts
        else (lambda: gatekeeper.admit_amend(request, None, 0.0))
    )
    with pytest.raises(MeteorError):
        admit()


@given(st.binary(max_size=70), HOSTILE_DELEGATIONS, st.integers(-400_000, 400_000))
def test_a_good_signature_under_a_bad_delegation_is_refused(
    signature: bytes, delegation: Delegation | None, late_ms: int
) -> None:
    """The delegate himself signs whatever his delegation claims."""
    gatekeeper = Gatekeeper(SPACE, lambda: NOW_S)
    bare = Amend(0, "cancel", "a.b", 1, 0.0, 1.0)
    issued_ms = int(NOW_S * 1000) + late_ms
    if delegation is None:
        good = signed(bare, ALICE, SPACE.digest, issued_ms)
    else:
        unsigned = Credentials(ALICE.key, b"", issued_ms, replace(delegation, signature=signature))
        statement = statement_of(bare, unsigned, SPACE.digest)
        good = replace(bare, credentials=replace(unsigned, signature=ALICE.sign(statement)))
    try:
        admitted = gatekeeper.admit_amend(good, None, 0.0)
    except MeteorError:
        assert delegation is not None or abs(late_ms) > 300_000
    else:
        assert delegation is None
        assert admitted.actor.owner == ALICE.key
