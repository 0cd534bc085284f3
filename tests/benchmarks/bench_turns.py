"""How long one peer's event loop is held at most, by whatever one callback does: while much is
found, told of, deleted or expires, with `METEOR_BENCH_PROFILES` profiles stored, and a client that
asks for little all the while.

Processor time of the thread is counted as well as the wall clock's, as the machines are shared.
That is not enough where others work, too: a fixed piece of work of one millisecond was seen to take
nine of processor time.  So it is said how often the process was taken off the processor during the
longest callback, how long the longest was in which it was not, and how long Python's collector took
at most; and every turn of a sweep is taken several times, of which the shortest counts: what the
peer itself does there it does every time.
One JSON line each; nothing is asserted.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import time
from asyncio import events
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from statistics import median
from typing import Any

import pytest

from meteor import Client, LocalOverlay
from meteor.copies.tending import MARKS_EVERY_S
from meteor.keeping.placement import key_of
from meteor.rare_collections import collect_rarely
from meteor.rendezvous.outbox import stream_name
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document
from meteor.wire.operations import Carried
from meteor.wire.record_id import make_id
from tests.benchmarks.matching_workload import SPACE, interest, reading
from tests.benchmarks.measuring import report

pytestmark = pytest.mark.benchmark
STORED = int(os.environ.get("METEOR_BENCH_PROFILES", "20000"))
SWEPT = 4
SMALL = interest(Random(7), 0.0001)


class Held:
    """The longest callback of the event loop, and what it was."""

    def __init__(self) -> None:
        self.processor_ms = self.wall_ms = self.collection_ms = 0.0
        self.undisturbed_ms = 0.0
        """Of those in which nobody else had the processor."""
        self.what = ""
        self.taken_off = 0
        """How often others had the processor meanwhile."""
        self.sweeps_ms: list[float] = []
        """Every turn of a sweep."""
        self._collecting_since_s = 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Every callback meanwhile counts."""
        real = events.Handle._run

        def run(handle: Any) -> None:
            taken_off = times_taken_off()
            wall_s, processor_s = time.perf_counter(), time.thread_time()
            real(handle)
            used_ms = (time.thread_time() - processor_s) * 1000
            task = repr(getattr(getattr(handle, "_callback", None), "__self__", None))
            if "bench_turns" in task:
                return  # the client's work, whose process this is only here
            if "._sweep()" in task:
                self.sweeps_ms.append(used_ms)
            taken_off = times_taken_off() - taken_off
            if not taken_off:
                self.undisturbed_ms = max(self.undisturbed_ms, used_ms)
            if used_ms > self.processor_ms:
                self.processor_ms, self.what = used_ms, task[:160]
                self.taken_off = taken_off
            self.wall_ms = max(self.wall_ms, (time.perf_counter() - wall_s) * 1000)

        events.Handle._run = run  # type: ignore[method-assign]
        gc.callbacks.append(self._collects)
        try:
            yield
        finally:
            gc.callbacks.remove(self._collects)
            events.Handle._run = real  # type: ignore[method-assign]

    def _collects(self, phase: str, _: object) -> None:
        if phase == "start":
            self._collecting_since_s = time.thread_time()
            return
        took_ms = (time.thread_time() - self._collecting_since_s) * 1000
        self.collection_ms = max(self.collection_ms, took_ms)


def times_taken_off() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def begin_anew() -> None:
    """As `meteor peer` begins; what the test before left is given back first."""
    gc.unfreeze()
    collect_rarely()


def carried_of(random: Random, life_s: float) -> tuple[Carried, Any]:
    profile = reading(random)
    box = SPACE.box(profile.subject_terms(SPACE))
    document = encode_document(Document("store", pack_profile(profile), b"21.5"))
    full_id = make_id(f"{random.getrandbits(128):026x}", box, SPACE.curve)
    expires_ms = int((time.time() + life_s) * 1000)
    return Carried("data", full_id, "", 1, "store", expires_ms, document, 1, 0, None), profile


def fill(overlay: LocalOverlay, life_s: float) -> None:
    shelf, random = overlay.peers[0].core.shelf, Random(1)
    for number in range(STORED):
        carried, profile = carried_of(random, life_s)
        shelf.show(replace(carried, number=number + 1), profile)


async def measured(what: str, client: Client, work: Awaitable[Any]) -> Any:
    held, durations_s, over = Held(), [], asyncio.Event()

    async def ask_for_little() -> None:
        while not over.is_set():
            began_s = time.perf_counter()
            await client.retrieve(str(SMALL)).all()
            durations_s.append(time.perf_counter() - began_s)
            await asyncio.sleep(0)

    begin_anew()
    with held.watched():
        asking = asyncio.ensure_future(ask_for_little())
        began_s = time.perf_counter()
        outcome = await work
        took_s = time.perf_counter() - began_s
        over.set()
        await asking
    report(
        "turns", what=what, stored=STORED, took_s=took_s, longest_processor_ms=held.processor_ms,
        taken_off=held.taken_off, longest_undisturbed_ms=held.undisturbed_ms,
        longest_wall_ms=held.wall_ms, longest=held.what, longest_collection_ms=held.collection_ms,
        little_p50_ms=1000 * median(durations_s), little_max_ms=1000 * max(durations_s),
    )  # fmt: skip
    return outcome


async def notified(client: Client, count: int) -> int:
    async with client.notify_data("type=w*", queue=2 * STORED, timeout=120) as all_there:
        for _ in range(count):
            await all_there.recv(timeout=60)
    return count


async def told_once(client: Client) -> None:
    async with client.notify_data("type=w*", queue=100, timeout=120) as all_there:
        await all_there.recv(timeout=60)


async def test_much_at_once() -> None:
    async with LocalOverlay(peers=1, space=SPACE, transport="memory") as overlay:
        fill(overlay, 100_000)
        client, other = await overlay.connect(), await overlay.connect()
        some = max(1, STORED // 10)
        await measured("a tenth is found", other, client.retrieve("level<=100").all())
        await measured("everything is found", other, client.retrieve("type=w*", timeout=120).all())
        await measured(f"notified of {some} that are there", other, notified(client, some))
        await measured("an interest that all meet comes and goes", other, told_once(client))
        dry = client.delete_data("type=w*", dry_run=True, timeout=120)
        await measured("would be deleted", other, dry)
        await measured("everything is deleted", other, client.delete_data("type=w*", timeout=120))


async def idle() -> None:
    await asyncio.sleep(3 * MARKS_EVERY_S)


async def test_many_interests() -> None:
    """Of all of them the watermarks are told to the copies, and late notices are looked for."""
    async with LocalOverlay(peers=1, space=SPACE, transport="memory") as overlay:
        core, random = overlay.peers[0].core, Random(3)
        for number in range(STORED):
            carried, profile = carried_of(random, 100_000)
            asked = replace(carried, kind="interest", action="notify_data", number=number + 1)
            core.shelf.show(asked, profile)
            owner, stem = key_of(asked)
            core.telling._outbox.start(stream_name(owner, stem), number + 1)
        client = await overlay.connect()
        await measured("so many interests wait", client, idle())


async def test_much_expires() -> None:
    async with LocalOverlay(peers=1, space=SPACE, transport="memory") as overlay:
        client = await overlay.connect()
        fill(overlay, 5.0 + STORED / 2500)  # the first are to live until the last are there
        await asyncio.sleep(1.5)  # what is asked of a process that was held is refused for a second
        shelf = overlay.peers[0].core.shelf

        async def all_gone() -> None:
            while len(shelf.store):  # noqa: ASYNC110 - nobody says when
                await asyncio.sleep(0.05)

        await measured("everything expires", client, all_gone())


async def swept_ms() -> list[float]:
    """Every turn in which what has run out is swept, all of it at once."""
    async with LocalOverlay(peers=1, space=SPACE, transport="memory") as overlay:
        fill(overlay, 0.0)  # no sweep meanwhile: nobody else has a turn
        held, shelf = Held(), overlay.peers[0].core.shelf
        begin_anew()
        with held.watched():
            while len(shelf.store):  # noqa: ASYNC110 - nobody says when
                await asyncio.sleep(0.05)
        return held.sweeps_ms


async def test_every_sweep() -> None:
    passes = [await swept_ms() for _ in range(SWEPT)]
    quietest_ms = sorted(map(min, zip(*passes, strict=False)))
    report(
        "turns", what=f"everything is swept, every turn the shortest of {SWEPT}", stored=STORED,
        turns=[len(turns) for turns in passes], p50_ms=median(quietest_ms),
        p99_ms=quietest_ms[len(quietest_ms) * 99 // 100], longest_ms=quietest_ms[-1],
        longest_of_each_ms=[round(max(turns), 2) for turns in passes],
    )  # fmt: skip
