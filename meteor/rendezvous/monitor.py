"""What happens at a peer, told to whoever looks on: posts, pairs, notifications.

Law of this file: looking on changes nothing and costs nothing while nobody does; who looks gets a
bounded queue, and is told how much of it was dropped.  (Redis calls the same `MONITOR`.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import chain
from math import isfinite
from typing import Any, Final

from arms import Tell
from meteor.errors import MeteorError
from meteor.wire.document import decode_document, unpack_profile
from meteor.wire.letters import notices_of
from meteor.wire.messages import Amend, Document, Notice, Post
from meteor.wire.operations import Notices

TEXT_LENGTH_MAX: Final = 120
"""Characters of a payload that are shown."""

SAID_LENGTH_MAX: Final = 4096
"""Characters of anything else: what a client names has not been looked at yet, and may be as long
as a frame."""

Sighting = dict[str, Any]


class Monitor:
    """What one peer tells its onlookers."""

    def __init__(self) -> None:
        self._onlookers: list[Onlooker] = []

    @property
    def is_watched(self) -> bool:
        """Whether anybody looks on."""
        return bool(self._onlookers)

    def watch(self, length: int, wake: Callable[[], None]) -> Onlooker:
        """Look on from now; the caller ends it by `leave`."""
        onlooker = Onlooker(length, wake)
        self._onlookers.append(onlooker)
        return onlooker

    def leave(self, onlooker: Onlooker) -> None:
        """Look on no more."""
        self._onlookers.remove(onlooker)

    def message(self, message: object) -> None:
        """A message came to this peer."""
        if not self._onlookers:
            return
        if isinstance(message, Post):
            self._tell(_posted(message))
        elif isinstance(message, Amend) and message.credentials is None:
            form = {"kind": "amend", "action": message.verb, "id": message.id, "profile": ""}
            self._tell(form)
        elif isinstance(message, Notices):
            for notice in chain(message.notices, *map(notices_of, message.told)):
                self._tell(_notified(notice))

    def pair(self, reaction: Tell) -> None:
        """A pair was found here, and somebody is told of it."""
        about = reaction.about
        if self._onlookers and not (about.visible_to or reaction.to.visible_to):
            self._tell(
                {
                    "kind": "match",
                    "action": reaction.kind,
                    "id": about.id,
                    "profile": str(about.profile),
                    "interest": reaction.to.stem,
                    "selector": str(reaction.to.profile),
                }
            )

    def _tell(self, sighting: Sighting | None) -> None:
        """None: it is of what not everybody may see, and onlookers are everybody."""
        if sighting is None:
            return
        shown = {
            name: one[:SAID_LENGTH_MAX] if isinstance(one, str) else one
            for name, one in sighting.items()
        }
        for onlooker in self._onlookers:
            onlooker.put(shown)


class Onlooker:
    """A bounded queue of what happens; the oldest goes when it is full."""

    def __init__(self, length: int, wake: Callable[[], None]) -> None:
        self.dropped = 0
        """What was dropped since it was asked last."""
        self._queue: deque[Sighting] = deque(maxlen=length)
        self._wake = wake

    def put(self, sighting: Sighting) -> None:
        """Queue what happened."""
        self.dropped += len(self._queue) == self._queue.maxlen
        self._queue.append(sighting)
        self._wake()

    def take(self) -> tuple[list[Sighting], int]:
        """What is queued, and how many before it were dropped."""
        taken, dropped = list(self._queue), self.dropped
        self._queue.clear()
        self.dropped = 0
        return taken, dropped


def _posted(post: Post) -> Sighting | None:
    content = _content(post.document)
    if content is None:
        return None
    ttl_s = post.ttl_s if isfinite(post.ttl_s) else 0.0  # JSON has no other numbers
    return {"kind": "post", "id": post.stem, "ttl": ttl_s, **content}


def _notified(notice: Notice) -> Sighting | None:
    content = _content(notice.found.blob)
    if content is None or notice.owner:  # its interest may be hidden: only its holders know
        return None
    return {
        "kind": "notification", "id": notice.found.id, "interest": notice.interest, **content,
        "action": notice.kind,
    }  # fmt: skip


def _content(blob: bytes) -> Sighting | None:
    """Profile and payload of a document, as far as they can be read: nobody has checked it yet;
    None for what not everybody may see."""
    try:
        document = decode_document(blob) if blob else Document("", b"")
        profile = str(unpack_profile(document.profile)) if document.profile else ""
    except MeteorError:
        return {"action": "?", "profile": "", "text": ""}
    if document.visible_to:
        return None
    text = document.data[: 4 * TEXT_LENGTH_MAX].decode("utf-8", "replace")[:TEXT_LENGTH_MAX]
    return {"action": document.action, "profile": profile, "text": text}
