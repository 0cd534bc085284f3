"""What identities cost: a store by a client that signs beside one that does not, in processor
time, through one peer in one process; and what each part of it takes.

Prints one JSON line; asserts nothing."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from meteor import Client, LocalOverlay
from meteor.security.keys import is_signed_by
from tests.benchmarks.measuring import report
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE

STORES = 400


async def cost_us(client: Client) -> float:
    """Processor time of one store, client and peer together."""
    for number in range(50):
        await client.store({"type": "light", "temperature": number / 10}, b"x" * 100)
    began = time.process_time()
    for number in range(STORES):
        await client.store({"type": "light", "temperature": number / 10}, b"x" * 100)
    return (time.process_time() - began) / STORES * 1e6


def alone_us(act: Callable[[], object]) -> float:
    began = time.process_time()
    for _ in range(500):
        act()
    return (time.process_time() - began) / 500 * 1e6


@pytest.mark.benchmark
async def test_what_signing_costs() -> None:
    async with LocalOverlay(peers=1, space=SPACE) as overlay:
        unsigned = await cost_us(await overlay.connect())
        signed = await cost_us(await overlay.connect(identity=ALICE))
    statement = b"x" * 400
    signature = ALICE.sign(statement)
    figures = {
        "store_unsigned_us": unsigned,
        "store_signed_us": signed,
        "sign_us": alone_us(lambda: ALICE.sign(statement)),
        "verify_us": alone_us(lambda: is_signed_by(ALICE.key, signature, statement)),
    }
    report("signing", **figures)
