"""Who looks on while queries are routed: event logs, metrics, studies.

Law of this file: a protocol.  Looking on decides nothing; while nobody does it costs one comparison
a hand-on.
"""

from __future__ import annotations

from typing import Protocol

from chord import Contact
from squid.messages import HandOn
from squid.operation import Outcome
from squid.region import Box
from squid.worker import Work


class RouteObserver(Protocol):
    """What one peer's router tells, in the turn in which it happens; it must not raise."""

    def began(self, operation: bytes, box: Box, body: bytes) -> None:
        """An operation is brought to a region from this peer."""

    def ended(self, operation: bytes, outcome: Outcome) -> None:
        """The same operation has come to this; not told of one that was cancelled."""

    def handed_on(self, share: HandOn, contact: Contact) -> None:
        """A contact took this share from this peer."""

    def worked(self, share: HandOn, work: Work) -> None:
        """A part of a share is done here, of one's own or of one that was handed on."""
