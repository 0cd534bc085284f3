"""What a peer has done since it started, counted: for metrics, and for whoever embeds a peer.

Law of this file: plain numbers that only grow; no clock, no library of metrics.  Whoever counts
calls one method in the turn of the event; whoever reads takes what stands there
(`meteor.operation.snapshot`).
"""

from __future__ import annotations

from collections import Counter

from arms import ACTIONS
from meteor.distribution import Distribution
from meteor.errors import MeteorError
from meteor.wire.document import decode_document
from meteor.wire.messages import Amend, Post, PostReply

APPLICATION = "application"
"""The name under which all actions of applications are counted: theirs have no bound."""
MALFORMED = "malformed"


class Tally:
    """What came through the door of one peer."""

    def __init__(self) -> None:
        self.posts: Counter[tuple[str, str]] = Counter()
        """Posts of clients that ended, by action and outcome: `complete`, `incomplete`, or the
        error's class."""
        self.matches = 0
        """What they matched."""
        self.hops = Distribution((0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32))
        """The longest way of each through the ring."""
        self.replies_dropped = 0
        """Results and notifications that no reply address took, or that were too many for it."""

    def answered(self, action: str, reply: PostReply) -> None:
        """A post that is counted under this name has its reply."""
        self.posts[action, "complete" if reply.complete else "incomplete"] += 1
        self.matches += reply.matches
        self.hops.note(reply.hops)

    def unread(self) -> None:
        """A post met a bug while it was read: it is not read again to be counted."""
        self.posts[MALFORMED, "internal"] += 1

    def undelivered(self) -> None:
        """A document for a reply address was dropped."""
        self.replies_dropped += 1

    def failed(self, request: Post | Amend, error: MeteorError) -> None:
        """A post ended with an error."""
        self.posts[action_of(request), type(error).__name__] += 1


def action_of(request: Post | Amend) -> str:
    """The name to count a request under: few ones, whatever clients send."""
    if isinstance(request, Amend):
        return request.verb if request.verb in AMENDING else MALFORMED
    try:
        action = decode_document(request.document).action
    except MeteorError:
        return MALFORMED
    return counted_as(action)


def counted_as(action: str) -> str:
    """The name of an action in metrics: applications' have one together."""
    return action if action in ACTIONS else APPLICATION


AMENDING = ("renew", "cancel", "replace", "find")
"""The verbs that name a record by its id."""
