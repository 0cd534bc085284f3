"""A change that lay before a held peer has as much less time: nobody waits for it any more."""

from __future__ import annotations

import pytest

from chord import Contact, Fault, Runtime
from squid import HandOn, Intervals
from squid.handing_on import HandingOn
from tests.squid.ring_of_workers import RingOfWorkers, number_space

IDS = (32, 64, 128, 192)
OWN, ELSEWHERE = ((33, 64),), ((65, 128),)


@pytest.fixture
def ring() -> RingOfWorkers:
    return RingOfWorkers(IDS, number_space(2, 4), id_bits=8)


def share(ring: RingOfWorkers, job: Intervals = OWN, *, asks: bool = False) -> HandOn:
    return HandOn(
        bytes(16), 0, Contact(32, "peer-32"), ring.space.digest, (0, 0), (15, 15), job, 1, 1000,
        b"body", asks=asks,
    )  # fmt: skip


def runtime_of(ring: RingOfWorkers, peer_id: int) -> Runtime:
    found: Runtime = ring.routers[peer_id]._runtime
    return found


def take(ring: RingOfWorkers, share: HandOn) -> None:
    router = ring.routers[64]
    router.handlers[HandOn](share.origin, share, 1.0)
    ring.kernel.run(until_s=ring.kernel.now() + 3.0)


def held(ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch, late_s: float) -> list[int]:
    """The peer was held just now; what time it gives to what it does, in milliseconds."""
    times: list[int] = []
    worker = ring.workers[64]
    perform = worker.perform

    async def noted(share: HandOn, part: Intervals) -> object:
        times.append(share.remaining_ms)
        return await perform(share, part)

    monkeypatch.setattr(worker, "perform", noted)
    monkeypatch.setattr(runtime_of(ring, 64), "lateness", lambda: late_s)
    return times


def test_what_lay_for_all_of_its_time_is_refused(
    ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = held(ring, monkeypatch, 1.0)
    with pytest.raises(Fault, match="held for"):
        take(ring, share(ring))
    assert not times


def test_so_is_what_its_sender_waits_for_no_more(
    ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = held(ring, monkeypatch, ring.router_config.hand_on_s)
    with pytest.raises(Fault, match="held for"):
        take(ring, share(ring))
    assert not times


@pytest.mark.parametrize(("late_s", "left_ms"), [(0.0, 1000), (0.099, 1000), (0.7, 300)])
def test_what_lay_for_less_has_what_is_left(
    late_s: float, left_ms: int, ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = held(ring, monkeypatch, late_s)
    take(ring, share(ring))
    assert times == [left_ms]


def test_a_question_harms_nobody_however_late_it_is_answered(
    ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = held(ring, monkeypatch, 5.0)
    take(ring, share(ring, asks=True))
    assert times == [1000]


def test_who_waited_until_an_index_was_its_own_goes_on_with_what_is_left(
    ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It went on with all of its time once more, after the next attempt had begun."""
    resolved: list[tuple[float, int]] = []
    worker, runtime = ring.workers[64], runtime_of(ring, 64)
    router = ring.routers[64]

    async def settle(index: int, timeout_s: float) -> None:
        assert (index, timeout_s) == (100, 1.0)
        await runtime.sleep(0.75)
        worker.held_intervals = ELSEWHERE

    async def resolve(share: HandOn, left_s: float) -> None:
        resolved.append((left_s, share.remaining_ms))

    monkeypatch.setattr(worker, "settle", settle)
    monkeypatch.setattr(router, "resolve", resolve)
    handing_on: HandingOn = router._handing_on
    (block,) = handing_on.plan(share(ring, ELSEWHERE), ((100, 110),), ())
    kept = handing_on._keep(share(ring, ELSEWHERE), ELSEWHERE, block, 1.0)
    assert ring.kernel.run_until(ring.kernel.spawn(kept)) is True
    ring.kernel.run(until_s=ring.kernel.now() + 0.01)
    ((left_s, remaining_ms),) = resolved
    assert left_s == pytest.approx(0.25)
    assert remaining_ms in {249, 250}
