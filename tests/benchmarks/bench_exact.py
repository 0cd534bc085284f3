"""Exact store and retrieve with k = 3 copies on 64 peers, beside OpenDHT in the same run.

The first three rows of DESIGN section 8: one request in flight (p50, p99), 16 in flight (requests a
second), for peers without a data directory (`memory journals`: nothing is written down) and for all
peers on one SQLite file with `synchronous=FULL`.  Meteor is one process with 64 peers on WebSockets
and one client; OpenDHT is one process with 64 nodes on UDP.  They take turns, `ROUNDS` times, so
that both meet the same machine; the figures are of all rounds together.  `ratio` is Meteor's p50
over OpenDHT's, and of rates the other way round.  OpenDHT takes longer the more it keeps, 0.8 ms
for its first puts and 2 for its last, and Meteor hardly: so `p50_by_round_ms` tells both of each
round, from rings that are all but empty to 6,000 records and more.  Meteor is asked by a client, by
one that always goes by its own peer, and once more by an application at the peer that it embeds: so
OpenDHT's nodes are asked, which have no clients.
The rows after these are the same on uvloop (`meteor peer --loop uvloop`), on the file, and in
memory with half of the peers in a second process.
`sync_ms` is the machine's own median for appending 4 KiB to a file and bringing it to disk.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import random
import time
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import meteor
from meteor.journal.journal import Journal
from meteor.journal.sqlite_journal import SqliteJournal
from tests.benchmarks.measuring import Request, in_flight, one_by_one, report, spread_ms
from tests.benchmarks.opendht_ring import OpenDhtRing
from tests.benchmarks.other_half import other_half
from tests.benchmarks.vanishing import SPACE, draw_reading

pytestmark = [pytest.mark.benchmark, pytest.mark.sockets]

PEERS, COPIES = 64, 3
ROUNDS, ALONE, TOGETHER = 4, 500, 1000
"""A round is long enough for a client to be at it: after a pause its first post to every owner goes
round by its own peer."""
IN_FLIGHT = 16
WARM_UP = 200
SETTLE_S = 5.0
PORT = 22_000


@dataclass
class Series:
    """All rounds of one verb of one system."""

    alone_s: list[float] = field(default_factory=list)
    per_s: list[float] = field(default_factory=list)
    cpu_s: float = 0.0

    def figures(self) -> dict[str, float]:
        """What is printed of it."""
        return {**spread_ms(self.alone_s), f"per_s_{IN_FLIGHT}": median(self.per_s)}

    def p50_by_round_ms(self) -> list[float]:
        """The median of each round."""
        rounds = range(0, len(self.alone_s), ALONE)
        return [round(1000 * median(self.alone_s[at : at + ALONE]), 3) for at in rounds]


class Workload:
    """Exact profiles anywhere in the space, each stored once."""

    def __init__(self, client: meteor.Client | meteor.Peer, seed: int) -> None:
        self._client = client
        self._draw = random.Random(seed)
        self._profiles: list[meteor.Profile] = []
        self._taken = 0

    def fresh(self, count: int) -> Iterable[int]:
        """Items that nobody stored yet."""
        for _ in range(count):
            self._profiles.append(draw_reading(self._draw))
        first, self._taken = self._taken, self._taken + count
        return range(first, self._taken)

    def stored(self, count: int) -> Iterable[int]:
        """Items that were stored, drawn."""
        return self._draw.sample(range(self._taken), count)

    async def store(self, item: int) -> None:
        """Store one item."""
        await self._client.store(self._profiles[item], b"x" * 100)

    async def retrieve(self, item: int) -> None:
        """Retrieve one item, which must be there, and nothing else."""
        assert len(await self._client.retrieve(self._profiles[item]).all()) == 1


def sync_ms(folder: Path, count: int = 30) -> float:
    """What bringing 4 KiB to this disk takes, at the median."""
    durations_s = []
    with (folder / "sync").open("wb") as file:
        for _ in range(count):
            began_s = time.perf_counter()
            file.write(bytes(4096))
            file.flush()
            os.fdatasync(file.fileno())
            durations_s.append(time.perf_counter() - began_s)
    return 1000 * median(durations_s)


async def take_round(series: Series, request: Request, alone: Any, together: Any) -> None:
    """One round of one verb of Meteor's."""
    cpu_s = time.process_time()
    series.alone_s += await one_by_one(request, alone)
    series.cpu_s += time.process_time() - cpu_s
    _, per_s = await in_flight(request, together, IN_FLIGHT)
    series.per_s.append(per_s)


async def take_opendht_round(
    series: Series, ring: OpenDhtRing | None, verb: str, alone: Any, together: Any
) -> None:
    """The same of OpenDHT's."""
    if ring is not None:
        series.alone_s += (await ring.ask(verb, alone))["durations_s"]
        series.per_s.append((await ring.ask(verb, together, IN_FLIGHT))["per_s"])


async def measure(journal: str, folder: Path, elsewhere: int = 0) -> None:
    """All rows; so many peers of the 64 `elsewhere`, in a process of their own."""
    ring = await OpenDhtRing.start(PEERS, PORT)
    async with AsyncExitStack() as stack:
        overlay = await stack.enter_async_context(
            meteor.LocalOverlay(
                peers=PEERS - elsewhere, space=SPACE, transport="websocket", copies=COPIES
            )
        )
        first = overlay.peers[0]
        if elsewhere:
            await stack.enter_async_context(other_half(elsewhere, first.address))
        config = meteor.ClientConfig(shortcuts_max=0)
        roundabout = meteor.connect(first.address, config=config)
        asking = {
            "by a client": Workload(await overlay.connect(), seed=1),
            "by a client without shortcuts": Workload(
                await stack.enter_async_context(roundabout), seed=4
            ),
            "at an embedded peer": Workload(first, seed=2),
        }
        await asyncio.sleep(SETTLE_S)  # fingers refresh ever more rarely: the ring rests
        rows = await in_turns(asking, Workload(first, seed=3), ring)
    if ring is not None:
        await ring.stop()
    for (what, who), (ours, theirs) in rows.items():
        name = f"exact {what}, k = {COPIES}, {journal}, {who}"
        show(name, ours, theirs, sync_ms=sync_ms(folder))


Rows = dict[tuple[str, str], tuple[Series, Series]]
"""Ours and OpenDHT's, by verb and by who asks us."""


async def in_turns(asking: dict[str, Workload], items: Workload, ring: OpenDhtRing | None) -> Rows:
    """All rounds, of whoever asks us and of OpenDHT in turn; `items` are what OpenDHT is given."""
    put, get = Series(), Series()
    rows: Rows = {("store", who): (Series(), put) for who in asking}
    rows |= {("retrieve", who): (Series(), get) for who in asking}
    for work in asking.values():
        await one_by_one(work.store, work.fresh(WARM_UP))
        await one_by_one(work.retrieve, work.stored(WARM_UP))
    for _ in range(ROUNDS):
        for who, work in asking.items():
            series, _ = rows["store", who]
            await take_round(series, work.store, work.fresh(ALONE), work.fresh(TOGETHER))
        await take_opendht_round(put, ring, "put", items.fresh(ALONE), items.fresh(TOGETHER))
        for who, work in asking.items():
            series, _ = rows["retrieve", who]
            await take_round(series, work.retrieve, work.stored(ALONE), work.stored(TOGETHER))
        await take_opendht_round(get, ring, "get", items.stored(ALONE), items.stored(TOGETHER))
    return rows


def show(name: str, ours: Series, theirs: Series, **more: float) -> None:
    """One row: our figures, theirs, and the ratios."""
    cpu_ms = 1000 * ours.cpu_s / len(ours.alone_s)
    if not theirs.alone_s:
        report(name, **ours.figures(), cpu_ms=cpu_ms, opendht="not installed", **more)
        return
    mine, other = ours.figures(), theirs.figures()
    rate = f"per_s_{IN_FLIGHT}"
    report(
        name, **mine, cpu_ms=cpu_ms, opendht=other, ratio=mine["p50_ms"] / other["p50_ms"],
        rate_ratio=mine[rate] / other[rate],
        p50_by_round_ms=[ours.p50_by_round_ms(), theirs.p50_by_round_ms()], **more,
    )  # fmt: skip


def shared_file(path: Path) -> type[meteor.Peer]:
    """Peers whose journals lie in one file, as peers of one process may."""
    names: Iterator[str] = (f"peer {number}" for number in range(PEERS))

    class PeerOnSharedFile(meteor.Peer):
        async def _open_journal(self) -> Journal:
            return await SqliteJournal.open(path, next(names))

    return PeerOnSharedFile


async def test_exact_in_memory(tmp_path: Path) -> None:
    await measure("memory journals", tmp_path)


def test_exact_in_memory_on_uvloop(tmp_path: Path) -> None:
    try:
        uvloop = importlib.import_module("uvloop")
    except ImportError:
        report("exact store and retrieve on uvloop", uvloop="not installed: the extra fast")
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(measure("memory journals, uvloop", tmp_path))


async def test_exact_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("meteor.local.Peer", shared_file(tmp_path / "journal.sqlite"))
    await measure("one SQLite file", tmp_path)


async def test_exact_over_two_processes(tmp_path: Path) -> None:
    await measure("memory journals, two processes", tmp_path, elsewhere=PEERS // 2)
