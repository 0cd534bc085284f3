"""What clients see when 16 of 64 peers vanish at once, k = 3, with 10,000 profiles stored.

DESIGN section 8, rows four and five.  One process, WebSockets, memory journals, a client at a peer
that survives.  *Spared* draws leave of every k ring neighbours one: every profile has a copy, and
must be found.  Peers vanish *closed* (all their sockets are closed at once) or *silent* (nothing is
reset, nothing answers: `vanishing.SilencedTransport`).  Asking begins in the turn in which they
vanish.  `first` are the first 1,000 answers, the ones that meet the holes; `before` is the same
client on the whole ring.  *Free* draws take any 16, closed: `lost_share` is what nobody has a copy
of any more, beside `of_draw` (what the holders known before the draw say) and p^k for p = 1/4; each
lost profile's index must be named in `missing`, and no answer may be empty and complete.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pytest

import meteor
from tests.benchmarks.measuring import in_flight, report, spread_ms
from tests.benchmarks.vanishing import (
    How,
    VanishingOverlay,
    draw,
    draw_reading,
    holders,
    in_ring_order,
    index_of,
)

pytestmark = [pytest.mark.benchmark, pytest.mark.sockets]

PEERS, GONE, PROFILES = 64, 16, 10_000
FIRST = 1_000
STORING = 32
SETTLE_S = 5.0
TIMEOUT_S = 60.0
FREE_DRAWS = 3
"""Free draws of each k; each has a ring of its own."""


@dataclass
class Answers:
    """What was asked for after the peers were gone, and what came."""

    found: int = 0
    missing: list[int] = field(default_factory=list)
    """Items whose answer was incomplete, and named their index."""
    wrong: list[str] = field(default_factory=list)
    """Whatever must not be: an empty answer that says it is complete, an unnamed gap."""


class Readings:
    """Profiles of one ring: each is exact, and lies anywhere in the space."""

    def __init__(self, client: meteor.Client, seed: int, count: int) -> None:
        self._client = client
        self.drawn = random.Random(seed)
        self._profiles = [draw_reading(self.drawn) for _ in range(count)]
        self.indexes: list[int] = [0] * count
        self.answers = Answers()

    async def store(self, item: int) -> None:
        """Store one, with 100 bytes."""
        receipt = await self._client.store(self._profiles[item], b"x" * 100, timeout=TIMEOUT_S)
        self.indexes[item] = index_of(receipt)

    async def retrieve(self, item: int) -> None:
        """Ask for one and judge the answer."""
        answer = self._client.retrieve(self._profiles[item], allow_partial=True, timeout=TIMEOUT_S)
        matches = await answer.all()
        index = self.indexes[item]
        if answer.complete and len(matches) == 1:
            self.answers.found += 1
        elif answer.complete:
            self.answers.wrong.append(f"{item}: {len(matches)} matches, complete")
        elif any(first <= index <= last for first, last in answer.missing):
            self.answers.missing.append(item)
        else:
            self.answers.wrong.append(f"{item}: {index} is not in {answer.missing}")

    def order(self) -> list[int]:
        """All of them, shuffled."""
        return self.drawn.sample(range(len(self._profiles)), len(self._profiles))


async def rested(overlay: VanishingOverlay, readings: Readings) -> list[float]:
    """Store everything, let the ring come to rest, and ask for some of it."""
    await in_flight(readings.store, range(len(readings.indexes)), STORING)
    await asyncio.sleep(SETTLE_S)
    for peer in overlay.living:
        await peer.core.settled(TIMEOUT_S)
    before_s, _ = await in_flight(readings.retrieve, readings.order()[:FIRST], 1)
    readings.answers = Answers()
    return before_s


async def spared(how: How, together: int, seed: int) -> None:
    """One ring, one draw that leaves everything a copy."""
    async with VanishingOverlay(PEERS, copies=3, seed=seed) as overlay:
        readings = Readings(await overlay.connect(), seed, PROFILES)
        before_s = await rested(overlay, readings)
        ring = in_ring_order(overlay)
        served = overlay.peers[0]
        gone = [served]
        while served in gone:
            gone = draw(ring, GONE, readings.drawn, spared_run=3)
        await overlay.vanish(gone, how)
        durations_s, per_s = await in_flight(readings.retrieve, readings.order(), together)
    answers = readings.answers
    report(
        f"{GONE} of {PEERS} {how}, {together} in flight",
        profiles=PROFILES, found=answers.found, missing=len(answers.missing),
        wrong=answers.wrong[:3], before=rounded(before_s), first=rounded(durations_s[:FIRST]),
        all=rounded(durations_s), per_s=per_s, above_1_s=sum(one > 1 for one in durations_s),
    )  # fmt: skip
    assert answers.found == PROFILES, answers


def rounded(durations_s: Iterable[float]) -> dict[str, float]:
    return {key: round(value, 3) for key, value in spread_ms(durations_s).items()}


@pytest.mark.parametrize("together", [1, 16])
@pytest.mark.parametrize("how", ["closed", "silent"])
async def test_spared_draw(how: How, together: int) -> None:
    await spared(how, together, seed=together)


async def free(copies: int, seed: int, profiles: int) -> tuple[float, float]:
    """One ring, one draw of any; the share that was lost, and that was to be."""
    async with VanishingOverlay(PEERS, copies=copies, seed=seed) as overlay:
        readings = Readings(await overlay.connect(), seed, profiles)
        await rested(overlay, readings)
        ring = in_ring_order(overlay)
        served = overlay.peers[0]
        gone = [served]
        while served in gone:  # the client's own peer: losing it is another matter
            gone = draw(ring, GONE, readings.drawn)
        doomed = set(lost_items(ring, gone, readings.indexes))
        await overlay.vanish(gone, "closed")
        await in_flight(readings.retrieve, readings.order(), 16)
    answers = readings.answers
    unexpected = sorted(doomed ^ set(answers.missing))
    report(
        f"{GONE} of {PEERS} by a free draw, k = {copies}",
        seed=seed, profiles=profiles, lost_share=len(answers.missing) / profiles,
        of_draw=len(doomed) / profiles, p_to_k=(GONE / PEERS) ** copies,
        unexpected=len(unexpected), wrong=answers.wrong[:3],
    )  # fmt: skip
    assert not answers.wrong
    assert not unexpected, unexpected[:5]
    return len(answers.missing) / profiles, len(doomed) / profiles


def lost_items(
    ring: Sequence[meteor.Peer], gone: Sequence[meteor.Peer], indexes: Sequence[int]
) -> Iterable[int]:
    """The items of which no survivor has a copy."""
    ids = {peer.id for peer in gone}
    for item, index in enumerate(indexes):
        if ids.issuperset(holders(ring, index)):
            yield item


@pytest.mark.parametrize("copies", [3, 5])
async def test_free_draws(copies: int) -> None:
    shares = [await free(copies, seed, PROFILES // 5) for seed in range(FREE_DRAWS)]
    report(
        f"{GONE} of {PEERS} by {FREE_DRAWS} free draws, k = {copies}",
        lost_share=sum(lost for lost, _ in shares) / len(shares),
        p_to_k=(GONE / PEERS) ** copies,
    )
