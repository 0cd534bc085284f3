"""The demo's clients: motes that post, listeners that are notified, an actuator that works only
while somebody is interested.

Law of this file: what a client posts and what it receives is written down as it happens, and
judged only at the end (`meteor.demo.scenario`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import meteor
from meteor.demo.building import Question, selector
from meteor.demo.plain_filter import Anything, Between, Condition
from meteor.demo.readings import Reading

IN_FLIGHT = 8
"""Posts that one client has under way at once."""
LIFETIME_S = 600.0


@dataclass
class Record:
    """What happened: the raw material of the final table."""

    posted: dict[str, bytes] = field(default_factory=dict)
    """Name -> data of everything that was acknowledged."""
    began_s: dict[str, float] = field(default_factory=dict)
    store_s: list[float] = field(default_factory=list)
    store_hops: list[int] = field(default_factory=list)
    retrieve_s: list[float] = field(default_factory=list)
    notify_s: list[float] = field(default_factory=list)


async def post_all(
    clients: Sequence[meteor.Client],
    readings: Sequence[Reading],
    record: Record,
    progress: Callable[[], None],
) -> None:
    """Post the readings through all clients at once; each mote keeps to one client."""
    motes = sorted({reading.mote for reading in readings})
    client_of = {mote: clients[at % len(clients)] for at, mote in enumerate(motes)}
    gates = {id(client): asyncio.Semaphore(IN_FLIGHT) for client in clients}

    async def post(reading: Reading) -> None:
        client = client_of[reading.mote]
        async with gates[id(client)]:
            await post_one(client, reading, record)
        progress()

    await together([post(reading) for reading in readings])


async def together(conversations: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run them all at once; the first error ends the others and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            for conversation in conversations:
                group.create_task(conversation)
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def post_one(client: meteor.Client, reading: Reading, record: Record) -> None:
    """One mote posts one reading."""
    began_s = record.began_s[reading.name] = perf_counter()
    receipt = await client.store(
        meteor.profile(reading.row()), reading.data(), id=reading.name, ttl=LIFETIME_S
    )
    record.store_s.append(perf_counter() - began_s)
    record.store_hops.append(receipt.hops)
    record.posted[reading.name] = reading.data()


class Listener:
    """A client's interest and everything it was notified of."""

    def __init__(self, question: Question, record: Record) -> None:
        self.question = question
        self.came: list[tuple[str, bytes]] = []
        self._record = record
        self._interest: meteor.Interest | None = None
        self._since_s = 0.0
        self._more = asyncio.Event()

    async def listen(self, client: meteor.Client) -> None:
        """Post the interest: from now on no matching reading is missed."""
        self._since_s = perf_counter()
        self._interest = await client.notify_data(
            selector(self.question.conditions), handler=self._take, ttl=LIFETIME_S
        )

    async def stop(self) -> None:
        """Delete the interest in the overlay."""
        if self._interest is not None:
            await self._interest.close()

    def _take(self, notification: meteor.Notification) -> None:
        name = stem_of(notification.id)
        began_s = self._record.began_s.get(name, 0.0)
        if began_s >= self._since_s:  # what lived before has no way to measure
            self._record.notify_s.append(perf_counter() - began_s)
        self.came.append((name, notification.data))
        self._more.set()

    async def reached(self, count: int) -> None:
        """Wait until as many notifications came."""
        while len(self.came) < count:
            self._more.clear()
            await self._more.wait()


def stem_of(record_id: str) -> str:
    """The poster's own name for a record, out of its full id."""
    return record_id.partition(".")[0]


class Actuator:
    """Sounds an alarm for every hot reading, but only while somebody listens to alarms."""

    def __init__(self, client: meteor.Client, alarm_at: float, record: Record) -> None:
        self.sounded: dict[str, bytes] = {}
        self._client = client
        self._alarm_at = alarm_at
        self._record = record
        self._watch: meteor.Watch | None = None

    @property
    def working(self) -> bool:
        """Whether somebody is interested."""
        return self._watch is not None and self._watch.active

    async def open(self) -> None:
        """Ask to be told of interests in alarms."""
        would_publish: dict[str, Condition] = {
            "kind": "alarm",
            "room": Anything(),
            "temperature": Anything(),
            "humidity": Anything(),
        }
        self._watch = await self._client.notify_interest(selector(would_publish), ttl=LIFETIME_S)

    async def work(self) -> None:
        """Wait for an interest, work while there is one, and so on; runs until cancelled."""
        assert self._watch is not None
        hot: dict[str, Condition] = {
            "kind": "reading",
            "temperature": Between(self._alarm_at, None),
        }
        while True:
            await self._watch.wait_active()
            async with self._client.notify_data(selector(hot), queue=100_000) as readings:
                sounding = asyncio.create_task(self._sound(readings))
                try:
                    await self._watch.wait_idle()
                finally:
                    sounding.cancel()
                    await asyncio.gather(sounding, return_exceptions=True)

    async def idle(self) -> None:
        """Wait until nobody is interested any more."""
        assert self._watch is not None
        await self._watch.wait_idle()

    async def _sound(self, readings: meteor.Interest) -> None:
        async for reading in readings:
            measured = reading.json()
            alarm = {key: measured[key] for key in ("room", "temperature", "humidity")}
            name = f"alarm-{measured['name']}"
            self._record.began_s[name] = perf_counter()
            data = f"fire in {alarm['room']}".encode()
            await self._client.store(
                meteor.profile({"kind": "alarm", **alarm}), data, id=name, ttl=LIFETIME_S
            )
            self.sounded[name] = data
