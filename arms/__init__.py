"""Rendezvous: profiles, what they match, and what follows from a match."""

from squid import LimitExceeded as LimitExceeded
from squid import MeteorError as MeteorError
from squid import TypeMismatch as TypeMismatch

from arms.actions import ACTIONS as ACTIONS
from arms.actions import DATA as DATA
from arms.actions import INTEREST as INTEREST
from arms.actions import WATCH as WATCH
from arms.actions import Action as Action
from arms.actions import Kind as Kind
from arms.actions import action_named as action_named
from arms.actions import parse_call as parse_call
from arms.builders import between as between
from arms.builders import prefix as prefix
from arms.errors import ArmsError as ArmsError
from arms.errors import ProfileError as ProfileError
from arms.errors import SelectorError as SelectorError
from arms.errors import UnknownAction as UnknownAction
from arms.profile import Profile as Profile
from arms.profile import profile as profile
from arms.profile_index import ProfileIndex as ProfileIndex
from arms.rendezvous import Arrival as Arrival
from arms.rendezvous import Deletion as Deletion
from arms.rendezvous import Reaction as Reaction
from arms.rendezvous import Rendezvous as Rendezvous
from arms.rendezvous import Return as Return
from arms.rendezvous import Tell as Tell
from arms.store import Outcome as Outcome
from arms.store import Record as Record
from arms.store import Store as Store
from arms.written import ANY as ANY

__all__ = [
    "Profile", "profile", "ANY", "between", "prefix", "ProfileIndex",
    "ACTIONS", "Action", "Kind", "DATA", "INTEREST", "WATCH", "action_named", "parse_call",
    "Record", "Store", "Outcome", "Rendezvous", "Arrival", "Deletion", "Reaction", "Tell", "Return",
    "MeteorError", "ArmsError", "SelectorError", "ProfileError", "UnknownAction", "TypeMismatch",
    "LimitExceeded",
]  # fmt: skip
