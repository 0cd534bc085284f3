"""What a peer can answer itself in one turn, all of it, comes to what the account of it would."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chord import Contact
from squid import Box, HandOn, Intervals, Outcome, Work
from squid.router import Router
from tests.squid.ring_of_workers import RingOfWorkers, number_space

IDS = (32, 64, 128, 192)
SPACE = number_space(2, 4)
HERE = 40
"""A curve index at peer 64."""
POINT = Box(SPACE.curve.decode(HERE), SPACE.curve.decode(HERE))
PAGES = (b"first", b"second")

OPEN = st.sampled_from([{"missing": ((HERE, HERE),)}, {"doubted": ((HERE, HERE),)}, {}, {}])
WORKS = st.builds(
    lambda pages, body, speaks_for_s, brings_rest, left: (
        Work(PAGES[:pages], body, speaks_for_s=speaks_for_s, **left), brings_rest
    ),
    st.integers(0, 2), st.sampled_from([b"", b"summary"]),
    st.none() | st.floats(0, 10), st.booleans(), OPEN,
)  # fmt: skip


def asked(work: Work, *, brings_rest: bool, age_s: float) -> tuple[Outcome, list[object], int]:
    """What asking at a point comes to where its owner does this, the pages, how often it did."""
    ring, pages, done = RingOfWorkers(IDS, SPACE, id_bits=8), list[object](), list[HandOn]()

    async def bring() -> Work:
        return replace(work, frames=PAGES, rest=None)

    def answer(share: HandOn, part: Intervals) -> Work:
        assert part == ((HERE, HERE),)
        done.append(share)
        return replace(work, rest=bring) if brings_rest else work

    ring.workers[64].answer = answer  # type: ignore[method-assign, assignment]
    asking = ring.routers[64].disseminate(
        POINT, b"question", timeout_s=1.0, asks=True, age_s=age_s,
        on_frame=lambda peer, page: pages.append((peer, page)),
    )  # fmt: skip
    outcome = ring.kernel.run_until(ring.kernel.spawn(asking))
    assert not ring.routers[64]._operations
    assert ring.routers[64]._resolving == 0
    return outcome, pages, len(done)


@settings(max_examples=40)
@given(WORKS, st.sampled_from([0.0, 1.0, 5.0]))
def test_it_comes_to_what_the_account_says(drawn: tuple[Work, bool], age_s: float) -> None:
    work, brings_rest = drawn
    short = asked(work, brings_rest=brings_rest, age_s=age_s)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Router, "_answer_whole", lambda *_: None)
        assert asked(work, brings_rest=brings_rest, age_s=age_s) == short


def test_nothing_is_accounted_for_that_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(*_: Any) -> None:
        raise AssertionError("there is nothing to keep account of")

    monkeypatch.setattr("squid.router.OriginatedOperation", unwanted)
    outcome, pages, times = asked(Work(PAGES, b"summary"), brings_rest=False, age_s=0.0)
    peer = Contact(64, "peer-64")
    assert outcome == Outcome.alone(peer, b"summary")
    assert outcome.complete
    assert pages == [(peer, page) for page in PAGES]
    assert times == 1


def test_who_looks_on_is_told_all_the_same() -> None:
    ring, told = RingOfWorkers(IDS, SPACE, id_bits=8), list[str]()

    class Observer:
        def __getattr__(self, name: str) -> Any:
            return lambda *_: told.append(name)

    ring.workers[64].answer = lambda share, part: Work(PAGES)  # type: ignore[method-assign]
    ring.routers[64].observe(Observer())
    asking = ring.routers[64].disseminate(POINT, b"question", timeout_s=1.0, asks=True)
    ring.kernel.run_until(ring.kernel.spawn(asking))
    assert told == ["began", "worked", "ended"]
