"""A request that waits for its reply, and what it means that none came.

Law of this file: plain bookkeeping of `chord.exchange`.
"""

from __future__ import annotations

from typing import TypeVar

from chord.deadline_table import DeadlineTable
from chord.errors import Busy, RemoteFault, RequestTimeout
from chord.frozen import dataclass
from chord.link import FaultReport, FrameKind, LinkEnd
from chord.world import Waiter

EntryT = TypeVar("EntryT")


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A request on its way; times are those of the local clock."""

    waiter: Waiter
    link: LinkEnd
    asked: type
    """What was asked; its name is for errors alone."""
    sent_s: float
    timeout_s: float

    @property
    def request(self) -> str:
        """The name of what was asked."""
        return self.asked.__name__

    def refused(self, kind: FrameKind, message: object) -> None:
        """It was answered by a fault, or not looked at."""
        if kind == FrameKind.FAULT and isinstance(message, FaultReport):
            self.waiter.fail(RemoteFault(message.kind, message.message, message.details))
        else:
            self.waiter.fail(Busy(f"{self.link.contact} is busy: {self.request} was not looked at"))

    def give_up(self, now_s: float) -> None:
        """No reply came in time.  A link on which nothing at all came since is suspected; a peer
        that is busy with the request says other things meanwhile."""
        link = self.link
        link.asking -= 1
        link.settle(now_s)
        if link.last_heard_s < self.sent_s:
            link.suspected = True
        self.waiter.fail(
            RequestTimeout(f"{self.request} to {link.contact}: no reply in {self.timeout_s:.3g} s")
        )


def calls_over(pending: DeadlineTable[EntryT], link: LinkEnd) -> list[tuple[int, PendingCall]]:
    """The calls, among what is pending, that wait for this link's replies, by their numbers."""
    return [
        (number, entry)
        for number, entry in pending.items()
        if isinstance(entry, PendingCall) and entry.link is link
    ]
