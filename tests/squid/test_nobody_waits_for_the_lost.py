"""What one arc's owner leaves open is that arc: who can be named gets its share meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from squid import Addressing, Box, merge, of_arc
from tests.squid.ring_of_workers import RingOfWorkers, number_space

IDS = tuple(range(8, 256, 16))


def lose(ring: RingOfWorkers, lost: Sequence[int]) -> None:
    """These are silent, and nobody names them: whatever asks for them is lost on its way."""
    carry = ring.network.carry
    silent = {ring.nodes[one].contact for one in lost}

    def carried(end: Any, kind: Any, number: int, duration_s: float, message: Any) -> None:
        asks = type(message).__name__ == "FindOwner"
        if end.contact in silent or (asks and any(one - 16 < message.key <= one for one in lost)):
            return
        carry(end, kind, number, duration_s, message)

    ring.network.carry = carried  # type: ignore[method-assign]


@pytest.mark.parametrize("addressing", list(Addressing))
@pytest.mark.parametrize("lost", [(24,), (72,), (120,), (136,), (248,), (72, 136), (24, 168, 200)])
def test_arcs_whose_owners_nobody_names_hold_no_other_up(
    addressing: Addressing, lost: Sequence[int]
) -> None:
    ring = RingOfWorkers(IDS, number_space(2, 4), id_bits=8, addressing=addressing)
    lose(ring, lost)
    router = ring.routers[IDS[0]]
    box = Box((0, 0), (15, 15))
    outcome = ring.kernel.run_until(
        ring.kernel.spawn(router.disseminate(box, b"body", timeout_s=10.0))
    )
    assert outcome.missing == merge(*(of_arc(one - 16, one, 8, 8) for one in lost))
