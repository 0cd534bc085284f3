"""What one client can take in: notifications by iterator and by callback, at the client object.

Prints one JSON line; nothing is asserted about time (DESIGN section 8: the iterator at least
0.8 × the callback, 50,000 notifications a second).
"""

from __future__ import annotations

import json
import time

import pytest

from meteor.messages import Notice
from tests.meteor.fake_peer import FakeOverlay

COUNT = 50_000

pytestmark = pytest.mark.benchmark


def test_notifications_a_second() -> None:
    overlay = FakeOverlay()
    overlay.add_peer()
    rates: dict[str, float] = {}

    async def scenario() -> None:
        client = await overlay.new_client().open()
        handle = client._session.handlers[Notice]
        source = overlay.peers[0].contact
        received: list[object] = []
        iterated = await client.notify_data("temperature>=80", queue=COUNT + 1)
        called = await client.notify_data("temperature>=80", handler=received.append)
        await client.store("type=t temperature=99", bytes(100))
        sample = (await iterated.recv(timeout=5))._notice

        def notices(stem: str) -> list[Notice]:
            return [
                Notice(f"{stem}:{number}:1", stem, "match", sample.found, source)
                for number in range(COUNT)
            ]

        batch = notices(iterated._attachment.stem)
        began = time.perf_counter()
        for notice in batch:
            handle(source, notice, 0.0)
        taken = 0
        async for _ in iterated:
            taken += 1
            if taken == COUNT:
                break
        rates["iterator"] = COUNT / (time.perf_counter() - began)

        batch = notices(called._attachment.stem)
        received.clear()
        began = time.perf_counter()
        for notice in batch:
            handle(source, notice, 0.0)
        rates["callback"] = COUNT / (time.perf_counter() - began)
        assert len(received) == COUNT

    overlay.run(scenario())
    print(
        json.dumps(
            {
                "benchmark": "notifications at one client, per second",
                "iterator": round(rates["iterator"]),
                "callback": round(rates["callback"]),
                "ratio": round(rates["iterator"] / rates["callback"], 2),
            }
        )
    )
