"""Content routing: keyword tuples on a Hilbert curve, and the curve on the ring."""

from chord import MeteorError as MeteorError
from chord import dataclass as dataclass
from chord import replace as replace
from squid.array_refinement import ArrayRefinement as ArrayRefinement
from squid.dyadic_shares import Share as Share
from squid.dyadic_shares import Stretch as Stretch
from squid.dyadic_shares import shares as shares
from squid.errors import CurveError as CurveError
from squid.errors import LimitExceeded as LimitExceeded
from squid.errors import SpaceError as SpaceError
from squid.errors import SpaceMismatch as SpaceMismatch
from squid.errors import SquidError as SquidError
from squid.errors import TypeMismatch as TypeMismatch
from squid.finger_shares import Surroundings as Surroundings
from squid.finger_shares import finger_shares as finger_shares
from squid.hilbert import HilbertCurve as HilbertCurve
from squid.index_keys import indexes_from_keys as indexes_from_keys
from squid.index_keys import keys_from_indexes as keys_from_indexes
from squid.intervals import Intervals as Intervals
from squid.intervals import count as count_indexes
from squid.intervals import covers as covers
from squid.intervals import intersect as intersect
from squid.intervals import merge as merge
from squid.intervals import of_arc as of_arc
from squid.intervals import subtract as subtract
from squid.keyword_space import Extra as Extra
from squid.keyword_space import KeywordSpace as KeywordSpace
from squid.keyword_tuple import KeywordTuple as KeywordTuple
from squid.keyword_tuple import box_of as box_of
from squid.keywords import Choice as Choice
from squid.keywords import Dimension as Dimension
from squid.keywords import Number as Number
from squid.keywords import Time as Time
from squid.keywords import Word as Word
from squid.ledger import Ledger as Ledger
from squid.messages import MESSAGES as MESSAGES
from squid.messages import HandOn as HandOn
from squid.normal_form import normal_form as normal_form
from squid.observer import RouteObserver as RouteObserver
from squid.operation import Outcome as Outcome
from squid.operation import Wanted as Wanted
from squid.plain import plain_text as plain_text
from squid.query import Absent as Absent
from squid.query import Hull as Hull
from squid.query import NumberInterval as NumberInterval
from squid.query import Prefix as Prefix
from squid.query import Term as Term
from squid.query import Whole as Whole
from squid.query import WordInterval as WordInterval
from squid.region import Box as Box
from squid.region import Interval as Interval
from squid.router import Router as Router
from squid.router_config import Addressing as Addressing
from squid.router_config import RouterConfig as RouterConfig
from squid.worker import Work as Work
from squid.worker import Worker as Worker

__all__ = [
    "KeywordSpace", "Extra", "Dimension", "Word", "Number", "Choice", "Time", "normal_form",
    "plain_text",
    "Term", "Whole", "Absent", "WordInterval", "Prefix", "NumberInterval", "Hull",
    "HilbertCurve", "ArrayRefinement", "Box", "Interval", "Intervals",
    "merge", "intersect", "subtract", "covers", "count_indexes", "of_arc",
    "keys_from_indexes", "indexes_from_keys",
    "Share", "shares", "Stretch", "Surroundings", "finger_shares", "Ledger",
    "KeywordTuple", "box_of", "Router", "RouterConfig", "Addressing", "Worker", "Work", "Outcome",
    "Wanted",
    "HandOn", "RouteObserver", "MESSAGES",
    "MeteorError", "SquidError", "CurveError", "SpaceError", "SpaceMismatch", "TypeMismatch",
    "dataclass", "replace",
    "LimitExceeded",
]  # fmt: skip
