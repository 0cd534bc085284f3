"""The ledger against a dumb twin: sets of indexes, whatever order reports and frames come in."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from squid import Box, HilbertCurve, Ledger, merge

CURVE = HilbertCurve(2, 3)
INDEX = st.integers(0, CURVE.size - 1)
PART = st.tuples(INDEX, INDEX).map(lambda ends: (min(ends), max(ends)))
PARTS = st.lists(PART, max_size=3).map(tuple)
KEYS = st.sampled_from(["p", "q", ("p", 2)])
ATTEMPTS = st.integers(0, 1)


def members(some) -> set[int]:
    return {index for first, last in some for index in range(first, last + 1)}


class LedgerMachine(RuleBasedStateMachine):
    """Reports in any order, twice, with frames before or after them or never."""

    @initialize(
        sides=st.lists(PART.map(lambda ends: (ends[0] % 8, ends[1] % 8)), min_size=2, max_size=2),
        job=st.lists(PART, min_size=1, max_size=3),
    )
    def open(self, sides, job):
        box = Box.of([(min(ends), max(ends)) for ends in sides])
        self.ledger = Ledger(CURVE, box, job)
        axes = [range(low, high + 1) for low, high in zip(box.low, box.high, strict=True)]
        self.wanted = {CURVE.encode(point) for point in product(*axes)} & members(job)
        self.reports: dict[object, tuple[set[int], set[int], int]] = {}
        self.frames: dict[object, set[int]] = {}
        self.counted: set[object] = set()
        self.covered: set[int] = set()
        self.reported_missing: set[int] = set()
        self.twice: set[int] = set()

    def settle(self, name) -> set[int]:
        """What the report of this name adds, by the twin."""
        if name in self.counted or name not in self.reports:
            return set()
        covered, missing, frames = self.reports[name]
        if not self.frames.get(name, set()) >= set(range(frames)):
            return set()
        self.counted.add(name)
        fresh = covered - self.covered
        self.twice |= covered & self.covered
        self.covered |= covered
        self.reported_missing |= missing
        return fresh

    @rule(key=KEYS, attempt=ATTEMPTS, covered=PARTS, missing=PARTS, frames=st.integers(0, 2))
    def report(self, key, attempt, covered, missing, frames):
        name = key, attempt
        self.reports.setdefault(name, (members(covered), members(missing), frames))
        added = self.ledger.report(key, attempt, covered, missing, frames)
        assert members(added) == self.settle(name)

    @rule(key=KEYS, attempt=ATTEMPTS, number=st.integers(0, 2))
    def frame(self, key, attempt, number):
        name = key, attempt
        if name not in self.counted:
            self.frames.setdefault(name, set()).add(number)
        added = self.ledger.frame(key, attempt, number)
        assert members(added) == self.settle(name)

    @invariant()
    def accounts_agree(self):
        ledger, open_indexes = self.ledger, self.wanted - self.covered
        assert ledger.complete == (not open_indexes)
        assert members(ledger.covered) == self.covered
        assert members(ledger.counts_twice) == self.twice
        assert members(ledger.missing) & self.wanted == open_indexes
        silent = open_indexes - self.reported_missing
        assert members(ledger.gaps()) & self.wanted == silent
        assert ledger.settled == (not silent)
        for some in (ledger.missing, ledger.gaps()):
            assert all(first in self.wanted for first, _ in some)
            assert list(some) == sorted(some)


TestLedger = LedgerMachine.TestCase


def test_a_report_counts_once_all_its_frames_are_in_and_then_never_again():
    whole = Box.whole(CURVE)
    ledger = Ledger(CURVE, whole, [(0, 63)])
    assert ledger.frame("a", 1, 1) == ()
    assert ledger.report("a", 1, [(0, 31)], [], 2) == ()
    assert not ledger.covered
    assert ledger.frame("a", 1, 0) == ((0, 31),)
    assert ledger.frame("a", 1, 0) == ()
    assert ledger.report("a", 1, [(0, 31)], [], 2) == ()
    assert ledger.report("b", 1, [(16, 63)], [], 0) == ((32, 63),)
    assert ledger.complete
    assert ledger.counts_twice == ((16, 31),)


def test_a_late_report_of_an_earlier_attempt_counts_under_its_own_frames():
    ledger = Ledger(CURVE, Box.whole(CURVE), [(0, 63)])
    ledger.report("a", 0, [(0, 31)], [], 1)
    ledger.report("a", 1, [(0, 63)], [], 1)
    assert ledger.frame("a", 1, 0) == ((0, 63),)
    assert ledger.frame("a", 0, 0) == ()


def test_missing_is_not_waited_for_but_never_complete():
    ledger = Ledger(CURVE, Box.whole(CURVE), [(0, 63)])
    ledger.report("a", 0, [(0, 39)], [(40, 63)], 0)
    assert ledger.settled
    assert not ledger.complete
    assert ledger.gaps() == ()
    assert ledger.missing == ((40, 63),)
    ledger.report("holder", 1, [(40, 63)], [], 0)
    assert ledger.complete


def test_only_indexes_with_a_match_are_open():
    box = Box.of([(2, 3), (1, 5)])  # figure 3.4: 6..11 and 28..31
    ledger = Ledger(CURVE, box, [(0, 63)])
    ledger.report("13", 0, [(0, 13)], [], 0)
    assert ledger.missing == ((28, 63),)
    ledger.report("32", 0, [(28, 31)], [], 0)
    assert ledger.complete
    assert Ledger(CURVE, box, [(12, 27)]).complete


def test_a_report_of_absurdly_many_frames_costs_nothing_and_never_counts():
    ledger = Ledger(CURVE, Box.whole(CURVE), [(0, 63)])
    assert ledger.report("a", 0, [(0, 63)], [], 1 << 62) == ()
    assert ledger.frame("a", 0, 1 << 62) == ()
    assert not ledger.complete


@given(st.permutations(range(8)))
def test_many_neighbouring_reports_melt_into_one_interval(order):
    ledger = Ledger(CURVE, Box.whole(CURVE), [(0, 63)])
    for place in order:
        ledger.report(place, 0, [(8 * place, 8 * place + 7)], [], 0)
    assert ledger.covered == merge([(0, 63)])
    assert ledger.complete
