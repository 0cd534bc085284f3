"""The overlay's promises while peers crash, leave and join at any moment, in virtual time.

There is one copy of everything (k = 1): what a crashed peer held is lost, and must be *said* to be
missing, never silently absent.  Each producer is a dumb twin of the profiles of its own type and
compares every answer with them; what an error left open may be there or not.
"""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import pairwise

import pytest

from chord import Contact
from meteor import Client, Incomplete, Interest, MeteorError, Receipt, profile
from meteor.wire.codec import wire_codec
from meteor.wire.record_id import split_id
from sim.disk import SimDisk
from sim.kernel import Kernel
from sim.network import TailedLatency, UniformLatency
from sim.overlay import Overlay, SimPeer
from squid import covers, merge, subtract
from tests.meteor.building import SPACE, Attributes

Intervals = tuple[tuple[int, int], ...]
SIZE = SPACE.curve.size
SETTLED_S = 20.0
"""After the last event every index has its holder again within this."""


def index_of(full_id: str) -> int:
    _, box = split_id(full_id, SPACE.curve)
    return SPACE.curve.encode(box.low)


class Producer:
    """Posts, changes and asks for the profiles of one type, one after the other."""

    def __init__(self, client: Client, kind: str, drawn: random.Random) -> None:
        self.client, self.kind, self.drawn = client, kind, drawn
        self.sure: dict[str, Attributes] = {}
        """Acknowledged, and not asked to go since."""
        self.open: set[str] = set()
        """May be there or not: an error came instead of an answer."""
        self.gone: set[str] = set()
        self.moved: set[str] = set()
        """Old ids of replaced records."""
        self.vague = False
        """A post whose id is unknown may be there."""
        self.steps = 0
        self._peer = client.peer_address

    @property
    def interrupted(self) -> bool:
        """Whether its client went to another peer, and may have asked something twice."""
        return self.client.peer_address != self._peer

    async def work(self, rounds: int, pause_s: float) -> None:
        steps = [self.store] * 12 + [self.ask] * 4 + [self.cancel, self.replace, self.delete]
        for _ in range(rounds):
            await self.client._session.runtime.sleep(self.drawn.uniform(0, pause_s))
            await self.drawn.choice(steps)()
            self.steps += 1

    def draw(self) -> Attributes:
        temperature = round(self.drawn.uniform(-40, 125), 1)
        return {"type": self.kind, "temperature": temperature, "humidity": self.drawn.randrange(99)}

    async def store(self) -> None:
        attributes = self.draw()
        stem = f"{self.kind}-{self.steps}"
        try:
            receipt = await self.client.store(profile(attributes), b"x", id=stem)
        except MeteorError:
            self.vague = True
            return
        self.sure[receipt.id] = attributes

    async def cancel(self) -> None:
        if self.sure:
            chosen = self.drawn.choice(sorted(self.sure))
            del self.sure[chosen]
            receipt = await self._try(self.client.cancel(chosen), {chosen})
            if not self.interrupted:
                self._count(receipt, 1)

    async def delete(self) -> None:
        low = round(self.drawn.uniform(-40, 100), 1)
        chosen = {i for i, d in self.sure.items() if low <= d["temperature"] <= low + 15}
        for one in chosen:
            del self.sure[one]
        selector = f"type={self.kind} temperature={low}..{low + 15}"
        receipt = await self._try(self.client.delete_data(selector), chosen)
        if not self.vague and not self.open and not self.interrupted:
            self._count(receipt, len(chosen))

    async def _try(self, work: object, chosen: set[str]) -> Receipt | None:
        try:
            receipt: Receipt = await work  # type: ignore[misc]
        except MeteorError:
            self.open |= chosen
            return None
        assert receipt.complete
        self.gone |= chosen
        return receipt

    def _count(self, receipt: Receipt | None, expected: int) -> None:
        if receipt is not None:
            assert receipt.matches == expected, (self.kind, self.steps, receipt.id)

    async def replace(self) -> None:
        if not self.sure:
            return
        old = self.drawn.choice(sorted(self.sure))
        del self.sure[old]
        attributes = self.draw()
        try:
            receipt = await self.client.replace(old, profile(attributes), b"y")
        except MeteorError:
            self.open.add(old)
            self.vague = True
            return
        self.moved.add(old)
        self.sure[receipt.id] = attributes

    async def ask(self) -> None:
        low = round(self.drawn.uniform(-50, 100), 1)
        await self.check(*self.drawn.choice([(-50.0, 200.0), (low, low + 40)]))

    async def check(self, low: float, high: float) -> None:
        """Ask for a range of temperatures, and compare."""
        selector = f"type={self.kind} temperature={low}..{high}"
        before = [i for i, d in self.sure.items() if low <= d["temperature"] <= high]
        missing: Intervals = ()
        complete = True
        try:
            matches = await self.client.retrieve(selector, timeout=4).all()
        except Incomplete as error:
            matches, missing, complete = error.matches, error.missing, False
            assert missing
        except MeteorError:
            return
        found = [match.id for match in matches]
        assert len(found) == len(set(found)), "told twice"
        absent = [one for one in before if one not in found]
        assert all(covers(missing, index_of(one)) for one in absent), (selector, absent, missing)
        assert not absent or not complete
        assert not self.gone & set(found), "a deleted profile came back"
        assert not self.moved & set(found) - self.open, "a replaced profile came back"
        if not self.vague:
            assert set(found) <= set(before) | self.open


class Troubles:
    """Draws what happens to peers, and remembers what a crash may have taken with it."""

    def __init__(self, overlay: Overlay, drawn: random.Random, immune: int) -> None:
        self.overlay, self.drawn, self.immune = overlay, drawn, immune
        self.lost: Intervals = ()

    async def work(self, rounds: int, pause_s: float) -> None:
        tasks = []
        for _ in range(rounds):
            await self.overlay.peers[0].runtime.sleep(self.drawn.uniform(0, pause_s))
            work = self.drawn.choice(
                [self.crash, self.crash_neighbours, self.join, self.join, self.leave,
                 self.crash_joining, self.crash_leaving, self.crowd]
            )  # fmt: skip
            tasks.append(self.overlay.kernel.spawn(work()))
        for task in tasks:
            await task

    def mortal(self) -> list[SimPeer]:
        """Members that may die or leave; `crash_joining` sees to those that are none yet."""
        peers = self.overlay.peers[self.immune :]
        mortal = [peer for peer in peers if peer.alive and peer.core._ready]
        return sorted(mortal, key=lambda peer: peer.contact.id) if len(mortal) > 4 else []

    def kill(self, peer: SimPeer) -> None:
        if peer.alive or not peer.runtime.exchange.closed:
            arc = peer.core.node.arc
            uncovered = peer.core._handoff.uncovered() if arc is not None else ()
            awaited = peer.core.holdings.awaited  # it may have been given them just now
            self.lost = merge(self.lost, peer.core.holdings.held, uncovered, awaited)
            peer.crash()

    async def crash(self) -> None:
        if self.mortal():
            self.kill(self.drawn.choice(self.mortal()))

    async def crash_neighbours(self) -> None:
        mortal = self.mortal()
        if mortal:
            at = self.drawn.randrange(len(mortal))
            self.kill(mortal[at])
            self.kill(mortal[(at + 1) % len(mortal)])

    async def join(self) -> SimPeer | None:
        peer = self.overlay.new_peer()
        others = [other for other in self.overlay.living if other is not peer]
        chosen = self.drawn.sample(others, 3)
        try:
            await peer.core.start([Contact.at(other.address) for other in chosen])
        except MeteorError:
            peer.alive = False
            peer.runtime.close()
            return None
        return peer

    async def leave(self) -> None:
        if self.mortal():
            await self.drawn.choice(self.mortal()).leave()

    async def crash_joining(self) -> None:
        """It dies at any moment of its join, or shortly after."""
        peer = self.overlay.new_peer()
        others = [other for other in self.overlay.living if other is not peer]
        chosen = self.drawn.sample(others, 3)
        starting = peer.runtime.spawn(
            _started(peer, [Contact.at(other.address) for other in chosen])
        )
        await self.overlay.peers[0].runtime.sleep(self.drawn.uniform(0, 0.1))
        starting.cancel()
        self.kill(peer)

    async def crash_leaving(self) -> None:
        mortal = self.mortal()
        if mortal:
            peer = self.drawn.choice(mortal)
            self.overlay.kernel.spawn(_left(peer))
            await self.overlay.peers[0].runtime.sleep(self.drawn.uniform(0, 0.05))
            self.kill(peer)

    async def crowd(self) -> None:
        """Several join at once while one dies."""
        tasks = [self.overlay.kernel.spawn(self.join()) for _ in range(3)]
        await self.crash()
        for task in tasks:
            await task


async def _started(peer: SimPeer, contacts: list[Contact]) -> None:
    with suppress(MeteorError):  # nobody is told: it is about to die
        await peer.core.start(contacts)


async def _left(peer: SimPeer) -> None:
    peer.alive = False
    await peer.core.leave()
    peer.runtime.close()


def assert_one_holder_each(overlay: Overlay) -> Intervals:
    """Every index is held by exactly one living peer, its owner; returns what is lost."""
    held = sorted(
        (first, last, peer.address)
        for peer in overlay.living for first, last in peer.core.holdings.held
    )  # fmt: skip
    overlaps = [(one, other) for one, other in pairwise(held) if other[0] <= one[1]]
    assert not overlaps, f"held twice: {overlaps}"
    everything = ((0, SIZE - 1),)
    nobody = subtract(everything, ((first, last) for first, last, _ in held))
    owners = {
        peer.address: (peer.core._handoff.uncovered(), peer.core.node.arc)
        for peer in overlay.living if peer.core._handoff.uncovered()
    }  # fmt: skip
    assert not nobody, f"held by nobody: {nobody}; owners that wait: {owners}"
    return merge(lost for peer in overlay.living for lost in peer.core.holdings.lost)


def build(seed: int) -> Overlay:
    """Quick and slow disks, near and far networks, by seed."""
    kernel, drawn = Kernel(seed), random.Random(seed)
    disk = SimDisk(kernel, write_latency_s=drawn.choice([0.0, 0.001, 0.02]))
    latency = drawn.choice([UniformLatency(), TailedLatency(0.002, 0.005)])
    return Overlay(
        peers=10, space=SPACE, seed=seed, kernel=kernel, disk=disk, latency=latency,
        codec=wire_codec(),
    )  # fmt: skip


SEEDS = [*range(1, 3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 109))]


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost_without_a_word(seed: int) -> None:
    print(f"seed {seed}")
    drawn = random.Random(seed)
    overlay = build(seed)
    producers = [
        Producer(overlay.client(peer=n), kind, random.Random(seed * 10 + n))
        for n, kind in enumerate(("a", "b", "c"))
    ]
    troubles = Troubles(overlay, drawn, immune=drawn.choice([1, 3]))
    told: dict[str, list[str]] = {"near": [], "far": []}

    async def listen(name: str, interest: Interest) -> None:
        while True:
            told[name].append((await interest.recv()).id)

    listening = []
    for name, producer in (("near", producers[0]), ("far", producers[2])):
        interest = overlay.run(_opened(producer.client.notify_data("temperature=0..80")))
        listening.append(overlay.kernel.spawn(listen(name, interest)))
    tasks = [overlay.kernel.spawn(producer.work(60, 0.15)) for producer in producers]
    rounds, pause_s = drawn.randrange(4, 16), drawn.choice([0.2, 0.8])
    tasks.append(overlay.kernel.spawn(troubles.work(rounds, pause_s)))
    for task in tasks:
        overlay.run(_awaited(task))
    overlay.run_for(SETTLED_S)
    lost = assert_one_holder_each(overlay)
    assert not subtract(lost, troubles.lost), "missing is what nobody took with him"
    for producer in producers:
        overlay.run(producer.check(-50, 200))
        overlay.run(producer.check(0, 80))
    for task in listening:
        task.cancel()
    must = {
        one
        for producer in producers for one, d in producer.sure.items()
        if 0 <= d["temperature"] <= 80 and not covers(lost, index_of(one))
    }  # fmt: skip
    for name, ids in told.items():
        assert len(ids) == len(set(ids)), f"told twice: {name}"
        assert must <= set(ids), (name, sorted(must - set(ids)))


async def _awaited(task: object) -> None:
    await task  # type: ignore[misc]


async def _opened(interest: Interest) -> Interest:
    return await interest


def test_an_heir_takes_over_at_once_though_peers_of_old_are_gone() -> None:
    """Who left long ago is still named among those who may hold the interval; nobody listens
    there, and that is an answer."""
    overlay = Overlay(peers=8, space=SPACE, seed=3, codec=wire_codec(), copies=1)
    for peer in (*overlay.peers[2:4], *overlay.peers[5:6]):
        overlay.run(peer.leave())
        overlay.run_for(0.5)
    victim = overlay.living[2]
    held = victim.core.holdings.held
    victim.crash()
    overlay.run_for(1.0)
    lost = assert_one_holder_each(overlay)
    assert lost == held
