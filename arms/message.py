"""Messages, and what is said in return: the documents of the overlay, whatever their form.

Law of this file: plain immutable values.  A message is a header (id, credentials, profile,
context, time to live), an action and data (report section 2.1.1 and figures 3.5, 3.6).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from arms.profile import Profile

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """What a client posts."""

    id: str
    """The poster's own name for it; empty when the peer assigns one."""
    action: str
    profile: Profile
    data: bytes = b""
    content_type: str = ""
    ttl_s: float | None = None
    """None: the action's default."""
    owner: str = ""
    """The key of the credentials, unverified; empty when there is none."""
    context: Pairs = ()
    reply_to: str = ""
    """The address behind the action, `host:port`; empty when there is none."""
    claims: Pairs = ()
    """Other attributes of the credentials: unverified, kept."""
    visible_to: tuple[str, ...] | None = None
    """Keys and groups that may know of it besides its owner; None: everybody."""


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A stored message, as a result or notification shows it."""

    id: str
    profile: Profile
    data: bytes = b""
    content_type: str = ""
    owner: str = ""
    ttl_s: float = 0.0
    """What remains of its life."""
    context: Pairs = ()


@dataclass(frozen=True, slots=True)
class ActionOutput:
    """What one peer's run of an application's action gave."""

    peer: str
    """The address of the peer."""
    matches: int
    """Over how many matches it ran."""
    data: bytes = b""
    intervals: tuple[tuple[int, int], ...] = ()
    """The intervals of curve indexes that it speaks for, both ends included."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a message."""

    id: str
    action: str
    complete: bool
    matches: int
    peers: int
    missing: tuple[tuple[int, int], ...] = ()
    """Intervals of curve indexes without an answer, both ends included."""
    found: tuple[FoundMessage, ...] = field(default=())
    outputs: tuple[ActionOutput, ...] = ()
    """Of an application's action, a run each."""
    troubles: tuple[str, ...] = ()
    """Why peers did not run it, the first few."""


@dataclass(frozen=True, slots=True)
class NotificationMessage:
    """What a notify brings: data that matches, or an interest that appeared or is gone."""

    id: str
    """`<interest id>:<other stem>:<version>`."""
    interest: str
    kind: Literal["match", "appeared", "gone"]
    found: FoundMessage
