"""An identity: an Ed25519 key pair, whose public half is the owner of what it posts.

Law of this file: the secret half never leaves the object but into a file that its user alone may
read.  The file is PKCS#8 in PEM, as `openssl genpkey -algorithm ed25519` writes it; the
cryptography is that package's (DESIGN section 4, credentials).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from meteor.errors import MeteorError
from meteor.security.delegation import Delegation, unsigned_delegation
from meteor.security.keys import key_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FILE_MODE: Final = 0o600
_FILE_BYTES_MAX: Final = 64 * 1024


class IdentityError(MeteorError, ValueError):
    """A file does not hold an identity, or not safely: `.path`."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class Identity:
    """Who signs.  Made by `Identity.generate()` or `Identity.load(path)`; given to
    `meteor.connect(identity=...)` and `meteor.Peer(identity=...)`."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self._key = key_text(private.public_key().public_bytes_raw())

    @classmethod
    def generate(cls) -> Self:
        """A new identity, from the operating system's randomness."""
        return cls(_ed25519().generate())

    @classmethod
    def from_seed(cls, seed: bytes) -> Self:
        """The identity of 32 secret bytes: the same bytes, the same identity.

        For tests and simulations; raises `ValueError` for another length."""
        return cls(_ed25519().from_private_bytes(seed))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The identity in a file.

        Raises `IdentityError` for what is no unencrypted Ed25519 key, or may be read by others
        than its user, and `OSError`."""
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - as `_ed25519`

        with Path(path).open("rb") as file:
            _check_mode(os.fstat(file.fileno()).st_mode, path)
            text = file.read(_FILE_BYTES_MAX)
        try:
            private = serialization.load_pem_private_key(text, password=None)
        except (ValueError, TypeError) as error:
            raise IdentityError(
                f"{path}: no private key in PEM without a password ({error}); "
                "make one with `meteor keygen`",
                str(path),
            ) from error
        if not isinstance(private, _ed25519()):
            raise IdentityError(
                f"{path}: this key is not of the kind Ed25519; make one with `meteor keygen`",
                str(path),
            )
        return cls(private)

    def save(self, path: str | Path) -> None:
        """Write it to a new file that its user alone may read (mode 0600).

        Raises `FileExistsError`: a key that is overwritten is lost; and `OSError`."""
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - as `_ed25519`

        text = self._private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        with os.fdopen(opened, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    @property
    def key(self) -> str:
        """The public key, `ed25519:...`: the owner of what is posted with this identity."""
        return self._key

    def sign(self, statement: bytes) -> bytes:
        """The 64 bytes of the signature over these bytes."""
        return self._private.sign(statement)

    def delegate(
        self,
        to: str,
        actions: Iterable[str],
        *,
        until: datetime,
        selector: str = "",
    ) -> Delegation:
        """Let another key do what this identity may, until a moment (with its time zone).

        `to` is the other's key; `actions` names actions, and `renew`, `cancel`, `find`, `replace`;
        with a `selector` only for what lies within it.  Raises `ProfileError` and `ValueError`."""
        words = unsigned_delegation(self.key, to, actions, until=until, selector=selector)
        return words.signed(self.sign(words.statement))

    def __repr__(self) -> str:
        return f"<meteor.Identity {self.key}>"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("an identity is not pickled: its secret stays in this process")


def _ed25519() -> type[Ed25519PrivateKey]:
    """Imported when somebody signs: it takes 20 ms."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - see above
        Ed25519PrivateKey,
    )

    return Ed25519PrivateKey


def _check_mode(mode: int, path: str | Path) -> None:
    """Raise `IdentityError` when others may read the file, where the system knows of others."""
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise IdentityError(
            f"{path}: others may read this key (mode {stat.S_IMODE(mode):04o}); "
            f"say `chmod 600 {path}`, and make a new key if somebody may have",
            str(path),
        )
