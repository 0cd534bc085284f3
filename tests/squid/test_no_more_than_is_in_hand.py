"""Shares in hand are bounded whatever they ask: what would begin another conversation is refused,
and tried again by who sent it; what is answered in the turn in which it comes is not."""

from __future__ import annotations

import pytest

from chord import Contact, Fault
from squid import HandOn, Intervals, Work
from squid.messages import HandOnTaken
from squid.router import RESOLVING_MAX, Router
from tests.squid.ring_of_workers import RingOfWorkers, number_space

IDS = (32, 64, 128, 192)
EVERYTHING, OWN = ((0, 255),), ((33, 64),)


@pytest.fixture
def ring() -> RingOfWorkers:
    ring = RingOfWorkers(IDS, number_space(2, 4), id_bits=8)
    worker = ring.workers[64]
    worker.answer = lambda share, part: Work(body=b"at once")  # type: ignore[method-assign]
    return ring


def take(router: Router, job: Intervals, *, asks: bool = True) -> object:
    share = HandOn(
        bytes(16), 0, Contact(32, "peer-32"), router._space.digest,
        (0, 0), (15, 15), job, 1, 1000, b"body", asks=asks,
    )  # fmt: skip
    return router.handlers[HandOn](share.origin, share, 1.0)


def test_a_question_of_which_something_is_handed_on_is_refused(ring: RingOfWorkers) -> None:
    router = ring.routers[64]
    router._resolving = RESOLVING_MAX - 1
    assert isinstance(take(router, EVERYTHING), HandOnTaken)
    with pytest.raises(Fault, match="in hand"):
        take(router, EVERYTHING)
    ring.kernel.run(until_s=ring.kernel.now() + 5.0)
    assert router._resolving == RESOLVING_MAX - 1


def test_what_is_answered_at_once_is_not(ring: RingOfWorkers) -> None:
    router = ring.routers[64]
    router._resolving = RESOLVING_MAX
    assert isinstance(take(router, OWN), HandOnTaken)
