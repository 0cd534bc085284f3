"""Clients that load an overlay while its peers die: writers, readers and watchers.

Law of this file: a client keeps on whatever its peer does; failures of single posts are what the
account calls open, never a reason to stop.
"""

from __future__ import annotations

import asyncio
import random
import string
from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

import meteor
from meteor import Client, MeteorError
from tests.processes.account import HOT, Account, Question

PAUSE_S = 0.02
"""Between two posts of a writer: the load is steady, not all that the machine can do."""
POST_S = 10.0
READ_S = 10.0
EVERYTHING = "type=*"
"""Matches all that is posted; no peer can be left out of the answer."""


class Load:
    """`async with Load(account, addresses, seed) as load`: runs until `stop`.

    With several `sides` the clients belong to them in turn, by their number; nobody reads then,
    as what is complete depends on the side."""

    def __init__(
        self, account: Account, *sides: Sequence[str], seed: int, writers: int = 3,
        watchers: int = 2,
    ) -> None:  # fmt: skip
        self.account = account
        self._sides, self._seed = sides, seed
        self._counts = (writers, watchers)
        self._stack = AsyncExitStack()
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self.clients: dict[str, Client] = {}
        self.interests: dict[str, str] = {}
        """Watcher -> the id of its interest."""

    async def __aenter__(self) -> Self:
        writers, watchers = self._counts
        try:
            for number in range(watchers):
                await self.watch(f"watcher-{number}")
            names = [f"writer-{number}" for number in range(writers)]
            for name in names:
                self._tasks.append(asyncio.create_task(self._write(await self.client(name), name)))
            if len(self._sides) == 1:
                reader = await self.client("reader-0")
                self._tasks.append(asyncio.create_task(self._read(reader)))
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._stack.aclose()

    async def client(self, name: str) -> Client:
        """A client of its own, which begins at a peer of its own; its name ends with a number."""
        drawn = random.Random(f"{self._seed}/{name}")
        side = self._sides[int(name.rpartition("-")[2]) % len(self._sides)]
        addresses = drawn.sample(side, len(side))
        client = meteor.connect(*addresses, on_error=lambda _: None)
        self.clients[name] = await self._stack.enter_async_context(client)
        return self.clients[name]

    async def watch(self, name: str) -> None:
        """A watcher that counts what its interest hands out."""
        client = await self.client(name)
        interest = await client.notify_data(
            f"temperature>={HOT}", ttl=1800,
            handler=lambda notification: self.account.noted(name, notification),
        )  # fmt: skip
        self.interests[name] = interest.id

    async def stop(self) -> None:
        """End writing and reading; watchers go on.  Raises what a writer or the reader raised."""
        self._stopping = True
        tasks, self._tasks = self._tasks, []
        await asyncio.gather(*tasks)

    # -- what they do

    async def _write(self, client: Client, name: str) -> None:
        drawn, account = random.Random(f"{self._seed}/{name}/posts"), self.account
        number = 0
        while not self._stopping:
            await asyncio.sleep(PAUSE_S)
            mine = [s for s in account.posted if s.startswith(name) and s not in account.deleting]
            if mine and drawn.random() < 0.1:
                await self._delete(client, drawn.choice(mine))
                continue
            number += 1
            await self._post(client, f"{name}-{number}", drawn)

    async def _post(self, client: Client, stem: str, drawn: random.Random) -> None:
        account = self.account
        temperature = round(drawn.uniform(-40, 125), 1)
        if temperature >= HOT:
            account.hot.add(stem)
        kind = drawn.choice(string.ascii_lowercase) + drawn.choice(string.ascii_lowercase)
        profile = f"type={kind} temperature={temperature} humidity={drawn.randrange(101)}"
        try:
            receipt = await client.store(profile, stem, id=stem, ttl=3600, timeout=POST_S)
        except MeteorError as error:
            account.open_posts[type(error).__name__] += 1
            account.last_failure = f"{stem} {profile}: {error}"
        else:
            account.posted[stem] = receipt.id

    async def _delete(self, client: Client, stem: str) -> None:
        account = self.account
        account.deleting.add(stem)
        try:
            await client.cancel(account.posted[stem], timeout=POST_S)
        except MeteorError:
            return
        account.deleted.add(stem)

    async def _read(self, client: Client) -> None:
        while not self._stopping:
            await asyncio.sleep(PAUSE_S)
            await self.ask(client)

    async def ask(
        self, client: Client, question: Question | None = None
    ) -> tuple[set[str], bool, tuple[tuple[int, int], ...]]:
        """Ask for everything and check the answer: the acknowledged stems that are not in it,
        whether it says that it is complete, and what it says is missing."""
        account = self.account
        question = question or account.question()
        answer = client.retrieve(EVERYTHING, timeout=READ_S, allow_partial=True, everywhere=True)
        try:
            matches = await answer.all()
        except MeteorError as error:
            account.answers[f"failed ({type(error).__name__})"] += 1
            return set(question.must), False, ()
        account.answers["complete" if answer.complete else "incomplete"] += 1
        lacking, wrong = question.check(matches, complete=answer.complete, missing=answer.missing)
        account.judged(question, wrong)
        return lacking, answer.complete, answer.missing
