"""Who is meant: keys, groups of keys, and the words anyone, signed and unsigned.

Law of this file: pure.  Groups are those of the policy file of the peer that decides; a group that
it does not know has no members, so that a peer which lags behind shows less, never more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from meteor.errors import LimitExceeded, ProfileError
from meteor.security.keys import key_bytes
from meteor.wrong_values import said

GROUP_PREFIX: Final = "group:"
ANYONE: Final = "anyone"
SIGNED: Final = "signed"
"""Whoever signs, whatever the key."""
UNSIGNED: Final = "unsigned"
WORDS: Final = (ANYONE, SIGNED, UNSIGNED)

AUDIENCE_MAX: Final = 64
"""Names in one `visible_to`: they travel and rest with the record."""
GROUP_NAME_MAX: Final = 64

Groups = Mapping[str, frozenset[str]]
"""The keys of each group, by its name without the prefix."""


def check_name(name: str) -> str:
    """A key or a group's name, as it is; raises `ProfileError`."""
    if isinstance(name, str) and name.startswith(GROUP_PREFIX):
        check_group(name[len(GROUP_PREFIX) :])
    else:
        key_bytes(name)
    return name


def check_group(name: str) -> str:
    """A group's name without the prefix, as it is; raises `ProfileError`."""
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    if not (0 < len(name) <= GROUP_NAME_MAX and plain.isalnum() and plain.isascii()):
        raise ProfileError(
            f"{name[:80]!r} names no group: 1 to {GROUP_NAME_MAX} letters, digits, '-', '_', '.'"
        )
    return name


def checked_audience(names: Iterable[str]) -> tuple[str, ...]:
    """Who may see something, each once and in order; raises `ProfileError`, `LimitExceeded` and
    `TypeError` for one name that is not in a list, or what is none."""
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
        raise TypeError(f"visible_to: give a list of keys and groups, not {said(names)}")
    audience = tuple(sorted({check_name(name) for name in names}))
    if len(audience) > AUDIENCE_MAX:
        raise LimitExceeded("keys and groups in visible_to", len(audience), AUDIENCE_MAX)
    return audience


def includes(names: Iterable[str], key: str, groups: Groups) -> bool:
    """Whether a key is meant; the empty one is that of whoever does not sign."""
    for name in names:
        if name in (ANYONE, SIGNED if key else UNSIGNED):
            return True
        if key and (name == key or key in groups.get(name.removeprefix(GROUP_PREFIX), ())):
            return True
    return False


def may_see(asker: str, owner: str, visible_to: tuple[str, ...], groups: Groups) -> bool:
    """Whether `asker` may know that something of `owner` is there."""
    if not visible_to:
        return True
    return bool(asker) and (asker == owner or includes(visible_to, asker, groups))
