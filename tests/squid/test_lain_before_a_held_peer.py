"""What lay before a held peer for longer than its sender waits is not done where that may harm."""

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


def share(
    ring: RingOfWorkers, job: Intervals = OWN, *, body: bytes = b"delete", asks: bool = False
) -> HandOn:
    return HandOn(
        bytes(16), 0, Contact(32, "peer-32"), ring.space.digest, (0, 0), (15, 15), job, 1, 1000,
        body, asks=asks,
    )  # fmt: skip


def runtime_of(ring: RingOfWorkers, peer_id: int) -> Runtime:
    found: Runtime = ring.routers[peer_id]._runtime
    return found


def take(ring: RingOfWorkers, share: HandOn) -> int:
    """How often it was done."""
    router = ring.routers[64]
    router.handlers[HandOn](share.origin, share, 1.0)
    ring.kernel.run(until_s=ring.kernel.now() + 3.0)
    return len(ring.workers[64].performed)


def test_what_its_sender_waits_for_no_more_is_refused(
    ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        runtime_of(ring, 64), "lateness", lambda: ring.router_config.hand_on_s
    )
    with pytest.raises(Fault, match="held for"):
        take(ring, share(ring))
    assert not ring.workers[64].performed


@pytest.mark.parametrize(("body", "taken"), [(b"delete", 0), (b"store", 1)])
def test_what_lay_on_its_link_and_nobody_waits_for_undoes_nothing(
    body: bytes, taken: int, ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_of(ring, 64), "request_late_s", lambda: 0.8)
    assert take(ring, share(ring, body=body)) == taken


def test_what_lay_on_its_link_and_is_waited_for_is_done(
    ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_of(ring, 64), "request_late_s", lambda: 0.8)
    monkeypatch.setattr(ring.routers[64]._still_open, "is_open", is_open)
    assert take(ring, share(ring)) == 1


def test_what_lay_on_its_link_until_it_was_over_is_refused(
    ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_of(ring, 64), "request_late_s", lambda: 6.0)
    with pytest.raises(Fault, match="its time is over"):
        take(ring, share(ring, body=b"store"))


async def is_open(_: HandOn) -> bool:
    return True


@pytest.mark.parametrize("late_s", [0.0, 0.7])
def test_what_is_waited_for_is_done(
    late_s: float, ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_of(ring, 64), "lateness", lambda: late_s)
    assert take(ring, share(ring)) == 1


def test_what_harms_nobody_is_done_however_late(
    ring: RingOfWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a peer that stands still again and again would take nothing at all."""
    monkeypatch.setattr(runtime_of(ring, 64), "lateness", lambda: 5.0)
    assert take(ring, share(ring, asks=True)) == 1
    assert take(ring, share(ring, body=b"store")) == 2


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
