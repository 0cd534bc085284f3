"""The copy's side of a comparison: it answers each request from what it has then.

Law of this file: nothing is kept between two requests, and each is bounded before anything is done
for it: a page of records, a list of at most some hundred states, 64 spans.  Whoever asks has to be
the primary whose copy this peer is.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final

from chord import Contact, Deferred, Fault, Handler, Runtime
from meteor.copies.entropy_forms import (
    LISTED_MAX,
    PIECES_MAX,
    SPANS_MAX,
    STATES_MAX,
    Malformed,
    PositionForm,
    belongs,
    checked_intervals,
    checked_span,
    pack_fingerprints,
    read_fingerprints,
    state_of,
)
from meteor.copies.entropy_source import (
    Source,
    is_steady,
    is_wanted,
    known_section,
    steady,
    tell_outlived,
)
from meteor.keeping.fingerprints import Section, Span
from meteor.keeping.key_tree import Digest
from meteor.keeping.placement import Key, key_of
from meteor.wire.entropy_messages import (
    Compared,
    CompareHoldings,
    CompareSpans,
    FetchRecords,
    GiveRecords,
    RecordsFetched,
    RecordsGiven,
    RecordState,
    SettleStates,
    SpanAnswer,
    StatesSettled,
)
from meteor.wire.operations import Carried
from squid import HilbertCurve, Intervals

PAGE_BYTES: Final = 64 * 1024
"""A page of records, unless one alone is larger."""
EXAMINED_MAX: Final = 2 * SPANS_MAX * LISTED_MAX
"""Records that are looked at for one list of unknown ones."""

_Conversation = Callable[[Any, Section], Coroutine[Any, Any, object]]


class EntropyAnswers:
    """What one peer answers to the primaries whose copy it is."""

    def __init__(self, runtime: Runtime, curve: HilbertCurve, source: Source) -> None:
        self._runtime, self._curve, self._source = runtime, curve, source
        self._form = PositionForm(curve)

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {
            CompareHoldings: self._checked(self._compare_holdings),
            CompareSpans: self._checked(self._compare_spans),
            SettleStates: self._checked(self._settle),
            GiveRecords: self._checked(self._take),
            FetchRecords: self._checked(self._fetch),
        }

    def _checked(self, conversation: _Conversation) -> Handler:
        """Whatever is asked: only of one's primary, and only about what that holds."""

        def handle(sender: Contact, message: Any, _: float) -> Deferred:
            try:
                intervals = checked_intervals(message.intervals, self._curve)
            except Malformed as error:
                raise Fault("Malformed", str(error)) from error
            self._source.check(sender, intervals)
            return Deferred(self._converse(conversation, sender, message, intervals))

        return handle

    async def _converse(
        self, conversation: _Conversation, sender: Contact, message: object, intervals: Intervals
    ) -> object:
        section = await known_section(self._runtime, self._source, intervals)
        try:
            answer = await conversation(message, section)
        except Malformed as error:
            raise Fault("Malformed", str(error)) from error
        self._source.check(sender, intervals)  # it may have been laid down while it was written
        return answer

    async def _compare_holdings(self, message: CompareHoldings, section: Section) -> Compared:
        spans = section.spans
        if len(message.digests) != len(spans):
            raise Malformed(f"{len(spans)} digests are compared, not {len(message.digests)}")
        answers = []
        for span, theirs in zip(spans, message.digests, strict=True):
            equal = section.digest(span) == Digest(theirs.records, theirs.total)
            answers.append(SpanAnswer(equal=True) if equal else self._answer(section, span))
        return Compared(() if all(answer.equal for answer in answers) else tuple(answers))

    async def _compare_spans(self, message: CompareSpans, section: Section) -> Compared:
        if len(message.spans) > SPANS_MAX:
            raise Malformed(f"at most {SPANS_MAX} spans are compared at once")
        spans = [checked_span(self._form.read_span(span), section) for span in message.spans]
        return Compared(tuple(self._answer(section, span) for span in spans))

    def _answer(self, section: Section, span: Span) -> SpanAnswer:
        if section.digest(span).records <= LISTED_MAX:
            return SpanAnswer(listed=pack_fingerprints(one for one, _ in section.entries(span)))
        pieces = section.split(span, PIECES_MAX)
        return SpanAnswer(pieces=tuple(map(self._form.pack_piece, pieces)))

    async def _settle(self, message: SettleStates, section: Section) -> StatesSettled:
        if len(message.described) > STATES_MAX or len(message.spans) > SPANS_MAX:
            raise Malformed(
                f"at most {STATES_MAX} states and {SPANS_MAX} spans are settled at once"
            )
        unknown = read_fingerprints(message.unknown, STATES_MAX)
        spans = [checked_span(self._form.read_span(span), section) for span in message.spans]
        wanted = [
            at for at, state in enumerate(message.described) if is_wanted(self._source, state)
        ]
        tell_outlived(self._source, message.described)
        return StatesSettled(tuple(wanted), tuple(self._described(section, spans, set(unknown))))

    def _described(
        self, section: Section, spans: Sequence[Span], unknown: set[int]
    ) -> list[RecordState]:
        """Those of some fingerprints in some spans that will be here for a while."""
        found: list[RecordState] = []
        left = EXAMINED_MAX
        for span in spans:
            for fingerprint, placed in section.entries(span):
                left -= 1
                if left < 0 or len(found) == len(unknown):
                    return found
                carried = placed.carried
                if fingerprint in unknown and is_steady(self._source, placed, key_of(carried)):
                    found.append(state_of(carried))
        return found

    async def _take(self, message: GiveRecords, section: Section) -> RecordsGiven:
        mine = [one for one in message.carried if belongs(one, section, self._curve)]
        return RecordsGiven(await self._source.admit(mine))

    async def _fetch(self, message: FetchRecords, section: Section) -> RecordsFetched:
        if len(message.keys) > STATES_MAX:
            raise Malformed(f"at most {STATES_MAX} records are asked for at once")
        page, looked_up = page_of(self._source, message.keys, section)
        return RecordsFetched(tuple(page), looked_up)


def page_of(source: Source, keys: Sequence[Key], section: Section) -> tuple[list[Carried], int]:
    """The records of the first keys, as they travel, up to a page; and how many keys that were."""
    page: list[Carried] = []
    size = 0
    for looked_up, key in enumerate(keys):
        for carried in steady(source, [key], section):
            length = len(carried.blob) + len(carried.id) + len(carried.owner) + 100
            if page and size + length > PAGE_BYTES:
                return page, looked_up
            page.append(source.outgoing(carried))
            size += length
    return page, len(keys)
