"""Rendezvous: profiles, what they match, and what follows from a match."""

from arms.action_matrix import Asked as Asked
from arms.action_matrix import Reaction as Reaction
from arms.action_matrix import Return as Return
from arms.action_matrix import Steps as Steps
from arms.action_matrix import Tell as Tell
from arms.actions import ACTIONS as ACTIONS
from arms.actions import DATA as DATA
from arms.actions import INTEREST as INTEREST
from arms.actions import WATCH as WATCH
from arms.actions import Action as Action
from arms.actions import Kind as Kind
from arms.actions import action_named as action_named
from arms.actions import any_action as any_action
from arms.actions import parse_call as parse_call
from arms.at_rest import AtRest as AtRest
from arms.at_rest import at_rest as at_rest
from arms.budget import OverBudget as OverBudget
from arms.builders import between as between
from arms.builders import prefix as prefix
from arms.declarations import Space as Space
from arms.errors import ArmsError as ArmsError
from arms.errors import ProfileError as ProfileError
from arms.errors import SelectorError as SelectorError
from arms.errors import UnknownAction as UnknownAction
from arms.hardened_xml import XML_LIMITS as XML_LIMITS
from arms.hardened_xml import XmlLimits as XmlLimits
from arms.message import ActionOutput as ActionOutput
from arms.message import FoundMessage as FoundMessage
from arms.message import Message as Message
from arms.message import NotificationMessage as NotificationMessage
from arms.message import Result as Result
from arms.message_xml import parse_message as parse_message
from arms.message_xml import write_message as write_message
from arms.message_xml import write_notification as write_notification
from arms.message_xml import write_result as write_result
from arms.parted import Parted as Parted
from arms.plain_columns import PlainColumns as PlainColumns
from arms.plain_columns import PlainForm as PlainForm
from arms.plain_columns import plain_form as plain_form
from arms.profile import Profile as Profile
from arms.profile import profile as profile
from arms.profile_index import ProfileIndex as ProfileIndex
from arms.record import Record as Record
from arms.rendezvous import Arrival as Arrival
from arms.rendezvous import Deletion as Deletion
from arms.rendezvous import Rendezvous as Rendezvous
from arms.selector_list import SelectorList as SelectorList
from arms.store import Outcome as Outcome
from arms.store import Store as Store
from arms.weighing import Weighing as Weighing
from arms.written import ANY as ANY
from arms.written import LIMITS as LIMITS
from arms.written import Limits as Limits
from squid import LimitExceeded as LimitExceeded
from squid import MeteorError as MeteorError
from squid import TypeMismatch as TypeMismatch

__all__ = [
    "Profile", "profile", "ANY", "between", "prefix", "Space", "LIMITS", "Limits", "ProfileIndex",
    "Message", "FoundMessage", "Result", "ActionOutput", "NotificationMessage",
    "XmlLimits", "XML_LIMITS",
    "parse_message", "write_message", "write_result", "write_notification",
    "ACTIONS", "Action", "Kind", "DATA", "INTEREST", "WATCH", "action_named", "any_action",
    "parse_call",
    "Record", "Store", "Outcome", "Rendezvous", "Arrival", "Deletion", "Reaction", "Tell", "Return",
    "Steps", "Asked", "SelectorList", "Weighing", "OverBudget",
    "AtRest", "at_rest", "Parted", "PlainColumns", "PlainForm", "plain_form",
    "MeteorError", "ArmsError", "SelectorError", "ProfileError", "UnknownAction", "TypeMismatch",
    "LimitExceeded",
]  # fmt: skip
