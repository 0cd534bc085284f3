"""What can go wrong between peers: few kinds, told apart by who is at fault.

Law of this file: every error pickles, and its text says what was asked of whom and the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chord.contact import Contact


class MeteorError(Exception):
    """Root of everything that Meteor raises on purpose, in every layer."""


class RingError(MeteorError):
    """Root of what chord raises."""


class CallError(RingError):
    """A call to another peer brought no reply."""


class DialRefused(CallError):
    """Nobody listens at the contact's address: fail-stop evidence, the strongest there is."""


class DialRejected(DialRefused):
    """Who listens there does not serve this peer, or nobody by now: it lives."""


class AnotherAnswers(DialRefused):
    """Another peer is at the contact's address, `who` as far as that is known: whoever was there is
    gone, or at another place of the ring since."""

    def __init__(self, message: str, who: Contact | None = None) -> None:
        super().__init__(message)
        self.who = who


class LinkClosed(CallError):
    """The link broke before the reply came; the request may or may not have been carried out."""


class RequestTimeout(CallError):
    """No reply within the time given."""


class Busy(CallError):
    """The receiver's queue for this link is full; try later or elsewhere.

    Where `.may_be_done` is set another one had been asked before, and may have done it."""

    may_be_done: bool = False


class RemoteFault(CallError):
    """The receiver refused the request: `kind` names the error, `details` its fields."""

    def __init__(self, kind: str, message: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(kind, message, details)
        self.kind, self.message, self.details = kind, message, details

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class Fault(RingError):
    """Raised by a handler to refuse a request; the caller sees `RemoteFault` with these fields."""

    def __init__(self, kind: str, message: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(kind, message, details)
        self.kind, self.message, self.details = kind, message, details

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class LookupFailed(RingError):
    """No owner answered for a key before the time was spent."""


class NotJoined(RingError):
    """The node is not a member of a ring (yet, or no longer)."""


class JoinRefused(RingError):
    """The ring did not take the joiner; the text says why."""


class Supplanted(RingError):
    """A peer at another address has this one's identifier, and its place in the ring: it was given
    up as dead, and started again elsewhere."""
