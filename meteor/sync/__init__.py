"""The same verbs, blocking: for programs without an event loop of their own (SPEC section 4).

    with meteor.sync.connect("127.0.0.1:7400") as client:
        client.store("type=temperature temperature=21.5", b"...")
        for match in client.retrieve("type=temp* temperature=20..30"):
            ...

Law of this package: no protocol; every call runs on a loop in a thread of its own, and any number
of threads may share a client, a peer or a stream.
"""

from __future__ import annotations

from meteor.sync.answer import Answer as Answer
from meteor.sync.answer import Matches as Matches
from meteor.sync.client import Client as Client
from meteor.sync.client import connect as connect
from meteor.sync.interest import Interest as Interest
from meteor.sync.interest import Watch as Watch
from meteor.sync.overlay import LocalOverlay as LocalOverlay
from meteor.sync.peer import Peer as Peer

__all__ = ["connect", "Peer", "LocalOverlay", "Client", "Answer", "Matches", "Interest", "Watch"]
