"""A request that waits for its reply, and what it means that none came.

Law of this file: plain bookkeeping of `chord.exchange`.
"""

from __future__ import annotations

from dataclasses import dataclass

from chord.errors import RequestTimeout
from chord.link import LinkEnd
from chord.world import Waiter


@dataclass(slots=True, eq=False)
class PendingCall:
    """A request on its way; times are those of the local clock."""

    waiter: Waiter
    link: LinkEnd
    request: str
    sent_s: float
    timeout_s: float

    def give_up(self, now_s: float) -> None:
        """No reply came in time.  A link on which nothing at all came since is suspected; a peer
        that is busy with the request says other things meanwhile."""
        link = self.link
        link.asking -= 1
        link.settle(now_s)
        if link.last_heard_s < self.sent_s:
            link.suspected = True
        self.waiter.fail(
            RequestTimeout(f"{self.request} to {link.contact}: no reply in {self.timeout_s} s")
        )
