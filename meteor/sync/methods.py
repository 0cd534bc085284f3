"""The one list of methods: what the blocking side has of the asynchronous one, and how.

Law of this file: a table.  `meteor.sync.generating` writes `verbs`, `client`, `peer` and `overlay`
from it, and the tests run both sides by it: a public method of the asynchronous side that stands
nowhere here fails them.  After a change there: `pytest tests/meteor/test_sync_generated.py
--rewrite`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

How = Literal[
    "waits", "calls", "answers", "streams", "posts", "clients", "peers", "reads", "own"
]  # fmt: skip
"""`waits`: returns what awaiting gives.  `calls`: returns at once, and runs in the loop.
`answers`: an `Answer` to take from.  `streams`: an `Interest` or `Watch` that is posted already.
`posts`: one of these, by the action.  `clients`, `peers`: what awaiting gives, blocking.  `reads`:
a property.  `own`: written by hand, as blocking differs in more than waiting."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """One class of both sides."""

    name: str
    module: str
    """Where the asynchronous class is defined, or, of verbs, all its parts."""
    methods: Mapping[str, How]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """What the blocking side does not have, and why."""


VERBS: Final = Mirror(
    "Verbs",
    "meteor.client.verbs",
    {
        "owner": "own",
        "post": "posts",
        "store": "waits",
        "retrieve": "answers",
        "perform": "answers",
        "notify_data": "streams",
        "notify_interest": "streams",
        "attach": "streams",
        "delete_data": "waits",
        "delete_interest": "waits",
        "renew": "waits",
        "cancel": "waits",
        "replace": "waits",
        "post_many": "own",
        "ring": "waits",
        "forget": "waits",
    },
)

CLIENT: Final = Mirror(
    "Client",
    "meteor.client.client",
    {
        "space": "reads",
        "peer_address": "reads",
        "connected": "reads",
        "callbacks": "own",
        "close": "own",
    },
    {
        "open": "`connect` returns a client that is open",
        "abandon": "`close` waits for nothing that takes long",
    },
)

PEER: Final = Mirror(
    "Peer",
    "meteor.peer",
    {
        "address": "reads",
        "id": "reads",
        "contact": "reads",
        "space": "reads",
        "serving": "reads",
        "failure": "reads",
        "whereabouts": "reads",
        "unreadiness": "reads",
        "snapshot": "calls",
        "reload_policy": "waits",
        "reload_certificates": "calls",
        "callbacks": "own",
        "action": "own",
        "start": "own",
        "relocated": "own",
        "leave": "own",
        "close": "own",
        "crash": "own",
        "wait_closed": "waits",
        "wait_place": "waits",
    },
    {
        "core": "the protocol side belongs to the thread of its loop",
        "guest": "for what this peer itself serves, in its loop",
    },
)

OVERLAY: Final = Mirror(
    "LocalOverlay",
    "meteor.local",
    {
        "space": "reads",
        "peers": "own",
        "living": "own",
        "add_peer": "peers",
        "connect": "clients",
        "close": "own",
    },
)

ANSWER: Final = Mirror(
    "Answer",
    "meteor.client.answer",
    {
        "receipt": "own",
        "complete": "own",
        "missing": "own",
        "dropped": "own",
        "is_standing": "own",
        "all": "own",
        "first": "own",
        "close": "own",
        "detach": "own",
    },
    {
        "begin": "a loop does it, and `with`",
        "take": "a loop does it",
        "take_now": "a loop does it",
        "mailbox": "a loop takes from it",
        "leave": "leaving a loop does it",
        "abandon": "closing the client does it",
    },
)

INTEREST: Final = Mirror(
    "Interest",
    "meteor.client.interest",
    {
        "id": "own",
        "state": "own",
        "missing": "own",
        "receipt": "own",
        "dropped": "own",
        "recv": "own",
        "replace": "own",
        "renew": "own",
        "close": "own",
        "detach": "own",
    },
    dict.fromkeys(("take_now", "ready", "mailbox"), "a loop does it, and `recv`"),
)

WATCH: Final = Mirror(
    "Watch",
    "meteor.client.watch",
    {**INTEREST.methods, "active": "own", "wait_active": "own", "wait_idle": "own"},
    INTEREST.left_out,
)

GENERATED: Final = (VERBS, CLIENT, PEER, OVERLAY)
MIRRORED: Final = (*GENERATED, ANSWER, INTEREST, WATCH)
