"""What a client gets back: matches, results and notifications.

Law of this file: values, never changed after they were made.  A match keeps the poster's bytes
and reads them on first use, so that taking thousands costs nothing that nobody looks at
(DESIGN section 4).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from arms import Profile, ProfileError
from meteor.wire import codec
from meteor.wire.action_messages import ActionResult
from meteor.wire.document import decode_document, unpack_profile
from meteor.wire.messages import Document, Found, Notice
from squid import Interval

SHOWN_BYTES: Final = 32
"""Of a payload, in a match's text for people."""


class Match:
    """Something stored that matched.

    Two are equal when they are the same version of the same stored thing."""

    __slots__ = ("_document", "_found", "_profile")
    _document: Document
    """Empty, as `_profile` is, until somebody asks: thousands are made at once."""
    _profile: Profile

    def __init__(self, found: Found) -> None:
        self._found = found

    @property
    def id(self) -> str:
        """The full id of what matched."""
        return self._found.id

    @property
    def version(self) -> int:
        """The author's counter: of two with one stem, the higher is the newer."""
        return self._found.version

    @property
    def owner(self) -> str:
        """Who posted it; empty without an identity."""
        return self._found.owner

    @property
    def ttl(self) -> float:
        """What remained of its life when the peer sent it, in seconds."""
        return self._found.ttl_ms / 1000

    @property
    def profile(self) -> Profile:
        """Its profile, read on first use; raises `ProfileError` if the poster's is damaged."""
        try:
            return self._profile
        except AttributeError:
            self._profile = unpack_profile(self._content().profile)
            return self._profile

    @property
    def data(self) -> bytes:
        """Its payload; empty for a notice without payload."""
        return self._content().data

    @property
    def text(self) -> str:
        """The payload as UTF-8; raises `UnicodeDecodeError`."""
        return self.data.decode()

    def json(self) -> Any:
        """The payload as JSON; raises `ValueError`."""
        return json.loads(self.data)

    @property
    def content_type(self) -> str:
        """What the poster said of the payload; empty: just bytes."""
        return self._content().content_type

    @property
    def context(self) -> Mapping[str, str]:
        """What the poster said of its situation."""
        return MappingProxyType(dict(self._content().context))

    def _content(self) -> Document:
        try:
            return self._document
        except AttributeError:
            blob = self._found.blob
            self._document = decode_document(blob) if blob else Document("", b"")
            return self._document

    def _key(self) -> tuple[str, int]:
        return self._found.id, self._found.version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Match):
            return NotImplemented
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        try:
            said = f"({self.profile}) {_beginning(self.data)}"
        except ProfileError:
            said = "damaged"
        return f"<{type(self).__name__} {said} ttl={self.ttl:g} id={self.id}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._found,)


def _beginning(data: bytes) -> str:
    """A payload as somebody at a prompt wants to see it."""
    shown = repr(data[:SHOWN_BYTES])
    return shown if len(data) <= SHOWN_BYTES else f"{shown}... of {len(data):,} bytes"


class Result:
    """What one peer's run of an application's action gave.

    Two are equal when they are the same result of the same post."""

    __slots__ = ("_found", "_read")

    def __init__(self, found: Found) -> None:
        self._found = found
        self._read: ActionResult | None = None

    @property
    def _result(self) -> ActionResult:
        """What it says, read on first use; raises `ProfileError` where that is damaged."""
        if self._read is None:
            result = codec.decode(self._found.blob)
            if not isinstance(result, ActionResult):
                raise ProfileError(f"{self.id}: that is no result of an action")
            self._read = result
        return self._read

    @property
    def id(self) -> str:
        """Its own id among the results of the post."""
        return self._found.id

    @property
    def version(self) -> int:
        """Always 0: a run is not repeated."""
        return self._found.version

    @property
    def peer(self) -> str:
        """The address of the peer that ran the action."""
        return self._result.peer.address

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """The intervals of curve indexes, both ends included, that it speaks for."""
        return self._result.intervals

    @property
    def matches(self) -> int:
        """Over how many matches the action ran."""
        return self._result.matches

    @property
    def data(self) -> bytes:
        """What the action gave."""
        return self._result.data

    @property
    def text(self) -> str:
        """The same as UTF-8; raises `UnicodeDecodeError`."""
        return self.data.decode()

    def json(self) -> Any:
        """The same as JSON; raises `ValueError`."""
        return json.loads(self.data)

    def __eq__(self, other: object) -> bool:
        return self._found == other._found if isinstance(other, Result) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<Result {self.id} of {self.matches} matches at {self.peer}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Result, (self._found,)


class Notification(Match):
    """A match that came by itself, for an interest or a watch."""

    __slots__ = ("_notice",)

    def __init__(self, notice: Notice) -> None:
        self._found = notice.found
        self._notice = notice

    @property
    def kind(self) -> str:
        """`match`; for a watch `appeared` or `gone`."""
        return self._notice.kind

    @property
    def interest(self) -> str:
        """The stem of the interest or watch that it is for."""
        return self._notice.interest

    @property
    def notification_id(self) -> str:
        """`<interest>:<stem>:<version>`: the same however often and by whom it is sent."""
        return self._notice.id

    def _key(self) -> tuple[str, int]:
        return f"{self._notice.kind}:{self._notice.id}", self._found.version

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._notice,)
