"""Where a profile lives: from its attributes to a box of the curve, or a refusal.

Law of this file: pure.  The same decision is taken by the client before it sends and by the peer
that it is linked to, which trusts nobody (SPEC section 1, safety).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from arms import Profile, ProfileError, any_action
from meteor.errors import LimitExceeded, Refused
from meteor.lifetimes import TIMEOUT_S_MAX, TTL_S_MAX, DurationRefused
from meteor.slips import ALIKE, slip_in
from meteor.wire.document import PROFILES_KEPT, decode_document, unpack_profile
from meteor.wire.messages import Document, Post
from squid import Absent, Box, KeywordSpace

SUBJECTS = frozenset({"store", "notify_interest"})
"""Actions whose profile describes what is, or would be, published; the others select."""

KEPT_KINDS: Mapping[str, str] = {
    "store": "data",
    "retrieve": "interest",
    "notify_data": "interest",
    "notify_interest": "watch",
}
"""What an action's profile is kept as while its ttl runs."""

ACTIONS = (*KEPT_KINDS, "delete_data", "delete_interest")
DELETES = frozenset({"delete_data", "delete_interest"})

MODES = ("within", "overlap")
"""How a delete selects: what its selector contains, or meets."""

VERSION_MAX = 2**62
"""Of an author's counter, which runs in microseconds; half of what can travel and be kept."""

PAYLOAD_BYTES_MAX = 1_000_000
"""The largest payload that a peer takes."""
CONTENT_TYPE_LENGTH_MAX = 1024
"""The longest type of a payload, in characters: it travels and rests beside the payload, and types
with their parameters have some dozens."""
CONTEXT_LENGTH_MAX = 65_536
"""The longest context that a peer takes, in characters of its names and values: it travels and
rests beside the payload too.  `ClientConfig.context_length_max` is a sixteenth of it by default.
The same of the claims beside it: what fits a frame alone, and none with what goes with it, could be
posted, and brought nowhere."""
REPLY_TO_LENGTH_MAX = 1024
"""The longest reply address, in characters: a host name has 253 at most."""


def read_document(blob: bytes) -> Document:
    """What a client posts, read and checked; raises `ProfileError` and as `check_document`."""
    document = decode_document(blob)
    check_document(document)
    return document


def check_document(document: Document) -> None:
    """Refuse a document that no client of ours would send.

    Raises `UnknownAction` and `LimitExceeded`."""
    any_action(document.action)
    if len(document.data) > PAYLOAD_BYTES_MAX:
        raise LimitExceeded("data bytes", len(document.data), PAYLOAD_BYTES_MAX)
    length = len(document.content_type)
    if length > CONTENT_TYPE_LENGTH_MAX:
        raise LimitExceeded("content_type characters", length, CONTENT_TYPE_LENGTH_MAX)
    for what, pairs in (("context", document.context), ("claims", document.claims)):
        length = sum(len(name) + len(value) for name, value in pairs)
        if length > CONTEXT_LENGTH_MAX:
            raise LimitExceeded(f"{what} characters", length, CONTEXT_LENGTH_MAX)
    length = len(document.reply_to)
    if length > REPLY_TO_LENGTH_MAX:
        raise LimitExceeded("reply_to characters", length, REPLY_TO_LENGTH_MAX)


def check_manner(post: Post, action: str) -> None:
    """Refuse what would be done otherwise than was asked: raises `ProfileError` for a mode that is
    none, which was taken for `within`, and for a dry run of what is no delete, which was done."""
    if post.mode not in MODES:
        raise ProfileError(f"mode {post.mode[:40]!r} is none of {', '.join(MODES)}")
    if post.dry_run and action not in DELETES:
        raise ProfileError(f"{action!r} has no dry run; that only counts what a delete would take")


def check_takes_place(document: Document) -> Document:
    """The document of a replace; raises `ProfileError` for what takes no place: a delete would be
    carried out instead, by who may do nothing but replace."""
    if document.action not in KEPT_KINDS:
        raise ProfileError(
            f"{document.action!r} takes the place of nothing: replace with one of "
            f"{', '.join(KEPT_KINDS)}"
        )
    return document


def check_timeout_s(timeout_s: float) -> float:
    """A client's patience, in seconds; raises `LimitExceeded`."""
    if not (math.isfinite(timeout_s) and 0 <= timeout_s <= TIMEOUT_S_MAX):
        raise DurationRefused("timeout", timeout_s, round(TIMEOUT_S_MAX))
    return timeout_s


def check_ttl_ms(ttl_s: float) -> int:
    """A lifetime in whole milliseconds, rounded down; raises `LimitExceeded`."""
    if not (math.isfinite(ttl_s) and 0 <= ttl_s <= TTL_S_MAX):
        raise DurationRefused("ttl", ttl_s, round(TTL_S_MAX))
    return int(ttl_s * 1000)


def check_version(version: int) -> int:
    """An author's counter; raises `LimitExceeded`.  Peers count on from it, and what they say must
    travel: none of them may be made to fail by it."""
    if not 0 <= version <= VERSION_MAX:
        raise LimitExceeded("version", version, VERSION_MAX)
    return version


def place(profile: Profile, action: str, space: KeywordSpace, *, everywhere: bool) -> Box:
    """The box of cells under which a profile of this action lives.

    Raises `ProfileError` for a subject that names no dimension or a selector that asks nothing,
    `Refused("everywhere")` for a selector whose box is the whole space."""
    if action in SUBJECTS:
        terms = profile.subject_terms(space)
        if all(type(term) is Absent for term in terms.values()):
            raise ProfileError(_no_dimension(profile, space))
        return space.box(terms)
    box = space.box(profile.selector_terms(space))
    if box.is_whole(space.curve) and not everywhere:
        raise Refused(
            f"{action} of ({profile}) would go to every peer: constrain one of the dimensions "
            f"{', '.join(space.names)}, or say everywhere=True (--everywhere)"
            f"{_slip_hint(profile, space)}",
            "everywhere",
        )
    return box


@lru_cache(maxsize=PROFILES_KEPT)
def place_packed(packed: bytes, action: str, space: KeywordSpace, *, everywhere: bool) -> Box:
    """The same of a profile as it travels; raises as `place`, and what `unpack_profile` raises.

    Remembered by these very bytes for a whole process: a client and the peer behind it are often
    in one, and who senses posts the same again and again."""
    return place(unpack_profile(packed).typed(space), action, space, everywhere=everywhere)


def _no_dimension(profile: Profile, space: KeywordSpace) -> str:
    names = ", ".join(space.names)
    text = f"({profile}) names none of the dimensions {names} of space {space.name!r}"
    hint = _slip_hint(profile, space)
    return f"{text}{hint}" if hint else f"{text}: where should it live? Give at least one"


def _slip_hint(profile: Profile, space: KeywordSpace) -> str:
    """The dimension that a misspelt name may mean; empty where none is like it."""
    slip = slip_in(profile, space, ALIKE)
    return "" if slip is None else f"; did you mean {slip[1]!r} instead of {slip[0]!r}?"
