"""Shares, results and reports that never arrive: the ledger asks again, and nothing counts twice.

The transport is reliable; what is lost here is lost with a peer's process or a link in real life,
between any two steps.  The double takes frames of the router off the network, by a seeded draw.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from chord import Contact
from meteor import Client, Interest, profile
from meteor.wire.codec import wire_codec
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.found_pages import readable
from meteor.wire.messages import Document, Post, PostReply, ResultPage
from sim.disk import SimDisk
from sim.kernel import Kernel
from sim.overlay import Overlay
from sim.runtime import SimRuntime
from squid import HandOn
from tests.meteor.building import SPACE, Attributes, draw_data, draw_query

from arms import Profile  # isort: skip

LOSSY = {"HandOn", "HandOnTaken", "ResultFrame", "Report"}
PATIENCE_S = 300.0


class Loss:
    """Takes a share of the router's frames off the network."""

    def __init__(self, overlay: Overlay, share: float, seed: int) -> None:
        self.share, self.drawn, self.lost = share, random.Random(seed), 0
        self.stray = 0
        """Shares of an attempt that go about long after the next one began."""
        self._begun: dict[tuple[bytes, int], float] = {}
        self._now = overlay.kernel.now
        self._carry = overlay.network.carry
        overlay.network.carry = self.carry  # type: ignore[method-assign]

    def carry(self, end: Any, kind: Any, number: int, duration_s: float, message: object) -> None:
        if isinstance(message, HandOn):
            now, attempt = self._now(), message.attempt
            self._begun.setdefault((message.operation, attempt), now)
            following = self._begun.get((message.operation, attempt + 1), now)
            self.stray += now - following > 0.1
        if type(message).__name__ in LOSSY and self.drawn.random() < self.share:
            self.lost += 1
        else:
            self._carry(end, kind, number, duration_s, message)


SEEDS = [*range(1, 3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 55))]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_count_is_exact_though_frames_are_lost(seed: int) -> None:
    print(f"seed {seed}")
    kernel, drawn = Kernel(seed), random.Random(seed)
    disk = SimDisk(kernel, write_latency_s=0.002)
    overlay = Overlay(
        peers=10, space=SPACE, seed=seed, kernel=kernel, disk=disk, codec=wire_codec()
    )
    client, other = overlay.client(), overlay.client(peer=4)
    told: list[str] = []

    async def listen(interest: Interest) -> None:
        while True:
            told.append((await interest.recv()).id)

    interest = overlay.run(_opened(other))
    listening = overlay.kernel.spawn(listen(interest))
    loss = Loss(overlay, 0.2, seed)
    data: dict[str, Attributes] = {}
    expected: set[str] = set()
    for _ in range(60):
        step = drawn.choice(["store"] * 5 + ["ask"] * 3 + ["cancel", "delete", "renew"])
        if step == "store":
            attributes = draw_data(drawn)
            receipt = overlay.run(client.store(profile(attributes), b"x", timeout=PATIENCE_S))
            matches = int(20 <= attributes["temperature"] <= 60)
            assert receipt.matches == matches
            data[receipt.id] = attributes
            expected |= {receipt.id} if matches else set()
        elif step == "ask":
            selector, wanted = draw_query(drawn)
            question = client.retrieve(selector, everywhere=True, timeout=PATIENCE_S)
            found = [match.id for match in overlay.run(question.all())]
            assert sorted(found) == sorted(i for i, d in data.items() if wanted(d))
        elif step == "delete":
            low = round(drawn.uniform(-40, 100), 1)
            gone = [i for i, d in data.items() if low <= d["temperature"] <= low + 30]
            selector = f"temperature={low}..{low + 30}"
            receipt = overlay.run(client.delete_data(selector, timeout=PATIENCE_S))
            assert receipt.matches == len(gone)
            data = {i: d for i, d in data.items() if i not in gone}
        elif data:
            chosen = drawn.choice(sorted(data))
            if step == "cancel":
                assert overlay.run(client.cancel(chosen, timeout=PATIENCE_S)).matches == 1
                del data[chosen]
            else:
                renewed = client.renew(chosen, ttl=5000, timeout=PATIENCE_S)
                assert overlay.run(renewed).matches == 1
    overlay.run_for(5.0)
    listening.cancel()
    assert loss.lost > 20
    assert loss.stray == 0
    assert sorted(told) == sorted(expected)


async def _opened(client: Client) -> Interest:
    return await client.notify_data("temperature=20..60", ttl=100_000)


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_standing_question_loses_no_page(seed: int) -> None:
    """An interest that is kept is known when it is tried again; its answer comes again too."""
    overlay = Overlay(peers=8, space=SPACE, seed=seed, codec=wire_codec())
    client = overlay.client()
    stored = {
        overlay.run(client.store(f"type=lamp temperature={n} humidity={3 * n}", b"x")).id
        for n in range(30)
    }
    asker = SimRuntime(overlay.kernel, overlay.network, Contact(5, ""))
    found: list[str] = []

    def take(_: Contact, message: object, __: float) -> None:
        if isinstance(message, ResultPage):
            found.extend(one.id for one in readable(message.packed))

    asker.serve(take, lambda _: None)
    Loss(overlay, 0.4, seed)
    packed = pack_profile(Profile.parse("temperature=0..40", SPACE))
    document = encode_document(Document("retrieve", packed))
    post = Post(1, document, "standing", 1, 600.0, PATIENCE_S)
    reply: PostReply = overlay.run(_asked(asker, overlay.peers[0].contact, post))
    assert reply.complete
    found += [one.id for one in readable(reply.packed)]
    assert set(found) == stored, "what came twice the client drops"
    assert reply.matches == len(stored)


async def _asked(asker: SimRuntime, peer: Contact, post: Post) -> PostReply:
    reply: PostReply = await asker.call(peer, post, PATIENCE_S)
    return reply
