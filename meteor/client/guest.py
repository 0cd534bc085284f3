"""Nobody in particular: every verb of a client, for whoever asks a peer over HTTP without a name.

Law of this file: a peer never lends its name.  A peer that signs what it posts itself has a second
session for such callers, which signs nothing; both hear what is said to clients of this peer, and
tell by their tokens and streams what is theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from chord import Contact, Handler
from meteor.client.session import Session
from meteor.client.verbs import Verbs
from meteor.security.gatekeeper import Gatekeeper
from squid import KeywordSpace

FIRST_TOKEN: Final = 1 << 40
"""Of a guest session's requests: no peer posts so often by itself."""


class Guest(Verbs):
    """The verbs of an unsigned session, once there is one."""

    def __init__(
        self, session_of: Callable[[], Session], gatekeeper_of: Callable[[], Gatekeeper]
    ) -> None:
        self._session_of, self._gatekeeper_of = session_of, gatekeeper_of

    @property
    def session(self) -> Session:
        """Their conversations with the overlay; raises `Closed`."""
        return self._session_of()

    @property
    def space(self) -> KeywordSpace:
        """The overlay's keyword space; raises `Closed`."""
        return self._session_of().space

    @property
    def gatekeeper(self) -> Gatekeeper:
        """Who looks at the signatures of those that do give a name; raises `Closed`."""
        return self._gatekeeper_of()

    @property
    def _session(self) -> Session:
        return self._session_of()


def guest_session(own: Session, contact: Contact, first_version: int) -> Session:
    """The session of whoever gives no name: the peer's own where that signs nothing either."""
    if own.signer is None:
        return own
    guest = Session(
        own.runtime, [contact], space=own.space, callbacks=own.callbacks,
        first_version=first_version, first_token=FIRST_TOKEN, steady_clock=own.steady_clock,
    )  # fmt: skip
    guest.uplink.embed(contact)
    return guest


def heard_by(own: Session, guest: Session) -> Mapping[type, Handler]:
    """What is said to clients, to both sessions; a session passes by what is not its own."""
    if own is guest:
        return own.handlers

    def both(kind: type) -> Handler:
        def handle(sender: Contact, message: object, remaining_s: float) -> None:
            own.handlers[kind](sender, message, remaining_s)
            guest.handlers[kind](sender, message, remaining_s)

        return handle

    return {kind: both(kind) for kind in own.handlers}
