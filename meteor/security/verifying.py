"""Verifying: whose a request is, decided once at the peer that a client is linked to.

Law of this file: pure but for the wall clock that it is given.  What was found good is remembered
by digest, so that a request which is sent again costs no second look; what was found bad never is.
Behind this peer nobody looks again: members of the ring trust one another, and TLS says who is one
(DESIGN section 4).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from meteor.errors import ProfileError, Refused
from meteor.security.delegation import Delegation, check_delegation
from meteor.security.keys import is_signed_by
from meteor.wire.messages import Credentials

WINDOW_S: Final = 300.0
"""How far a request's issue time may lie from this peer's clock, on either side: a repeat is taken
for so long, and machines whose clocks differ by more can post nothing."""

REMEMBERED_MAX: Final = 4096
"""Signatures that are remembered, 100 bytes each."""

SIGNATURE: Final = "signature"
ISSUE_TIME: Final = "issue_time"
DELEGATION: Final = "delegation"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, and for whom."""

    key: str = ""
    """The signer's; empty for nobody's."""
    owner: str = ""
    """Whose records it may touch, and whose it makes: the signer's or a delegation's owner."""
    delegation: Delegation | None = None


NOBODY: Final = Actor()
"""Whoever does not sign."""


class Verifier:
    """The signatures that one peer has seen."""

    def __init__(self, wall_clock: Callable[[], float], window_s: float = WINDOW_S) -> None:
        self._wall_clock, self._window_s = wall_clock, window_s
        self._good: OrderedDict[bytes, None] = OrderedDict()
        self.count = 0
        """Signatures that were looked at, not remembered."""

    def actor(self, credentials: Credentials, statement: bytes, action: str) -> Actor:
        """Who asks for this action; raises `Refused` (rules `issue_time`, `signature`,
        `delegation`) and `ProfileError` for keys that are none."""
        self._check_time(credentials.issued_ms)
        if not self._is_good(credentials.key, credentials.signature, statement):
            raise Refused(
                f"the signature is not that of {credentials.key} over these bytes; sign the "
                "document as it is sent, with its id, version, issue time and lifetime",
                SIGNATURE,
            )
        delegation = credentials.delegation
        if delegation is None:
            return Actor(credentials.key, credentials.key)
        self._check_delegation(delegation, credentials.key, action)
        return Actor(credentials.key, delegation.owner, delegation)

    def _check_time(self, issued_ms: int) -> None:
        late_s = self._wall_clock() - issued_ms / 1000
        if abs(late_s) > self._window_s:
            raise Refused(
                f"issued {abs(late_s):.0f} s {'ago' if late_s > 0 else 'in the future'} by this "
                f"peer's clock, at most {self._window_s:g} s are allowed: set the clock, or sign "
                "anew",
                ISSUE_TIME,
            )

    def _check_delegation(self, delegation: Delegation, key: str, action: str) -> None:
        try:
            check_delegation(delegation)
        except ProfileError as error:
            raise Refused(f"the delegation is malformed: {error}", DELEGATION) from error
        if delegation.delegate != key:
            raise Refused(f"the delegation is for {delegation.delegate}, not {key}", DELEGATION)
        if action not in delegation.actions:
            actions = ", ".join(delegation.actions)
            raise Refused(f"the delegation is for {actions}, not for {action}", DELEGATION)
        late_s = self._wall_clock() - delegation.expires_ms / 1000
        if late_s >= 0:
            raise Refused(f"the delegation ended {late_s:.0f} s ago", DELEGATION)
        if not self._is_good(delegation.owner, delegation.signature, delegation.statement):
            raise Refused(f"the delegation is not signed by {delegation.owner}", DELEGATION)

    def vouch(self, key: str, signature: bytes, statement: bytes) -> None:
        """Take this for a good signature of the key: it was looked at in another form."""
        self._remember(_digest(key, signature, statement))

    def _is_good(self, key: str, signature: bytes, statement: bytes) -> bool:
        digest = _digest(key, signature, statement)
        if digest in self._good:
            self._good.move_to_end(digest)
            return True
        self.count += 1
        if not is_signed_by(key, signature, statement):
            return False
        self._remember(digest)
        return True

    def _remember(self, digest: bytes) -> None:
        self._good[digest] = None
        if len(self._good) > REMEMBERED_MAX:
            self._good.popitem(last=False)


def _digest(key: str, signature: bytes, statement: bytes) -> bytes:
    """Of all three with where each ends: whoever has a signed document sent could else have a part
    of it taken for signed by itself, with the rest before it as the end of its signature."""
    octets = key.encode()
    head = b"%d %d\n" % (len(octets), len(signature))
    return sha256(head + octets + signature + statement).digest()
