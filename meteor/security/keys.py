"""Public keys as text, and whether a signature is theirs.

Law of this file: pure.  A key has one text, so that an owner is compared as text everywhere; all
others are refused (DESIGN section 4, credentials).
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from meteor.errors import ProfileError

KEY_PREFIX: Final = "ed25519:"
KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
_TEXT_LENGTH: Final = len(KEY_PREFIX) + 43


def key_text(raw: bytes) -> str:
    """The text of a public key: `ed25519:` and base64url without padding."""
    return KEY_PREFIX + base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def key_bytes(key: str) -> bytes:
    """The 32 bytes of a key's text; raises `ProfileError` for what is no key's one text."""
    if not isinstance(key, str) or len(key) != _TEXT_LENGTH or not key.startswith(KEY_PREFIX):
        raise ProfileError(
            f"{str(key)[:80]!r} is no key: a key is 'ed25519:' and 43 characters, as "
            "`meteor keygen` prints it"
        )
    try:
        raw = base64.b64decode(key[len(KEY_PREFIX) :] + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise ProfileError(f"{key!r} is no key: it holds other characters than base64url") from None
    if len(raw) != KEY_BYTES or key_text(raw) != key:
        raise ProfileError(f"{key!r} is no key: its last character is not canonical")
    return raw


def is_signed_by(key: str, signature: bytes, statement: bytes) -> bool:
    """Whether the signature over the statement is the key's; raises `ProfileError` for no key.

    About 0.1 ms: who asks often remembers (`meteor.security.verifying`)."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - 20 ms, for who signs
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - the same

    raw = key_bytes(key)
    if len(signature) != SIGNATURE_BYTES:
        return False
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(raw).verify(signature, statement)
    except (InvalidSignature, ValueError):  # ValueError: bytes that are no point of the curve
        return False
    return True
