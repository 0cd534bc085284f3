"""What the primary of a holding and one of its copies say when they compare what they have.

Law of this file: only frozen values.  Every request names the intervals that it is about, so that
whoever answers keeps nothing between two of them.  A position travels as its first bytes, the rest
being zeros: where prefixes are short, so are they.  Fingerprints travel as 8 bytes each, joined.
"""

from __future__ import annotations

from chord import dataclass
from meteor.wire.messages import WireInterval
from meteor.wire.operations import Carried


@dataclass(frozen=True, slots=True)
class WireDigest:
    """How many records, and the sum of their fingerprints modulo 2^64."""

    records: int
    total: int


@dataclass(frozen=True, slots=True)
class WireSpan:
    """Positions from `first` to before `end`; an empty `end` is that of all positions."""

    first: bytes
    end: bytes


@dataclass(frozen=True, slots=True)
class WirePiece:
    """A part of a span, up to the next piece or the end of the span."""

    first: bytes
    records: int
    total: int


@dataclass(frozen=True, slots=True)
class RecordState:
    """A record without its content."""

    owner: str
    id: str
    kind: str
    version: int
    renewed: int


@dataclass(frozen=True, slots=True)
class CompareHoldings:
    """Have you got what I have in these intervals?  The reply is `Compared`, without any answer
    when all is equal."""

    intervals: tuple[WireInterval, ...]
    digests: tuple[WireDigest, ...]
    """Of the points of each interval, then of the wide records of all."""


@dataclass(frozen=True, slots=True)
class CompareSpans:
    """What have you got in these spans?  The reply is `Compared` with an answer for each."""

    intervals: tuple[WireInterval, ...]
    spans: tuple[WireSpan, ...]


@dataclass(frozen=True, slots=True)
class SpanAnswer:
    """What a copy has in one span: pieces where it is much, else a list."""

    pieces: tuple[WirePiece, ...] = ()
    listed: bytes = b""
    """Fingerprints."""
    equal: bool = False
    """It is what the asker has; the rest is empty then."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The answer to `CompareHoldings` and `CompareSpans`."""

    answers: tuple[SpanAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class SettleStates:
    """These I have and you do not: which do you want?  And what are these of yours?  The reply is
    `StatesSettled`."""

    intervals: tuple[WireInterval, ...]
    described: tuple[RecordState, ...]
    spans: tuple[WireSpan, ...] = ()
    """Where the unknown ones are."""
    unknown: bytes = b""
    """Fingerprints."""


@dataclass(frozen=True, slots=True)
class StatesSettled:
    """The answer to `SettleStates`."""

    wanted: tuple[int, ...]
    """Positions in the list of those described; ascending."""
    described: tuple[RecordState, ...]
    """The unknown ones that are still there and will be for a while."""


@dataclass(frozen=True, slots=True)
class GiveRecords:
    """Take these in.  The reply is `RecordsGiven` once they are durable."""

    intervals: tuple[WireInterval, ...]
    carried: tuple[Carried, ...]


@dataclass(frozen=True, slots=True)
class RecordsGiven:
    """How many of the records were news."""

    news: int


@dataclass(frozen=True, slots=True)
class FetchRecords:
    """Give me these.  The reply is `RecordsFetched`."""

    intervals: tuple[WireInterval, ...]
    keys: tuple[tuple[str, str], ...]
    """Identities, see `meteor.keeping.placement.Key`."""


@dataclass(frozen=True, slots=True)
class RecordsFetched:
    """A page of records: those of the first `looked_up` keys that are still there."""

    carried: tuple[Carried, ...]
    looked_up: int


MESSAGES: tuple[type, ...] = (
    WireDigest, WireSpan, WirePiece, RecordState,
    CompareHoldings, CompareSpans, SpanAnswer, Compared, SettleStates, StatesSettled,
    GiveRecords, RecordsGiven, FetchRecords, RecordsFetched,
)  # fmt: skip
