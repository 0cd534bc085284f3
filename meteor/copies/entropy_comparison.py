"""The primary's side of one comparison with one copy.

Law of this file: the conversation; what is equal, wanted or nonsense is decided elsewhere.  Top
down into whatever differs, as far as lists of at most 64 fingerprints; states are described before
records travel, then both sides get what they lack.  Every answer is checked, and what a copy may
lead on to is bounded: at the worst it costs its own share of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from chord import Contact, Runtime
from meteor.copies.entropy_answers import page_of
from meteor.copies.entropy_forms import (
    LISTED_MAX,
    PIECES_MAX,
    SPANS_MAX,
    STATES_MAX,
    Malformed,
    PositionForm,
    belongs,
    fingerprint_of_state,
    key_of_state,
    pack_fingerprints,
    read_fingerprints,
    state_of,
)
from meteor.copies.entropy_schedule import EntropyConfig
from meteor.copies.entropy_source import (
    Source,
    is_steady,
    is_wanted,
    known_section,
    tell_outlived,
)
from meteor.keeping.fingerprints import Section, Span
from meteor.keeping.placement import Key, key_of
from meteor.wire.entropy_messages import (
    Compared,
    CompareHoldings,
    CompareSpans,
    FetchRecords,
    GiveRecords,
    RecordsFetched,
    RecordsGiven,
    SettleStates,
    SpanAnswer,
    StatesSettled,
    WireDigest,
)
from meteor.wire.operations import Carried
from squid import HilbertCurve, Intervals

WAITING_MAX = 16_384
"""Spans that wait to be asked about: depth first, so far above what the largest shelf makes."""

MATCHED_MAX = 2 * LISTED_MAX
"""Records of one span that are looked at here, against the few that the copy lists: of more, parts
of it are asked about, or an empty copy would take a turn of seconds."""

ReplyT = TypeVar("ReplyT")
ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class Differences:
    """What a comparison came to."""

    sent: int = 0
    """Records that were news to the copy."""
    received: int = 0
    """Records that were news here."""
    seen: int = 0
    """States that one side had and the other had not, whatever became of them."""
    whole: bool = True
    """False when time ran out before everything was compared."""

    def __add__(self, other: Differences) -> Differences:
        return Differences(
            self.sent + other.sent,
            self.received + other.received,
            self.seen + other.seen,
            self.whole and other.whole,
        )


@dataclass(frozen=True, slots=True)
class _Unlike:
    """What was found in spans that both sides have listed."""

    ours: list[Key]
    theirs: list[tuple[Span, int]]
    """Fingerprints, and where they are."""


class Comparison:
    """One comparison, from the first digest to the last record."""

    def __init__(
        self,
        runtime: Runtime,
        curve: HilbertCurve,
        source: Source,
        config: EntropyConfig,
        copy: Contact,
        intervals: Intervals,
    ) -> None:
        self._runtime, self._curve, self._source = runtime, curve, source
        self._config, self._copy, self._intervals = config, copy, intervals
        self._form = PositionForm(curve)
        self._sent = self._received = self._seen = 0

    async def run(self) -> Differences:
        """Compare and exchange; raises `chord.CallError`, and `Malformed` for an answer that
        cannot be."""
        ends_s = self._runtime.now() + self._config.compare_s
        section = await self._section()
        spans = section.spans
        digests = [section.digest(span) for span in spans]
        packed = tuple(WireDigest(digest.records, digest.total) for digest in digests)
        reply = await self._ask(CompareHoldings(self._intervals, packed), Compared)
        whole = True
        if reply.answers:
            whole = await self._go_down(await self._look_into(spans, reply), ends_s)
        return Differences(self._sent, self._received, self._seen, whole)

    async def _go_down(self, waiting: list[Span], ends_s: float) -> bool:
        """Ask about the spans that differ, deepest first; whether all was done in time."""
        requests = 0
        while waiting and self._runtime.now() < ends_s:
            requests += 1
            if requests > self._config.requests_max or len(waiting) > WAITING_MAX:
                raise Malformed(f"{self._copy} leads on without end")
            batch, waiting = waiting[-SPANS_MAX:], waiting[:-SPANS_MAX]
            packed = tuple(self._form.pack_span(span) for span in batch)
            reply = await self._ask(CompareSpans(self._intervals, packed), Compared)
            waiting += await self._look_into(batch, reply)
        return not waiting

    async def _section(self) -> Section:
        return await known_section(self._runtime, self._source, self._intervals)

    async def _ask(self, request: object, kind: type[ReplyT]) -> ReplyT:
        reply = await self._runtime.call(self._copy, request, self._config.call_s)
        if not isinstance(reply, kind):
            raise Malformed(
                f"{self._copy} answered {type(request).__name__} with {type(reply).__name__}"
            )
        return reply

    async def _look_into(self, spans: Sequence[Span], reply: Compared) -> list[Span]:
        """Exchange what the copy's answers show to be unlike; returns what to ask about next."""
        if len(reply.answers) != len(spans):
            raise Malformed(f"{len(reply.answers)} answers came about {len(spans)} spans")
        section = await self._section()
        unlike = _Unlike([], [])
        deeper: list[Span] = []
        for span, answer in zip(spans, reply.answers, strict=True):
            if answer.pieces:
                deeper += self._descend(section, span, answer, unlike)
            elif not answer.equal and section.digest(span).records > MATCHED_MAX:
                deeper += _parts(section, span)
            elif not answer.equal:
                listed = read_fingerprints(answer.listed, LISTED_MAX)
                self._match(section, span, frozenset(listed), unlike)
        await self._exchange(unlike)
        return deeper

    def _descend(
        self, section: Section, span: Span, answer: SpanAnswer, unlike: _Unlike
    ) -> Iterator[Span]:
        """The pieces of a span that differ."""
        for piece in self._form.read_pieces(span, answer.pieces):
            part = piece.first, piece.end
            if section.digest(part) == piece.digest:
                continue
            if piece.digest.records or section.digest(part).records > MATCHED_MAX:
                yield part
            else:
                self._match(section, part, frozenset(), unlike)

    def _match(self, section: Section, span: Span, listed: frozenset[int], unlike: _Unlike) -> None:
        """What of a span the copy has, against what is here."""
        mine = dict(section.entries(span))
        for fingerprint, placed in mine.items():
            if fingerprint not in listed:
                self._seen += 1
                key = key_of(placed.carried)
                if is_steady(self._source, placed, key):
                    unlike.ours.append(key)
        expired = self._source.fingerprints.has_expired
        for fingerprint in sorted(listed - mine.keys()):
            self._seen += 1
            if not expired(fingerprint):
                unlike.theirs.append((span, fingerprint))

    # -- describe, then exchange

    async def _exchange(self, unlike: _Unlike) -> None:
        """Page by page: say what is here and ask about what is there, then send and fetch."""
        ours, theirs = _pages(unlike.ours), _pages(unlike.theirs)
        for at in range(max(len(ours), len(theirs))):
            keys = ours[at] if at < len(ours) else []
            await self._settle(keys, theirs[at] if at < len(theirs) else [])

    async def _settle(self, keys: Sequence[Key], theirs: Sequence[tuple[Span, int]]) -> None:
        placed = [(key, self._source.find(key)) for key in keys]
        still = [(key, one) for key, one in placed if one is not None]
        unknown = frozenset(fingerprint for _, fingerprint in theirs)
        request = SettleStates(
            self._intervals,
            tuple(state_of(one.carried) for _, one in still),
            tuple(self._form.pack_span(span) for span in dict.fromkeys(span for span, _ in theirs)),
            pack_fingerprints(fingerprint for _, fingerprint in theirs),
        )
        reply = await self._ask(request, StatesSettled)
        if not _ascending_below(reply.wanted, len(still)):
            raise Malformed(f"{self._copy} wants what it was not told of")
        described = {fingerprint_of_state(state) for state in reply.described}
        if len(described) != len(reply.described) or not described <= unknown:
            raise Malformed(f"{self._copy} describes what it was not asked about")
        tell_outlived(self._source, reply.described)
        await self._give([still[at][0] for at in reply.wanted])
        await self._fetch(
            [key_of_state(state) for state in reply.described if is_wanted(self._source, state)]
        )

    async def _give(self, keys: Sequence[Key]) -> None:
        while keys:
            page, looked_up = page_of(self._source, keys, await self._section())
            keys = keys[looked_up:]
            if page:
                given = await self._ask(GiveRecords(self._intervals, tuple(page)), RecordsGiven)
                self._sent += max(0, min(given.news, len(page)))

    async def _fetch(self, keys: Sequence[Key]) -> None:
        while keys:
            request = FetchRecords(self._intervals, tuple(keys))
            reply = await self._ask(request, RecordsFetched)
            if not 1 <= reply.looked_up <= len(keys):
                raise Malformed(f"{self._copy} looked up {reply.looked_up} of {len(keys)} records")
            asked, keys = keys[: reply.looked_up], keys[reply.looked_up :]
            self._received += await self._source.admit(await self._asked_for(reply.carried, asked))

    async def _asked_for(self, carried: Sequence[Carried], keys: Sequence[Key]) -> list[Carried]:
        """The records of a page; raises `Malformed` when others are among them."""
        section = await self._section()
        come = [key_of(one) for one in carried]
        if len(set(come)) != len(come) or not set(come) <= set(keys):
            raise Malformed(f"{self._copy} sent records that it was not asked for")
        return [one for one in carried if belongs(one, section, self._curve)]


def _parts(section: Section, span: Span) -> list[Span]:
    return [(piece.first, piece.end) for piece in section.split(span, PIECES_MAX)]


def _ascending_below(wanted: Sequence[int], count: int) -> bool:
    borders = [-1, *wanted, count]
    return all(low < high for low, high in pairwise(borders))


def _pages(items: Sequence[ItemT]) -> list[Sequence[ItemT]]:
    return [items[at : at + STATES_MAX] for at in range(0, len(items), STATES_MAX)]
