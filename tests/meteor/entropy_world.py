"""Peers that hold records in plain dictionaries, and compare them over a simulated network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from chord import Contact, Fault
from meteor.copies.entropy import AntiEntropy
from meteor.copies.entropy_comparison import Differences
from meteor.copies.entropy_schedule import EntropyConfig
from meteor.copies.entropy_source import Target
from meteor.keeping.fingerprints import Fingerprints
from meteor.keeping.placement import GONE, Key, Placed, key_of
from meteor.wire.entropy_messages import RecordState
from meteor.wire.operations import Carried
from meteor.wire.record_id import make_id, split_id
from sim.kernel import Kernel
from sim.runtime import SimRuntime
from squid import Box, HilbertCurve, Intervals
from tests.counting_network import CountingNetwork

CURVE = HilbertCurve(2, 8)
EVERYTHING: Intervals = ((0, CURVE.size - 1),)
LONG_MS = 3_600_000


def point(index: int, curve: HilbertCurve = CURVE) -> Box:
    cell = curve.decode(index)
    return Box(cell, cell)


def record(stem: str, box: Box, curve: HilbertCurve = CURVE, **changes: Any) -> Carried:
    """A record whose expiry is Unix milliseconds on a clock that starts at 0."""
    made = Carried("data", make_id(stem, box, curve), "", 1, "store", LONG_MS, b"", 0, 0, None)
    return replace(made, **changes)


def placed_of(carried: Carried, curve: HilbertCurve = CURVE) -> Placed:
    _, box = split_id(carried.id, curve)
    lowest = curve.encode(box.low) if box.is_point else curve.next_match(box, 0)
    assert lowest is not None
    return Placed(box, lowest, carried.number, carried)


def counts_more(new: Carried, known: Carried | None) -> bool:
    """The merge rule, written down once more and differently."""
    if known is None:
        return True
    if known.kind == GONE:
        return False
    if new.kind == GONE:
        return True
    if new.version == known.version:
        return new.renewed > known.renewed
    return new.version > known.version


class DictSource:
    """The records of one peer; keeps a copy of whatever it is asked about."""

    def __init__(self, kernel: Kernel, curve: HilbertCurve = CURVE, ahead_ms: int = 0) -> None:
        self._kernel, self.curve, self._ahead_ms = kernel, curve, ahead_ms
        self.records: dict[Key, Placed] = {}
        self.fingerprints = Fingerprints(curve)
        self.begun: set[Key] = set()
        self.copies: list[Target] = []
        self.primary: Contact | None = None
        self.admitted = 0
        self.earlier: list[tuple[RecordState, Carried]] = []
        self.superseded = False

    def put(self, *some: Carried) -> None:
        """Keep records whatever is known of them; expiry as on the kernel's clock."""
        for carried in some:
            placed = placed_of(replace(carried, ttl_ms=carried.ttl_ms + self._ahead_ms), self.curve)
            self.lose(key_of(carried))
            self.records[key_of(carried)] = placed
            self.fingerprints.add(placed)

    def lose(self, *keys: Key) -> None:
        for key in keys:
            placed = self.records.pop(key, None)
            if placed is not None:
                self.fingerprints.remove(placed, self.wall_ms())

    def sweep(self) -> None:
        now_ms = self.wall_ms()
        self.lose(*(key for key, one in self.records.items() if one.carried.ttl_ms <= now_ms))

    @property
    def states(self) -> dict[Key, tuple[str, str, int, int]]:
        """What is compared, as plain values."""
        carried = {key: placed.carried for key, placed in self.records.items()}
        return {
            key: (one.kind, one.id, 0, 0)
            if one.kind == GONE
            else (one.kind, one.id, one.version, one.renewed)
            for key, one in carried.items()
        }

    # -- meteor.copies.entropy_source.Source

    def find(self, key: Key) -> Placed | None:
        return self.records.get(key)

    def is_begun(self, keys: Iterable[Key]) -> bool:
        return any(key in self.begun for key in keys)

    def wall_ms(self) -> int:
        return int(self._kernel.now() * 1000) + self._ahead_ms

    def outgoing(self, carried: Carried) -> Carried:
        return replace(carried, ttl_ms=carried.ttl_ms - self.wall_ms())

    def outlived(self, state: RecordState, by: Carried) -> None:
        self.earlier.append((state, by))

    async def admit(self, carried: Sequence[Carried]) -> int:
        news = 0
        if self.superseded:
            raise Fault("Moved", "this is another peer's now")
        for one in carried:
            known = self.records.get(key_of(one))
            if counts_more(one, None if known is None else known.carried):
                self.put(replace(one, ttl_ms=one.ttl_ms + self.wall_ms() - self._ahead_ms))
                news += 1
        self.admitted += news
        return news

    async def disowned(self, target: Target) -> None:
        """Nobody evicts here."""

    def targets(self) -> Sequence[Target]:
        return self.copies

    def check(self, primary: Contact, intervals: Intervals) -> None:
        if self.primary is not None and primary != self.primary:
            raise Fault("Moved", f"no copy of {intervals} is kept here")


class Holder:
    """One peer of a comparison."""

    def __init__(self, world: World, number: int, curve: HilbertCurve, ahead_ms: int = 0) -> None:
        self.contact = Contact(number, f"10.0.0.{number}:7400")
        self.runtime = SimRuntime(world.kernel, world.network, self.contact)
        self.source = DictSource(world.kernel, curve, ahead_ms)
        self.entropy = AntiEntropy(self.runtime, curve, self.source, world.config)
        self.runtime.serve(self._handle, lambda _: None)

    def _handle(self, sender: Contact, message: object, remaining_s: float) -> object:
        return self.entropy.handlers[type(message)](sender, message, remaining_s)


class World:
    """A primary and a copy whose wall clock may be ahead."""

    def __init__(
        self,
        curve: HilbertCurve = CURVE,
        *,
        ahead_ms: int = 0,
        config: EntropyConfig | None = None,
    ) -> None:
        self.kernel = Kernel(1)
        self.network = CountingNetwork(self.kernel)
        self.config = config or EntropyConfig()
        self.primary = Holder(self, 1, curve)
        self.copy = Holder(self, 2, curve, ahead_ms)

    def compare(self, intervals: Intervals = EVERYTHING) -> Differences:
        found: Differences = self.run(self.primary.entropy.compare(self.copy.contact, intervals))
        return found

    def run(self, work: Any) -> Any:
        return self.kernel.run_until(self.kernel.spawn(work))

    def run_for(self, seconds: float) -> None:
        self.kernel.run(until_s=self.kernel.now() + seconds)

    def run_until(self, at_s: float) -> None:
        self.kernel.run(until_s=at_s)
