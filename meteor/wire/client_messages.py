"""What a client may say to a peer; everything else is between peers.

Law of this file: one list.  A client is a contact without an address.  Under TLS a peer has shown a
certificate of the ring's CA; a client need not have, and must not be able to move a ring pointer or
write a copy.
"""

from __future__ import annotations

from typing import Final

from chord import Contact, FindPlace
from meteor.errors import Refused, to_fault
from meteor.wire.messages import (
    Acknowledge,
    AcknowledgeAll,
    Amend,
    Forget,
    Greet,
    Post,
    RingQuestion,
    Vouch,
)

FROM_CLIENTS: Final = frozenset({
    Greet, Post, Amend, Acknowledge, AcknowledgeAll, RingQuestion, Forget, FindPlace, Vouch
})  # fmt: skip


def check_sender(sender: Contact, message: object) -> None:
    """Refuse a client's message that only a peer may send; raises `chord.Fault`."""
    if not sender.address and type(message) not in FROM_CLIENTS:
        name = type(message).__name__
        raise to_fault(Refused(f"{name} is between peers: a client cannot ask it", "peers only"))
