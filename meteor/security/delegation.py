"""A delegation: an owner lets another key do what the owner may, for a time.

Law of this file: pure values.  What is signed is text of one form, so that nobody reads it in two
ways; it is checked where the delegate posts, and its selector where the record lives.  A delegation
is not taken back before it ends: give short ones (DESIGN section 4, credentials).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from arms import Profile
from meteor.described import described
from meteor.errors import LimitExceeded, ProfileError
from meteor.security.keys import SIGNATURE_BYTES, key_bytes

ACTIONS_MAX: Final = 32
NAME_LENGTH_MAX: Final = 64
SELECTOR_LENGTH_MAX: Final = 4096


@described
@dataclass(frozen=True, slots=True)
class Delegation:
    """What an owner signed; travels with every post of its delegate."""

    owner: str
    """The key that signed this, and owns what is posted under it."""
    delegate: str
    """The key that may act for the owner."""
    actions: tuple[str, ...]
    """Names of actions, and `renew`, `cancel`, `find`, `replace`; in their order."""
    expires_ms: int
    """Unix milliseconds."""
    selector: str = ""
    """Only for what lies within it; empty: for everything."""
    signature: bytes = b""
    """The owner's, over `statement`."""

    @property
    def statement(self) -> bytes:
        """The bytes that the owner signs."""
        return (
            "meteor delegation 1\n"
            f"owner {self.owner}\ndelegate {self.delegate}\nactions {','.join(self.actions)}\n"
            f"expires {self.expires_ms}\n\n{self.selector}"
        ).encode()

    def signed(self, signature: bytes) -> Delegation:
        """The same with the owner's signature."""
        return replace(self, signature=signature)

    def to_json(self) -> str:
        """As a file or a message holds it; see `from_json`."""
        form = {
            "owner": self.owner,
            "delegate": self.delegate,
            "actions": list(self.actions),
            "expires_ms": self.expires_ms,
            "selector": self.selector,
            "signature": base64.b64encode(self.signature).decode("ascii"),
        }
        return json.dumps(form, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Delegation:
        """The delegation again, its form checked and its signature not; raises `ProfileError`."""
        try:
            form: Any = json.loads(text)
            delegation = cls(
                owner=form["owner"],
                delegate=form["delegate"],
                actions=tuple(form["actions"]),
                expires_ms=form["expires_ms"],
                selector=form["selector"],
                signature=base64.b64decode(form["signature"], validate=True),
            )
        except (ValueError, TypeError, LookupError, RecursionError, binascii.Error) as error:
            raise ProfileError(f"this is no delegation: {error}") from error
        check_delegation(delegation)
        if len(delegation.signature) != SIGNATURE_BYTES:
            raise ProfileError("this delegation is not signed")
        return delegation


def unsigned_delegation(
    owner: str, to: str, actions: Iterable[str], *, until: datetime, selector: str
) -> Delegation:
    """The words of a delegation, to be signed; raises `ProfileError`, `LimitExceeded` and
    `ValueError`."""
    if isinstance(actions, str):
        raise TypeError(f"actions: give a list of names, [{actions!r}]")
    if until.tzinfo is None:
        raise ValueError(f"until: {until} has no time zone; say datetime(..., tzinfo=UTC)")
    words = Delegation(
        owner=owner,
        delegate=to,
        actions=tuple(sorted(set(actions))),
        expires_ms=int(until.astimezone(UTC).timestamp() * 1000),
        selector=selector,
    )
    check_delegation(words)
    if selector:
        Profile.parse(selector)  # only whether it can be read: its owner's space is not known here
    return words


def check_delegation(delegation: Delegation) -> None:
    """Refuse a form that no identity signs; raises `ProfileError` and `LimitExceeded`."""
    key_bytes(delegation.owner)
    key_bytes(delegation.delegate)
    if delegation.owner == delegation.delegate:
        raise ProfileError("a delegation to its own owner says nothing")
    actions = delegation.actions
    if not actions or any(not _is_name(name) for name in actions):
        raise ProfileError(f"actions {list(actions)!r:.200}: give names of actions")
    if actions != tuple(sorted(set(actions))):
        raise ProfileError(f"actions {list(actions)!r:.200}: each once, in their order")
    if len(actions) > ACTIONS_MAX:
        raise LimitExceeded("actions of a delegation", len(actions), ACTIONS_MAX)
    if not isinstance(delegation.selector, str):
        raise ProfileError("the selector of a delegation is text")
    if len(delegation.selector) > SELECTOR_LENGTH_MAX:
        raise LimitExceeded(
            "characters of a delegation's selector", len(delegation.selector), SELECTOR_LENGTH_MAX
        )
    if isinstance(delegation.expires_ms, bool) or not isinstance(delegation.expires_ms, int):
        raise ProfileError(f"expires_ms: {delegation.expires_ms!r} is no number of milliseconds")


def _is_name(name: object) -> bool:
    return (
        isinstance(name, str)
        and 0 < len(name) <= NAME_LENGTH_MAX
        and name.isprintable()
        and not set(name) & set(", ")
    )
