"""Identities and delegations: their files, their texts, and what is no such thing."""

from __future__ import annotations

import base64
import os
import pickle
import stat
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from hypothesis import given
from hypothesis import strategies as st

from meteor import ActingFor, Delegation, Identity, IdentityError, LimitExceeded, ProfileError
from meteor.cli import main
from meteor.security.delegation import ACTIONS_MAX, SELECTOR_LENGTH_MAX, check_delegation
from meteor.security.keys import key_bytes, key_text
from tests.meteor.security.signers import ALICE, BOB, CAROL

UNTIL = datetime(2030, 1, 1, tzinfo=UTC)
PEM, PKCS8, PLAIN = (
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.NoEncryption(),
)


def is_signed_by(key: str, signature: bytes, statement: bytes) -> bool:
    """The oracle: the package itself."""
    public = ed25519.Ed25519PublicKey.from_public_bytes(key_bytes(key))
    try:
        public.verify(signature, statement)
    except Exception:
        return False
    return True


@given(st.binary(min_size=32, max_size=32))
def test_a_key_has_one_text(raw: bytes) -> None:
    text = key_text(raw)
    assert key_bytes(text) == raw
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for last in alphabet:
        other = text[:-1] + last
        if other != text:
            try:
                assert key_bytes(other) != raw
            except ProfileError:
                continue


@given(st.text(max_size=60) | st.text(max_size=43).map("ed25519:".__add__))
def test_what_is_no_key_is_refused(text: str) -> None:
    try:
        raw = key_bytes(text)
    except ProfileError:
        return
    assert key_text(raw) == text


def test_an_identity_comes_back_from_its_file(tmp_path: Path) -> None:
    made = Identity.generate()
    made.save(tmp_path / "id.pem")
    assert stat.S_IMODE((tmp_path / "id.pem").stat().st_mode) == 0o600
    again = Identity.load(tmp_path / "id.pem")
    assert again.key == made.key
    assert is_signed_by(made.key, again.sign(b"x"), b"x")
    assert not is_signed_by(made.key, again.sign(b"x"), b"y")
    with pytest.raises(FileExistsError):
        Identity.generate().save(tmp_path / "id.pem")
    assert Identity.load(tmp_path / "id.pem").key == made.key


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "id.pem"
    ALICE.save(path)
    for mode in (0o640, 0o604, 0o660, 0o777):
        path.chmod(mode)
        with pytest.raises(IdentityError, match="others may read") as refused:
            Identity.load(path)
        assert refused.value.path == str(path)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"rubbish",
        ec.generate_private_key(ec.SECP256R1()).private_bytes(PEM, PKCS8, PLAIN),
        ed25519.Ed25519PrivateKey.generate().private_bytes(
            PEM, PKCS8, serialization.BestAvailableEncryption(b"secret")
        ),
        ed25519.Ed25519PrivateKey.generate()
        .public_key()
        .public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
    ],
    ids=["empty", "rubbish", "another curve", "encrypted", "public"],  # keys are drawn anew
)
def test_what_holds_no_identity_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "id.pem"
    path.write_bytes(text)
    path.chmod(0o600)
    with pytest.raises(IdentityError, match="meteor keygen") as refused:
        Identity.load(path)
    assert pickle.loads(pickle.dumps(refused.value)).args == refused.value.args


def test_a_secret_is_neither_shown_nor_pickled() -> None:
    assert repr(ALICE) == f"<meteor.Identity {ALICE.key}>"
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(ALICE)
    with pytest.raises(ValueError, match="32"):
        Identity.from_seed(b"short")


def test_keygen_makes_one_and_never_writes_over_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "id.pem"
    assert main(["keygen", str(path)]) == 0
    key = capsys.readouterr().out.strip()
    assert Identity.load(path).key == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert main(["keygen", str(path)]) == 2
    assert "written over" in capsys.readouterr().err
    assert main(["keygen", str(path), "--show", "--json"]) == 0
    assert key in capsys.readouterr().out
    assert main(["keygen", str(tmp_path / "none.pem"), "--show"]) == 2
    os.chmod(path, 0o644)
    assert main(["keygen", str(path), "--show"]) == 2


# -- delegations


def test_a_delegation_is_text_that_its_owner_signed() -> None:
    given_ = ALICE.delegate(BOB.key, ["renew", "cancel", "renew"], until=UNTIL, selector="type=a")
    assert given_.actions == ("cancel", "renew")
    assert is_signed_by(ALICE.key, given_.signature, given_.statement)
    assert Delegation.from_json(given_.to_json()) == given_
    acting = ActingFor(BOB, given_)
    assert acting.key == BOB.key
    assert is_signed_by(BOB.key, acting.sign(b"x"), b"x")
    with pytest.raises(ProfileError, match="not for"):
        ActingFor(CAROL, given_)


@given(
    st.lists(st.sampled_from(["renew", "cancel", "store"]), min_size=1),
    st.datetimes(datetime(2001, 1, 1), datetime(2100, 1, 1)),
    st.sampled_from(["", "type=a", 'type="a\n\nexpires 9"']),
)
def test_no_two_delegations_have_one_statement(
    actions: list[str], until: datetime, selector: str
) -> None:
    one = ALICE.delegate(BOB.key, actions, until=until.replace(tzinfo=UTC), selector=selector)
    for other in (
        replace(one, delegate=CAROL.key),
        replace(one, owner=CAROL.key),
        replace(one, actions=(*one.actions, "zzz")),
        replace(one, expires_ms=one.expires_ms + 1),
        replace(one, selector=one.selector + " "),
    ):
        assert other.statement != one.statement
        assert not is_signed_by(one.owner, one.signature, other.statement)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"owner": "nobody"}, ProfileError),
        ({"delegate": ALICE.key}, ProfileError),
        ({"actions": ()}, ProfileError),
        ({"actions": ("b", "a")}, ProfileError),
        ({"actions": ("a,b",)}, ProfileError),
        ({"actions": ("a\nfor x",)}, ProfileError),
        ({"actions": tuple(f"a{n:03}" for n in range(ACTIONS_MAX + 1))}, LimitExceeded),
        ({"selector": "x" * (SELECTOR_LENGTH_MAX + 1)}, LimitExceeded),
        ({"expires_ms": True}, ProfileError),
    ],
)
def test_a_malformed_delegation_is_refused(
    changes: dict[str, object], error: type[Exception]
) -> None:
    good = ALICE.delegate(BOB.key, ["renew"], until=UNTIL)
    with pytest.raises(error):
        check_delegation(replace(good, **changes))  # type: ignore[arg-type]


def test_bad_input_to_delegate_is_refused() -> None:
    with pytest.raises(TypeError, match="list"):
        ALICE.delegate(BOB.key, "renew", until=UNTIL)
    with pytest.raises(ValueError, match="time zone"):
        ALICE.delegate(BOB.key, ["renew"], until=datetime(2030, 1, 1))
    with pytest.raises(ValueError, match="a"):
        ALICE.delegate(BOB.key, ["renew"], until=UNTIL, selector="a=")


@given(st.text(max_size=80) | st.just(base64.b64encode(b"{}").decode()))
def test_what_is_no_delegation_is_refused(text: str) -> None:
    with pytest.raises(ProfileError):
        Delegation.from_json(text)


@pytest.mark.parametrize("name", ["owner", "delegate", "actions", "expires_ms", "signature"])
def test_a_delegation_without_a_part_is_refused(name: str) -> None:
    text = ALICE.delegate(BOB.key, ["renew"], until=UNTIL).to_json()
    with pytest.raises(ProfileError):
        Delegation.from_json(text.replace(f'"{name}"', '"other"'))
