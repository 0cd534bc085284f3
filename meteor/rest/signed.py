"""Requests that are signed: whose verbs a request of REST uses.

Law of this file: a request speaks for the key that signed it, or for nobody; never for the peer
that it came to.  What is signed is the ring's space, the method, the path with its query and the
media type as they were sent, the issue time, the version and the body: it is nobody's in another
ring, or as another media type.  Its signature is looked at once, here, and vouched for to the
peer's own door.  A repeat has the same id and version, so that it counts once (DESIGN section 4).

    Meteor-Key: ed25519:...        Meteor-Issued: <Unix milliseconds>
    Meteor-Signature: <base64>     Meteor-Version: <integer; if absent, 1000 times the issue time>
"""

from __future__ import annotations

import base64
import binascii
import secrets
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Final

from meteor.client.guest import Guest
from meteor.client.session import Session
from meteor.client.verbs import Verbs
from meteor.errors import Refused
from meteor.rest.call import Call
from meteor.security.keys import SIGNATURE_BYTES
from meteor.security.verifying import SIGNATURE, Verifier
from meteor.wire.messages import Credentials
from meteor.wire.record_id import new_stem

KEY: Final = "Meteor-Key"
SIGNED: Final = "Meteor-Signature"
ISSUED: Final = "Meteor-Issued"
VERSION: Final = "Meteor-Version"
HEADERS: Final = (KEY, SIGNED, ISSUED, VERSION)
_INTEGER_MAX: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class Vouched:
    """A signer for a key whose signature was looked at already.

    It signs with random bytes that the verifier was told of: nobody outside can guess them."""

    key: str
    verifier: Verifier

    def sign(self, statement: bytes) -> bytes:
        """Bytes that the verifier takes for a signature over the statement."""
        token = secrets.token_bytes(SIGNATURE_BYTES)
        self.verifier.vouch(self.key, token, statement)
        return token


class SpeakingVerbs(Verbs):
    """The verbs of whoever sent a request."""

    def __init__(self, session: Session) -> None:
        self._own = session

    def go_on(self) -> None:
        """What was signed is posted; an interest that came of it lives on."""
        self._own.go_on()

    @property
    def _session(self) -> Session:
        return self._own


async def verbs_of(verbs: Verbs, call: Call, *, standing: bool = False) -> Verbs:
    """The verbs in whose name a request comes, of those that speak for nobody; `standing` for what
    goes on after the request, such as a stream.

    Raises `Refused` (rules `signature`, `issue_time`), and as reading the body does."""
    headers = call.request.headers
    if not any(name in headers for name in HEADERS):
        return verbs
    assert isinstance(verbs, Guest), "only a peer's guests can give a name"
    gatekeeper, session = verbs.gatekeeper, verbs.session
    credentials, version = _read(call)
    request, digest, body = call.request, session.space.digest, await call.body()
    statement = request_statement(
        digest, request.method, request.raw_path, headers.get("Content-Type", ""),
        credentials.issued_ms, version, body,
    )  # fmt: skip
    with gatekeeper.counted():
        gatekeeper.verifier.actor(credentials, statement, "")
    signer = Vouched(credentials.key, gatekeeper.verifier)
    if standing:
        return SpeakingVerbs(session.speaking_for(signer))
    stem = new_stem(Random(sha256(credentials.signature).digest()))
    issued_s = credentials.issued_ms / 1000
    return SpeakingVerbs(
        session.speaking_for(signer, stem=stem, version=version, issued_s=issued_s)
    )


def credentials_of(call: Call) -> Credentials | None:
    """The credentials of a signed request, whose `verbs_of` were given; None for nobody's."""
    return _read(call)[0] if signer_of(call) else None


def signer_of(call: Call) -> str:
    """The key in whose name a request comes whose `verbs_of` were given; empty for nobody's."""
    return call.request.headers.get(KEY, "")


def request_statement(
    space_digest: bytes,
    method: str,
    raw_path: str,
    content_type: str,
    issued_ms: int,
    version: int,
    body: bytes,
) -> bytes:
    """The bytes that are signed for a request: `raw_path` is path and query as they are sent, and
    so is `content_type`, empty for none; both may have bytes that are no UTF-8."""
    head = (
        f"meteor request 2\nspace {space_digest.hex()}\n{method} {raw_path}\ntype {content_type}\n"
        f"issued {issued_ms}\nversion {version}\n\n"
    )
    return head.encode(errors="surrogateescape") + body


def _read(call: Call) -> tuple[Credentials, int]:
    """The credentials in the headers; raises `Refused`."""
    headers = call.request.headers
    try:
        signature = base64.b64decode(headers.get(SIGNED, ""), validate=True)
        issued_ms = _integer(headers.get(ISSUED, ""))
        version = _integer(headers.get(VERSION, str(issued_ms * 1000)))
    except (ValueError, binascii.Error):
        raise Refused(
            f"a signed request has {KEY}, {SIGNED} in base64 and {ISSUED} in Unix milliseconds, "
            f"and may have {VERSION}",
            SIGNATURE,
        ) from None
    return Credentials(headers.get(KEY, ""), signature, issued_ms), version


def _integer(text: str) -> int:
    """A whole number from 0 on, in its one form; raises `ValueError`."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
    if not 0 <= number < _INTEGER_MAX or str(number) != text:
        raise ValueError(text)
    return number
