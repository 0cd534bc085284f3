"""Meteor: decoupled interaction by content.

An overlay of rendezvous peers where data and interests meet, whichever comes first:

    async with meteor.connect("127.0.0.1:7400") as client:
        await client.store("type=temperature temperature=21.5", b"...")
        matches = await client.retrieve("type=temp* temperature=20..30")

Law of this file: it only names what is public.  Nothing is imported before its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from arms import ANY as ANY
    from arms import Profile as Profile
    from arms import between as between
    from arms import prefix as prefix
    from arms import profile as profile
    from meteor import peer_options as peer_options
    from meteor import sync as sync
    from meteor import wrong_values as wrong_values
    from meteor.client.answer import Answer as Answer
    from meteor.client.callbacks import Callbacks as Callbacks
    from meteor.client.client import Client as Client
    from meteor.client.config import ClientConfig as ClientConfig
    from meteor.client.connection import connect as connect
    from meteor.client.interest import Interest as Interest
    from meteor.client.post_many import Message as Message
    from meteor.client.post_many import Receipts as Receipts
    from meteor.client.watch import Watch as Watch
    from meteor.errors import AddressInUse as AddressInUse
    from meteor.errors import Busy as Busy
    from meteor.errors import CertificateError as CertificateError
    from meteor.errors import Closed as Closed
    from meteor.errors import DataDirLocked as DataDirLocked
    from meteor.errors import Incomplete as Incomplete
    from meteor.errors import JoinFailed as JoinFailed
    from meteor.errors import LimitExceeded as LimitExceeded
    from meteor.errors import MeteorError as MeteorError
    from meteor.errors import NotConnected as NotConnected
    from meteor.errors import ProfileError as ProfileError
    from meteor.errors import Refused as Refused
    from meteor.errors import SelectorError as SelectorError
    from meteor.errors import SlowConsumer as SlowConsumer
    from meteor.errors import SpaceError as SpaceError
    from meteor.errors import SpaceMismatch as SpaceMismatch
    from meteor.errors import Supplanted as Supplanted
    from meteor.errors import Timeout as Timeout
    from meteor.errors import TypeMismatch as TypeMismatch
    from meteor.errors import UnknownAction as UnknownAction
    from meteor.errors import VersionMismatch as VersionMismatch
    from meteor.journal.journal import Entry as Entry
    from meteor.journal.journal import Journal as Journal
    from meteor.journal.journal import JournalFailed as JournalFailed
    from meteor.journal.journal import MemoryJournal as MemoryJournal
    from meteor.journal.journal import Scan as Scan
    from meteor.local import LocalOverlay as LocalOverlay
    from meteor.peer import Peer as Peer
    from meteor.receipt import Receipt as Receipt
    from meteor.rendezvous.application_actions import ActionContext as ActionContext
    from meteor.rendezvous.application_actions import ActionHandler as ActionHandler
    from meteor.rendezvous.event_log import EventLog as EventLog
    from meteor.rendezvous.event_log import log_events as log_events
    from meteor.rendezvous.rendezvous_peer import RendezvousPeer as RendezvousPeer
    from meteor.rest.config import RestConfig as RestConfig
    from meteor.security.credentials import ActingFor as ActingFor
    from meteor.security.delegation import Delegation as Delegation
    from meteor.security.identity import Identity as Identity
    from meteor.security.identity import IdentityError as IdentityError
    from meteor.security.policy import Policy as Policy
    from meteor.security.policy_toml import PolicyError as PolicyError
    from meteor.security.policy_toml import parse_policy as parse_policy
    from meteor.security.tls import TLS as TLS
    from meteor.values import Match as Match
    from meteor.values import Notification as Notification
    from meteor.values import Result as Result
    from meteor.wire.codec import wire_codec as wire_codec
    from meteor.wire.messages import Found as Found
    from meteor.wire.messages import Neighbour as Neighbour
    from meteor.wire.messages import Notice as Notice
    from meteor.wire.messages import RingPicture as RingPicture
    from meteor.wire.record_id import make_id as make_id
    from meteor.wire.record_id import stem_of as stem_of
    from squid import Choice as Choice
    from squid import KeywordSpace as KeywordSpace
    from squid import Number as Number
    from squid import Time as Time
    from squid import Word as Word

_MODULES: Final = {
    "arms": ("ANY", "Profile", "between", "prefix", "profile"),
    "meteor.client.answer": ("Answer",),
    "meteor.rendezvous.application_actions": ("ActionContext", "ActionHandler"),
    "meteor.client.callbacks": ("Callbacks",),
    "meteor.client.client": ("Client",),
    "meteor.client.config": ("ClientConfig",),
    "meteor.client.connection": ("connect",),
    "meteor.errors": (
        "AddressInUse", "Busy", "CertificateError", "Closed", "DataDirLocked", "Incomplete",
        "JoinFailed", "LimitExceeded", "MeteorError", "NotConnected", "ProfileError", "Refused",
        "SelectorError", "SlowConsumer", "SpaceError", "SpaceMismatch", "Supplanted", "Timeout",
        "TypeMismatch", "UnknownAction", "VersionMismatch",
    ),
    "meteor.rendezvous.event_log": ("EventLog", "log_events"),
    "meteor.client.interest": ("Interest",),
    "meteor.journal.journal": ("Entry", "Journal", "JournalFailed", "MemoryJournal", "Scan"),
    "meteor.local": ("LocalOverlay",),
    "meteor.wire.codec": ("wire_codec",),
    "meteor.wire.messages": ("Found", "Neighbour", "Notice", "RingPicture"),
    "meteor.wire.record_id": ("make_id", "stem_of"),
    "meteor.peer": ("Peer",),
    "meteor.peer_options": ("peer_options",),
    "meteor.client.post_many": ("Message", "Receipts"),
    "meteor.rendezvous.rendezvous_peer": ("RendezvousPeer",),
    "meteor.security.credentials": ("ActingFor",),
    "meteor.security.delegation": ("Delegation",),
    "meteor.security.identity": ("Identity", "IdentityError"),
    "meteor.security.policy": ("Policy",),
    "meteor.security.policy_toml": ("PolicyError", "parse_policy"),
    "meteor.rest.config": ("RestConfig",),
    "meteor.security.tls": ("TLS",),
    "meteor.sync": ("sync",),
    "meteor.receipt": ("Receipt",),
    "meteor.values": ("Match", "Notification", "Result"),
    "meteor.client.watch": ("Watch",),
    "meteor.wrong_values": ("wrong_values",),
    "squid": ("Choice", "KeywordSpace", "Number", "Time", "Word"),
}  # fmt: skip
"""Where each public name comes from: a module is imported when one of its names is first used, so
that `meteor --help` waits for none of them."""
_LAZY: Final = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Peer", "connect", "LocalOverlay", "sync", "Client", "ClientConfig", "Callbacks",
    "RendezvousPeer",
    "EventLog", "log_events", "wire_codec", "Found", "Notice", "peer_options", "wrong_values",
    "make_id", "stem_of",
    "TLS", "RestConfig",
    "Answer", "Interest", "Watch", "Receipt", "Match", "Notification", "Result",
    "ActionContext", "ActionHandler", "Message", "Receipts",
    "RingPicture", "Neighbour", "Journal", "MemoryJournal", "Entry", "Scan", "JournalFailed",
    "KeywordSpace", "Word", "Number", "Choice", "Time",
    "Profile", "profile", "between", "prefix", "ANY",
    "MeteorError", "SelectorError", "ProfileError", "TypeMismatch", "LimitExceeded", "SpaceError",
    "UnknownAction", "SpaceMismatch", "VersionMismatch", "Incomplete", "Timeout", "NotConnected",
    "JoinFailed", "Refused", "Busy", "SlowConsumer", "DataDirLocked", "AddressInUse",
    "CertificateError", "Closed", "Supplanted",
    "Identity", "IdentityError", "ActingFor", "Delegation", "Policy", "PolicyError", "parse_policy",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = import_module(module)
    value = globals()[name] = found if module == f"meteor.{name}" else getattr(found, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
