"""No document under the size limits costs much to refuse or accept: lines of Python are counted,
which is the same on every machine; `tests/benchmarks/bench_hostile.py` has the milliseconds.

What one line does in C is bounded by the sizes of what it is given; the benchmark would show it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from tests.hostile.corpus import everything
from tests.hostile.doors import DOORS, knock

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
