"""Answers and requests that no honest peer would send: typed faults, and bounded work.

An exception in a handler or a conversation stops the simulation, so that every test here fails if
one gets out.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from chord import Contact, RemoteFault
from meteor.copies.entropy_answers import EXAMINED_MAX
from meteor.copies.entropy_comparison import WAITING_MAX, Differences
from meteor.copies.entropy_forms import (
    INTERVALS_MAX,
    LISTED_MAX,
    SPANS_MAX,
    STATES_MAX,
    Malformed,
    PositionForm,
    pack_fingerprints,
)
from meteor.copies.entropy_schedule import EntropyConfig
from meteor.keeping.standing import fingerprint_of
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
    WireDigest,
    WirePiece,
    WireSpan,
)
from squid import Box
from tests.meteor.entropy_world import CURVE, EVERYTHING, World, point, record

Script = Callable[[object], object]

FORM = PositionForm(CURVE)
TOP = CURVE.size << 64
ALL = WireSpan(b"", FORM.pack(TOP))
ANYTHING = SpanAnswer(listed=b"")


class Liar:
    """A primary with records, and a copy that answers by a script."""

    def __init__(self, script: Script, **config: Any) -> None:
        self.world = World(config=EntropyConfig(**config))
        self.asked: list[object] = []
        for number in range(100):
            self.world.primary.source.put(record(f"s{number}", point(number * 600)))
        self._script = script
        self.world.copy.runtime.serve(self._handle, lambda _: None)

    def _handle(self, _: Contact, message: object, __: float) -> object:
        self.asked.append(message)
        return self._script(message)

    def compare(self) -> Differences:
        return self.world.compare()


def lying(**answers: object) -> Script:
    """Answers by the name of the request; else that there is nothing."""

    def script(message: object) -> object:
        name = type(message).__name__
        if name in answers:
            given = answers[name]
            return given(message) if callable(given) else given
        return {
            "CompareHoldings": Compared((ANYTHING, ANYTHING)),
            "SettleStates": StatesSettled((), ()),
        }[name]

    return script


STATE = RecordState("", record("other", point(5)).id, "data", 1, 0)
LISTING = Compared((SpanAnswer(listed=pack_fingerprints([1, 2, 3])), ANYTHING))
OTHER = record("other", point(5))
KNOWN = Compared((SpanAnswer(listed=pack_fingerprints([fingerprint_of(OTHER)])), ANYTHING))
TOLD = StatesSettled((), (STATE,))


def piece(position: int, count: int = 100) -> WirePiece:
    return WirePiece(FORM.pack(position), count, 7)


def cut(*positions: int) -> Compared:
    return Compared((SpanAnswer(pieces=tuple(map(piece, positions))), ANYTHING))


@pytest.mark.parametrize(
    "answers",
    [
        {"CompareHoldings": StatesSettled((), ())},
        {"CompareHoldings": Compared((ANYTHING,))},
        {"CompareHoldings": Compared((ANYTHING,) * 3)},
        {"CompareHoldings": cut(0)},
        {"CompareHoldings": cut(5, 10)},
        {"CompareHoldings": cut(0, 10, 10)},
        {"CompareHoldings": cut(0, 20, 10)},
        {"CompareHoldings": cut(0, TOP)},
        {"CompareHoldings": cut(0, TOP + 5)},
        {"CompareHoldings": cut(*range(17))},
        {"CompareHoldings": Compared((SpanAnswer(pieces=(WirePiece(b"x" * 99, 1, 1),) * 2),) * 2)},
        {"CompareHoldings": Compared((SpanAnswer(listed=b"x" * 8 * (LISTED_MAX + 1)), ANYTHING))},
        {"CompareHoldings": Compared((SpanAnswer(listed=b"1234567"), ANYTHING))},
        {"CompareHoldings": cut(0, 50), "CompareSpans": Compared()},
        {"CompareHoldings": cut(0, 50), "CompareSpans": cut(0, 25)},
        {"SettleStates": Compared()},
        {"SettleStates": StatesSettled((0, 100), ())},
        {"SettleStates": StatesSettled((3, 3), ())},
        {"SettleStates": StatesSettled((4, 3), ())},
        {"SettleStates": StatesSettled((-1, 3), ())},
        {"CompareHoldings": LISTING, "SettleStates": TOLD},
        {"CompareHoldings": KNOWN, "SettleStates": StatesSettled((), (STATE, STATE))},
        {"SettleStates": StatesSettled((5,), ()), "GiveRecords": TOLD},
        {"CompareHoldings": KNOWN, "SettleStates": TOLD, "FetchRecords": RecordsGiven(1)},
        {"CompareHoldings": KNOWN, "SettleStates": TOLD, "FetchRecords": RecordsFetched((), 0)},
        {"CompareHoldings": KNOWN, "SettleStates": TOLD, "FetchRecords": RecordsFetched((), 2)},
        {
            "CompareHoldings": KNOWN,
            "SettleStates": TOLD,
            "FetchRecords": RecordsFetched((record("s1", point(600), version=9),), 1),
        },
        {
            "CompareHoldings": KNOWN,
            "SettleStates": TOLD,
            "FetchRecords": RecordsFetched((OTHER, OTHER), 1),
        },
    ],
)
def test_an_answer_that_cannot_be_ends_the_comparison(answers: dict[str, object]) -> None:
    liar = Liar(lying(**answers))
    before = liar.world.primary.source.states
    with pytest.raises(Malformed):
        liar.compare()
    assert liar.world.primary.source.states == before
    assert len(liar.asked) <= 5


def test_counts_that_cannot_be_change_no_count() -> None:
    for news, sent in ((10**9, 1), (-5, 0)):
        liar = Liar(lying(SettleStates=StatesSettled((5,), ()), GiveRecords=RecordsGiven(news)))
        assert liar.compare().sent == sent


def test_what_a_copy_sends_from_elsewhere_is_left_out() -> None:
    world = Liar(
        lying(CompareHoldings=KNOWN, SettleStates=TOLD, FetchRecords=RecordsFetched((OTHER,), 1))
    ).world
    world.run(world.primary.entropy.compare(world.copy.contact, ((100, CURVE.size - 1),)))
    assert ("", "other") not in world.primary.source.records


def halved(form: PositionForm, span: WireSpan, drawn: random.Random) -> SpanAnswer:
    """Every span parts again, as narrowly as can be, and differs."""
    first, end = form.read_span(span)
    if end - first < 2:
        return SpanAnswer(listed=pack_fingerprints(drawn.getrandbits(64) for _ in range(60)))
    total = drawn.getrandbits(63)
    return SpanAnswer(pieces=(WirePiece(form.pack(first), 99, 1), piece(first + 1, total)))


def widely(form: PositionForm, span: WireSpan, drawn: random.Random) -> SpanAnswer:
    """Every span parts into as many as can be."""
    first, end = form.read_span(span)
    step = max((end - first) // 16, 1)
    cuts = range(first, end, step)[:16]
    return SpanAnswer(pieces=tuple(piece(at, drawn.getrandbits(63)) for at in cuts))


@pytest.mark.parametrize("descent", [halved, widely])
def test_a_descent_without_end_is_ended(
    descent: Callable[[PositionForm, WireSpan, random.Random], SpanAnswer],
) -> None:
    drawn = random.Random(1)

    def compared(message: CompareSpans) -> Compared:
        return Compared(tuple(descent(FORM, span, drawn) for span in message.spans))

    script = lying(
        CompareHoldings=Compared((descent(FORM, ALL, drawn), ANYTHING)), CompareSpans=compared
    )
    liar = Liar(script, requests_max=40)
    with pytest.raises(Malformed, match="without end"):
        liar.compare()
    assert len([one for one in liar.asked if isinstance(one, CompareSpans)]) <= 40
    assert WAITING_MAX < 17_000


def test_a_copy_that_answers_slowly_takes_its_own_time_only() -> None:
    """What is left when the time is up is for the next comparison."""
    drawn = random.Random(1)

    def compared(message: CompareSpans) -> Compared:
        liar.world.copy.runtime.pause()
        liar.world.kernel.call_later(3.0, liar.world.copy.runtime.resume)
        return Compared(tuple(halved(FORM, span, drawn) for span in message.spans))

    liar = Liar(
        lying(CompareHoldings=Compared((halved(FORM, ALL, drawn), ANYTHING)), CompareSpans=compared)
    )
    assert not liar.compare().whole
    assert liar.world.kernel.now() < 130.0
    assert len(liar.asked) < 100


# -- requests


class Asker:
    """Somebody who asks a copy with records."""

    def __init__(self) -> None:
        self.world = World()
        for number in range(100):
            self.world.copy.source.put(record(f"s{number}", point(number * 600)))
        self.before = self.world.copy.source.states

    def ask(self, message: object) -> Any:
        asker, copy = self.world.primary, self.world.copy.contact
        return self.world.run(asker.runtime.call(copy, message, 5.0))

    def refused(self, message: object) -> str:
        with pytest.raises(RemoteFault) as caught:
            self.ask(message)
        assert self.world.copy.source.states == self.before
        return caught.value.kind


DIGESTS = (WireDigest(0, 0), WireDigest(0, 0))


@pytest.mark.parametrize(
    "message",
    [
        CompareHoldings((), ()),
        CompareHoldings(((5, 4),), DIGESTS),
        CompareHoldings(((0, CURVE.size),), DIGESTS),
        CompareHoldings(((0, 5), (6, 9)), DIGESTS),
        CompareHoldings(((7, 9), (0, 5)), DIGESTS),
        CompareHoldings(tuple((3 * n, 3 * n) for n in range(INTERVALS_MAX + 1)), DIGESTS),
        CompareHoldings(EVERYTHING, ()),
        CompareHoldings(EVERYTHING, DIGESTS * 2),
        CompareSpans(EVERYTHING, (ALL,) * (SPANS_MAX + 1)),
        CompareSpans(EVERYTHING, (WireSpan(b"", b""),)),
        CompareSpans(EVERYTHING, (WireSpan(FORM.pack(9), FORM.pack(9)),)),
        CompareSpans(((0, 9),), (ALL,)),
        CompareSpans(EVERYTHING, (WireSpan(b"", b"x" * 50),)),
        CompareSpans(EVERYTHING, (WireSpan(b"\0" * 10 + b"\x01", ALL.end),)),
        SettleStates(EVERYTHING, (STATE,) * (STATES_MAX + 1)),
        SettleStates(EVERYTHING, (), (ALL,) * (SPANS_MAX + 1)),
        SettleStates(EVERYTHING, (), (ALL,), b"x" * 8 * (STATES_MAX + 1)),
        SettleStates(EVERYTHING, (), (ALL,), b"x" * 7),
        FetchRecords(EVERYTHING, (("", "s1"),) * (STATES_MAX + 1)),
    ],
)
def test_a_request_that_cannot_be_is_refused(message: object) -> None:
    assert Asker().refused(message) == "Malformed"


@pytest.mark.parametrize(
    "message",
    [
        CompareHoldings(EVERYTHING, DIGESTS),
        CompareSpans(EVERYTHING, (ALL,)),
        SettleStates(EVERYTHING, (STATE,)),
        GiveRecords(EVERYTHING, (OTHER,)),
        FetchRecords(EVERYTHING, (("", "s1"),)),
    ],
)
def test_nobody_asks_but_the_primary(message: object) -> None:
    asker = Asker()
    asker.world.copy.source.primary = Contact(99, "10.9.9.9:1")
    assert asker.refused(message) == "Moved"


def test_what_is_given_for_other_intervals_is_not_taken() -> None:
    asker = Asker()
    wide = Box((0, 0), (255, 255))
    given = (
        record("near", point(5)),
        record("far", point(5_000)),
        record("wide", wide),
        record("odd", point(5), id="no id at all"),
    )
    reply = asker.ask(GiveRecords(((0, 99),), given))
    assert reply == RecordsGiven(2)
    assert asker.world.copy.source.records.keys() - asker.before.keys() == {
        ("", "near"),
        ("", "wide"),
    }


def test_what_is_asked_for_from_other_intervals_is_not_given() -> None:
    reply = Asker().ask(FetchRecords(((0, 700),), (("", "s1"), ("", "s2"), ("", "none"))))
    assert [one.id for one in reply.carried] == [record("s1", point(600)).id]
    assert reply.looked_up == 3


def test_states_that_make_no_sense_are_wanted_or_not_and_do_no_harm() -> None:
    odd = [
        RecordState("", "", "", 0, 0),
        RecordState("x\0y", ".", "gone", -5, -5),
        RecordState("", "ü" * 300, "moved", 2**63, 2**63),
        STATE,
    ]
    reply = Asker().ask(SettleStates(EVERYTHING, tuple(odd)))
    assert 3 in reply.wanted


def test_a_list_of_what_is_nowhere_is_looked_for_within_bounds() -> None:
    asker = Asker()
    for number in range(EXAMINED_MAX + 50):
        asker.world.copy.source.put(record(f"t{number}", point(5)))
    last = max(fingerprint_of(p.carried) for p in asker.world.copy.source.records.values())
    reply = asker.ask(SettleStates(EVERYTHING, (), (ALL,), pack_fingerprints([1, last])))
    assert reply.described == ()
