"""Credentials: what goes with a post that is signed, and what exactly was signed.

Law of this file: pure.  A statement is text of one form, then the document as it is, byte for byte;
it names the ring's space, so that nothing signed for one ring is taken by another, and everything
that the poster decided: id, version, issue time, lifetime, how a delete selects (DESIGN section 4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from meteor.admission import MODES, check_ttl_ms
from meteor.described import described
from meteor.errors import ProfileError
from meteor.security.delegation import Delegation
from meteor.wire.messages import Amend, Credentials, Forget, Post
from meteor.wrong_values import said

Request = Post | Amend | Forget
RequestT = TypeVar("RequestT", bound=Request)


class Signer(Protocol):
    """Who signs what a client posts: an `Identity`, or one that acts for another's."""

    @property
    def key(self) -> str:
        """The public key."""

    def sign(self, statement: bytes) -> bytes:
        """The signature over these bytes."""


@described
@dataclass(frozen=True, slots=True)
class ActingFor:
    """An identity that posts, renews and deletes as a delegation's owner.

    Give it to `connect(identity=...)` like an identity."""

    signer: Signer
    """The delegate's identity."""
    delegation: Delegation
    """What the owner signed."""

    def __post_init__(self) -> None:
        if self.delegation.delegate != self.signer.key:
            raise ProfileError(
                f"this delegation is for {self.delegation.delegate}, not for {self.signer.key}"
            )

    @property
    def key(self) -> str:
        """The delegate's public key."""
        return self.signer.key

    def sign(self, statement: bytes) -> bytes:
        """The delegate's signature."""
        return self.signer.sign(statement)


def check_signer(signer: object) -> None:
    """Raises `TypeError` for what neither signs nor is None."""
    if signer is None:
        return
    if not isinstance(getattr(signer, "key", None), str) or not hasattr(signer, "sign"):
        raise TypeError(
            f"identity: give a meteor.Identity or ActingFor, not {said(signer)}; "
            "Identity.load(path) reads one"
        )


def owner_of(signer: Signer | None) -> str:
    """Whose is what this signer posts; empty for nobody's."""
    if signer is None:
        return ""
    return signer.delegation.owner if isinstance(signer, ActingFor) else signer.key


def signed(request: RequestT, signer: Signer, space_digest: bytes, issued_ms: int) -> RequestT:
    """The same request with the signer's credentials; raises `LimitExceeded` for its lifetime."""
    delegation = signer.delegation if isinstance(signer, ActingFor) else None
    bare = Credentials(signer.key, b"", issued_ms, delegation)
    signature = signer.sign(statement_of(request, bare, space_digest))
    return replace(request, credentials=replace(bare, signature=signature))


def statement_of(request: Request, credentials: Credentials, space_digest: bytes) -> bytes:
    """The bytes that are signed for a request; raises `ProfileError` for a mode that is none and
    `LimitExceeded` for a lifetime."""
    if isinstance(request, Forget):
        return _forget_statement(request, credentials, space_digest)
    if isinstance(request, Post):
        if request.mode not in MODES:
            raise ProfileError(f"mode {request.mode[:40]!r} is neither within nor overlap")
        flags = [("dry_run", request.dry_run), ("everywhere", request.everywhere)]
        how = " ".join([request.mode, *(name for name, is_set in flags if is_set)])
        verb, name = "post", request.stem
    else:
        how, verb, name = "id", request.verb, request.id
    if not (verb.isalpha() and name.isascii() and name.isprintable()):
        raise ProfileError(f"{verb[:40]!r} of {name[:80]!r} cannot be signed")
    owner = "" if credentials.delegation is None else credentials.delegation.owner
    head = (
        f"meteor {verb} 1\nspace {space_digest.hex()}\nid {name}\nversion {request.version}\n"
        f"issued {credentials.issued_ms}\nttl {check_ttl_ms(request.ttl_s)}\nhow {how}\n"
        f"for {owner}\n\n"
    )
    return head.encode() + request.document


def _forget_statement(request: Forget, credentials: Credentials, space_digest: bytes) -> bytes:
    intervals = "\n".join(f"{first} {last}" for first, last in request.intervals)
    return (
        f"meteor forget 1\nspace {space_digest.hex()}\nissued {credentials.issued_ms}\n\n"
        f"{intervals}"
    ).encode()
