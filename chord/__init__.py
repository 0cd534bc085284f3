"""The ring: who owns an identifier."""

from chord import placement as placement
from chord import relocation as relocation
from chord.arc_cache import ArcCache as ArcCache
from chord.arc_cache import KnownArc as KnownArc
from chord.config import ChordConfig as ChordConfig
from chord.contact import UNKNOWN_ID as UNKNOWN_ID
from chord.contact import Contact as Contact
from chord.contact import WideInt as WideInt
from chord.errors import AnotherAnswers as AnotherAnswers
from chord.errors import Busy as Busy
from chord.errors import CallError as CallError
from chord.errors import DialRefused as DialRefused
from chord.errors import DialRejected as DialRejected
from chord.errors import Fault as Fault
from chord.errors import JoinRefused as JoinRefused
from chord.errors import LinkClosed as LinkClosed
from chord.errors import LookupFailed as LookupFailed
from chord.errors import MeteorError as MeteorError
from chord.errors import NotJoined as NotJoined
from chord.errors import RemoteFault as RemoteFault
from chord.errors import RequestTimeout as RequestTimeout
from chord.errors import RingError as RingError
from chord.errors import Supplanted as Supplanted
from chord.exchange import CALLS_PER_LINK as CALLS_PER_LINK
from chord.exchange import Exchange as Exchange
from chord.exchanging_runtime import ExchangingRuntime as ExchangingRuntime
from chord.finger_table import Finger as Finger
from chord.frozen import dataclass as dataclass
from chord.frozen import replace as replace
from chord.ideal import IdealPlace as IdealPlace
from chord.ideal import ideal_ring as ideal_ring
from chord.identifiers import HASH_BITS as HASH_BITS
from chord.identifiers import Arc as Arc
from chord.identifiers import between as between
from chord.identifiers import distance as distance
from chord.identifiers import identifier as identifier
from chord.link import ACKNOWLEDGE_WITHIN_S as ACKNOWLEDGE_WITHIN_S
from chord.link import MESSAGES as LINK_MESSAGES
from chord.link import FaultReport as FaultReport
from chord.link import FrameKind as FrameKind
from chord.link import LinkEnd as LinkEnd
from chord.lookup import LookupTally as LookupTally
from chord.lookup import Owner as Owner
from chord.messages import MESSAGES as RING_MESSAGES
from chord.messages import FindOwner as FindOwner
from chord.messages import GetNeighbours as GetNeighbours
from chord.messages import Neighbours as Neighbours
from chord.messages import Ping as Ping
from chord.node import ChordNode as ChordNode
from chord.node import Observer as Observer
from chord.placement import Burden as Burden
from chord.placement import split_id as split_id
from chord.placement_messages import MESSAGES as PLACEMENT_MESSAGES
from chord.placement_messages import FindPlace as FindPlace
from chord.placement_messages import LoadAnswer as LoadAnswer
from chord.placing import Placing as Placing
from chord.placing import ask_for_place as ask_for_place
from chord.relocation import RelocationConfig as RelocationConfig
from chord.ring_state import RingState as RingState
from chord.routing import Route as Route
from chord.runtime import NO_LINK as NO_LINK
from chord.runtime import Deferred as Deferred
from chord.runtime import Handler as Handler
from chord.runtime import Link as Link
from chord.runtime import Runtime as Runtime
from chord.runtime import Task as Task
from chord.runtime import Unhurried as Unhurried
from chord.waiting_links import WaitingLinks as WaitingLinks
from chord.world import Counters as Counters
from chord.world import Waiter as Waiter
from chord.world import World as World

MESSAGES = (*LINK_MESSAGES, *RING_MESSAGES, RingState, *PLACEMENT_MESSAGES)
"""All that chord puts on the wire or keeps over a restart, for the codec."""

__all__ = [
    "UNKNOWN_ID", "Contact", "WideInt",
    "Arc", "between", "distance", "identifier", "HASH_BITS",
    "ChordNode", "ChordConfig", "Observer", "RingState", "Owner", "LookupTally", "Route", "Finger",
    "ArcCache", "KnownArc", "IdealPlace", "ideal_ring", "FindOwner", "GetNeighbours", "Neighbours",
    "Ping",
    "MESSAGES",
    "MeteorError", "RingError", "CallError", "AnotherAnswers", "DialRefused", "DialRejected",
    "LinkClosed", "RequestTimeout", "Busy", "RemoteFault", "Fault", "LookupFailed", "NotJoined",
    "JoinRefused", "Supplanted",
    "placement", "relocation", "Burden", "Placing", "LoadAnswer", "RelocationConfig",
    "ask_for_place", "FindPlace", "split_id",
    "Runtime", "Handler", "Deferred", "Unhurried", "Link", "NO_LINK", "Task",
    "Exchange", "ExchangingRuntime", "World", "Waiter", "Counters", "LinkEnd", "FrameKind",
    "FaultReport", "WaitingLinks",
    "ACKNOWLEDGE_WITHIN_S", "CALLS_PER_LINK",
    "dataclass", "replace",
]  # fmt: skip
