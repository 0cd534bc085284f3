"""No document under the size limits costs much to refuse or accept: lines of Python are counted,
which is the same on every machine; `tests/benchmarks/bench_hostile.py` has the milliseconds.

What one line does in C is bounded by the sizes of what it is given; the benchmark would show it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import FrameType
from typing import Any

import pytest

from arms import Profile
from meteor.errors import Refused
from meteor.security.credentials import ActingFor, signed
from meteor.security.gatekeeper import Gatekeeper
from meteor.wire.document import encode_document, pack_profile, unpack_profile
from meteor.wire.messages import Document, Post
from tests.hostile.corpus import everything
from tests.hostile.doors import DOORS, SPACE, knock
from tests.meteor.security.signers import ALICE, BOB

LINES_MAX = 240_000
"""At 0.05 to 0.08 microseconds each, which is what they take here: 12 to 20 ms."""


def lines_of(work: Callable[[], object]) -> int:
    """How many lines of Python are run."""
    count = 0

    def trace(_: FrameType, event: str, __: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("door", DOORS)
def test_what_the_worst_documents_cost(door: str, capsys: pytest.CaptureFixture[str]) -> None:
    costs = []
    for where, name, data in everything():
        if where == door:
            knock(door, data)  # what is imported or remembered once is nobody's cost
            costs.append((lines_of(lambda data=data: knock(door, data)), name, len(data)))
    costs.sort(reverse=True)
    with capsys.disabled():
        worst = ", ".join(f"{name} ({size:,} bytes) {lines:,}" for lines, name, size in costs[:3])
        print(f"\n{door}: {len(costs)} documents, most lines of Python: {worst}")
    assert costs[0][0] <= LINES_MAX


@pytest.mark.parametrize(
    ("selector", "interest"),
    [
        (
            " | ".join(f"//x={at}..{at + 1}" for at in range(64)),
            " ".join(["(x=101 | y=102)"] * 6 + [f"x={300 + at}" for at in range(45)]),
        ),
        (
            " | ".join(f"//x(//x={at}..{at + 1})" for at in range(32)),
            " ".join(["(x(x=101) | y=102)"] * 8 + [f"x={300 + at}" for at in range(30)]),
        ),
    ],
    ids=["wide", "bushy"],
)
def test_what_a_delegate_asks_costs_no_more(
    selector: str, interest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who makes an identity or two brings a delegation of his own, and both selectors with it."""
    now_s, until = 1_700_000_000.0, datetime(2023, 11, 14, 23, tzinfo=UTC) + timedelta(days=1)
    words = ALICE.delegate(BOB.key, ["retrieve"], until=until, selector=selector)
    profile = pack_profile(Profile.parse(interest, SPACE))
    document = Document("retrieve", profile)
    bare = Post(0, encode_document(document), "a", 1, 1.0, 1.0)
    post = signed(bare, ActingFor(BOB, words), SPACE.digest, int(now_s * 1000))

    def admit() -> None:
        unpack_profile.cache_clear()
        with pytest.raises(Refused, match="the delegation is for"):
            Gatekeeper(SPACE, lambda: now_s).admit_post(post, document, 0.0)

    admit()
    lines = lines_of(admit)
    with capsys.disabled():
        print(f"\na delegate's post: {lines:,} lines of Python")
    assert lines <= 0.75 * LINES_MAX  # the rest is for what else becomes of a post


def test_a_quadratic_reader_would_be_found() -> None:
    """The measure itself: work that grows with the square is seen."""

    def quadratic(size: int) -> int:
        total = 0
        for one in range(size):
            for other in range(size):
                total += one * other
        return total

    small, large = lines_of(lambda: quadratic(20)), lines_of(lambda: quadratic(40))
    assert large > 3 * small
