"""What the tests of notifications under faults share: who listens, who posts, and who is to die."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from chord import Task
from meteor import Client, Incomplete, Interest, MeteorError, Profile, profile
from meteor.admission import place
from meteor.wire.record_id import make_id, stem_of
from sim.overlay import Overlay, SimPeer
from tests.meteor.building import SPACE, Attributes, draw_data
from tests.meteor.copies_world import primary_of

SETTLED_S = 45.0
"""Longer than the longest pause before a notice is sent again."""

AFTERWARDS_S = 3.0
"""For what comes a second time to come."""

INTERESTS = ("type=temp*", "temperature=-20..90", "type=light humidity>=0", "humidity<=60")


@dataclass
class Listener:
    """Takes what comes, and remembers it."""

    client: Client
    interest: Interest
    came: list[str] = field(default_factory=list)
    """Stems of data, in the order in which they were taken."""
    _taking: Task[None] | None = None

    def listen(self) -> Listener:
        self._taking = self.client._session.spawn(self._take())
        return self

    async def _take(self) -> None:
        async for one in self.interest:
            if one.kind == "match":
                self.came.append(stem_of(one.id))

    def assert_once(self) -> None:
        assert len(self.came) == len(set(self.came)), f"told twice: {sorted(self.came)}"


@dataclass
class Sensor:
    """Posts drawn readings, and knows which of them an interest selects."""

    client: Client
    drawn: random.Random
    selector: str
    sure: set[str] = field(default_factory=set)
    """Matching and acknowledged."""
    open: set[str] = field(default_factory=set)
    """Matching, and an error came instead of an answer."""
    count: int = 0

    def draw(self) -> Attributes:
        """One that is selected, three times of four."""
        for _ in range(3):
            attributes = draw_data(self.drawn)
            if self.selects(attributes):
                return attributes
        return draw_data(self.drawn)

    def selects(self, attributes: Attributes) -> bool:
        return Profile.parse(self.selector, SPACE).matches(_typed(attributes))

    async def store(self, attributes: Attributes) -> None:
        stem, self.count = f"s{self.count}", self.count + 1
        kept = self.sure
        try:
            await self.client.store(profile(attributes), b"x", id=stem, ttl=7200)
        except MeteorError:
            kept = self.open
        if self.selects(attributes):
            kept.add(stem)


def _typed(attributes: Attributes) -> Profile:
    return profile(attributes).typed(SPACE)


def matcher_of(overlay: Overlay, attributes: Attributes) -> SimPeer:
    """The peer that would match a reading with interests in it."""
    box = place(_typed(attributes), "store", SPACE, everywhere=False)
    return primary_of(overlay, make_id("x", box, SPACE.curve))


def peer_of(overlay: Overlay, client: Client) -> SimPeer:
    """The peer that a client is linked to."""
    (found,) = [peer for peer in overlay.living if peer.address == client.peer_address]
    return found


def victims(overlay: Overlay, who: str, client: Client, attributes: Attributes) -> list[SimPeer]:
    """`matcher`, `own` (the client's peer) or `both`."""
    matcher, own = matcher_of(overlay, attributes), peer_of(overlay, client)
    chosen = {"matcher": [matcher], "own": [own], "both": [matcher, own]}[who]
    return list(dict.fromkeys(chosen))


async def opened(client: Client, selector: str, ttl: float | None = None) -> Interest:
    """A standing interest, posted until the overlay has all of it."""
    try:
        return await client.notify_data(selector, ttl=ttl, queue=10_000)
    except Incomplete:
        return await opened(client, selector, ttl)


def assert_exactly_once(overlay: Overlay, sensor: Sensor, listener: Listener) -> None:
    """All that was acknowledged comes in time, and nothing twice."""
    until_s = overlay.kernel.now() + SETTLED_S
    while not sensor.sure <= set(listener.came) and overlay.kernel.now() < until_s:
        overlay.run_for(1.0)
    overlay.run_for(AFTERWARDS_S)
    listener.assert_once()
    came = set(listener.came)
    assert sensor.sure <= came, f"never told: {sorted(sensor.sure - came)}"
    assert came <= sensor.sure | sensor.open
