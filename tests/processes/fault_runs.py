"""Fault runs on real processes, each with an account of what was acknowledged.

Law of this file: a run draws its faults from its seed and prints it; whoever waits, waits for a
condition, bounded by time.  The one pause that is slept through is the fault itself: how long a
process is held.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path

from meteor import Client, MeteorError
from meteor.wire.record_id import stem_of
from squid import of_arc, subtract
from tests.meteor.building import SPACE
from tests.processes.account import Account
from tests.processes.load import Load
from tests.processes.peer_processes import PeerProcesses, until

COPIES = 3
ID_BITS = 160
HELD_S = 4.0
"""Longer than the suspicion of the ring (1.5 s and three misses)."""
HEAL_S = 90.0
"""Until the ring is whole and every arc is answered for; the machine may be slow."""


@dataclass(frozen=True)
class Size:
    """How large a run is: peers, how many of them are killed and held, and the posts that are
    acknowledged in each of its parts."""

    peers: int = 16
    killed: int = 4
    held: int = 2
    posts: int = 120


@dataclass
class Table:
    """What a run has to say, line by line, printed as it comes."""

    run: str
    seed: int
    lines: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        print(f"{self.run}, seed {self.seed}", flush=True)

    def add(self, what: str, value: object) -> None:
        """One more line."""
        self.lines[what] = value
        print(f"  {what + ' ':.<48} {value}", flush=True)


def drawn_apart(count: int, of: int, drawn: random.Random, taken: frozenset[int]) -> set[int]:
    """Positions of a circle of `of`, never COPIES in a row, those `taken` counted."""
    while True:
        chosen = set(drawn.sample([at for at in range(of) if at not in taken], count))
        gone = chosen | taken
        if not any(all((at + step) % of in gone for step in range(COPIES)) for at in range(of)):
            return chosen


async def has_posts(account: Account, count: int) -> None:
    """Wait until so many posts were acknowledged."""

    async def reached() -> bool:
        return len(account.posted) >= count

    await until(
        reached, HEAL_S,
        lambda: f"{count} posts acknowledged, but {len(account.posted)}; "
        f"{account.open_posts}, the last {account.last_failure}",
    )  # fmt: skip


async def is_whole(ring: PeerProcesses, client: Client) -> None:
    """Wait until the ring is closed over exactly the peers that live."""
    peers = ring.living
    expected, seen = {peer.id: peer.number for peer in peers}, [""]

    async def reached() -> bool:
        ring.check_alive()
        try:
            picture = await client.ring(timeout=5)
        except MeteorError as error:
            seen[0] = str(error)
            return False
        answering = [n.contact.id for n in picture.peers if n.answers]
        seen[0] = f"closed: {picture.closed}, {[expected.get(id, -1) for id in answering]}"
        return picture.closed and set(answering) == expected.keys()

    await until(reached, HEAL_S, lambda: f"a ring of {sorted(expected.values())}; {seen[0]}")


async def all_found(load: Load, client: Client) -> None:
    """Wait for an answer that is complete, then check it."""

    async def reached() -> bool:
        return (await load.ask(client))[1]

    await until(reached, HEAL_S, "a complete answer")


async def healed(table: Table, load: Load, ring: PeerProcesses) -> Client:
    """Wait for one ring, then until what only one part knew is known to all; a client of all."""
    clock, account = asyncio.get_running_loop().time, load.account
    client = await load.client(f"control-{2 * len(load.clients)}")
    began_s = clock()
    await is_whole(ring, client)
    table.add("one ring again after, seconds", round(clock() - began_s, 1))

    async def merged() -> bool:
        before = account.relative
        lacking, complete, _ = await load.ask(client)
        return complete and not lacking and account.relative == before

    await until(merged, HEAL_S, "one content")
    table.add("and one content after, seconds", round(clock() - began_s, 1))
    account.phase, account.apart = "healed", False
    return client


async def all_heard(load: Load) -> None:
    """Wait until every watcher has heard of what it must."""

    async def reached() -> bool:
        return not any(load.account.unheard(name) for name in load.interests)

    await until(reached, HEAL_S, "every notification")


async def killed_and_held(folder: Path, seed: int, size: Size = Size()) -> tuple[Table, Load]:
    """A quarter is killed under load, others are held, no COPIES ring neighbours all gone."""
    drawn, table = random.Random(seed), Table("killed and held", seed)
    async with PeerProcesses(size.peers, folder, SPACE.to_toml()) as ring:
        order = ring.in_ring_order()
        killed = drawn_apart(size.killed, size.peers, drawn, frozenset())
        held = drawn_apart(size.held, size.peers, drawn, frozenset(killed))
        table.add("peers", size.peers)
        table.add("killed (SIGKILL)", [order[at].number for at in sorted(killed)])
        table.add(f"held for {HELD_S:g} s (SIGSTOP)", [order[at].number for at in sorted(held)])
        account = Account(SPACE)
        async with Load(account, [peer.address for peer in ring.peers], seed=seed) as load:
            control = await load.client("control-0")
            await has_posts(account, size.posts)
            account.phase = "killed"
            ring.hold(order[at] for at in held)
            await ring.kill(order[at] for at in killed)
            if held:
                await asyncio.sleep(HELD_S)
                ring.go_on()
            ring.check_alive()
            await has_posts(account, len(account.posted) + size.posts)
            account.phase = "restarting"
            await ring.restart(order[at] for at in drawn.sample(sorted(killed), len(killed)))
            await has_posts(account, len(account.posted) + size.posts)
            await load.stop()
            await is_whole(ring, control)
            account.phase = "whole"
            await judged(table, load, control)
            ring.check_alive()
        return table, load


async def unheard_after_attaching(load: Load, client: Client) -> set[str]:
    """The first watcher ends without a word, and a later client takes its interest over: the
    stems that it has not heard of, though every one must come at least once."""
    account, heard = load.account, set[str]()
    must = (account.hot & account.posted.keys()) - account.deleting
    name = min(load.interests)
    load.clients[name].abandon()
    interest = await client.attach(load.interests[name])

    async def listen() -> None:
        async for notification in interest:
            heard.add(stem_of(notification.id))

    listening = asyncio.create_task(listen())

    async def reached() -> bool:
        return must <= heard or listening.done()

    try:
        await until(reached, HEAL_S, lambda: f"{len(must - heard)} after attaching")
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
    return must - heard


async def judged(table: Table, load: Load, control: Client) -> None:
    """The end of a run: everything is asked for, everything accounted for."""
    account = load.account
    await all_found(load, control)
    await all_heard(load)
    lacking, complete, _ = await load.ask(control)
    table.add("acknowledged posts", len(account.posted))
    table.add("open posts (failed, may be there)", dict(account.open_posts))
    table.add("acknowledged deletes", len(account.deleted))
    table.add("answers under faults", dict(account.answers))
    table.add("last answer", "complete" if complete else "incomplete")
    table.add("acknowledged and not found", len(lacking))
    for name in sorted(load.interests):
        table.add(f"{name} heard of", len(account.notices.get(name, ())))
        table.add(f"{name} heard twice of", len(account.repeated(name)))
    unheard = await unheard_after_attaching(load, control)
    table.add("unheard after attaching anew", len(unheard))
    account.close(load.interests, not_found_at_the_end=lacking, unheard_after_attaching=unheard)
    if not complete:
        account.violations.append("the last answer is incomplete, with all peers there")
    table.add("answers that knew of one part only", account.relative)
    table.add("violations", len(account.violations))
    for violation in account.violations[:5]:
        table.add("  violation", violation)


async def free_draws(folder: Path, seed: int, size: Size = Size()) -> tuple[Table, Load]:
    """A third is killed wherever the draw falls: what no copy is left of is named."""
    drawn, table = random.Random(seed), Table("free draws", seed)
    async with PeerProcesses(size.peers, folder, SPACE.to_toml()) as ring:
        order = ring.in_ring_order()
        killed = set(drawn.sample(range(size.peers), size.peers * 3 // 8))
        copies = [[(at + step) % size.peers for step in range(COPIES)] for at in range(size.peers)]
        gone = [holders[0] for holders in copies if killed.issuperset(holders)]
        table.add("killed", [order[at].number for at in sorted(killed)])
        table.add("arcs without a copy", [order[at].number for at in gone])
        account = Account(SPACE)
        async with Load(account, [peer.address for peer in ring.peers], seed=seed) as load:
            control = await load.client("control-0")
            await has_posts(account, 3 * size.posts)
            account.phase = "killed"
            await ring.kill(order[at] for at in sorted(killed))
            await has_posts(account, len(account.posted) + size.posts)
            await is_whole(ring, control)
            lacking, complete, missing = await load.ask(control)
            table.add("with the killed gone: complete", complete)
            table.add("  intervals missing", len(missing))
            table.add("  acknowledged and not found, all of them there", len(lacking))
            for at in gone:
                arc = of_arc(order[at - 1].id, order[at].id, SPACE.curve.index_bits, ID_BITS)
                if subtract(arc, missing):
                    account.violations.append(f"the arc of {order[at].number} is not missing")
            account.phase = "restarting"
            await ring.restart(order[at] for at in drawn.sample(sorted(killed), len(killed)))
            await load.stop()
            await is_whole(ring, control)
            account.phase = "whole"
            await judged(table, load, control)
        return table, load


async def power_cut(folder: Path, seed: int, size: Size = Size()) -> tuple[Table, Load]:
    """All are killed at once and come back in drawn order, one later than the others."""
    drawn, table = random.Random(seed), Table("power cut", seed)
    async with PeerProcesses(size.peers, folder, SPACE.to_toml()) as ring:
        account = Account(SPACE)
        async with Load(account, [peer.address for peer in ring.peers], seed=seed) as load:
            await has_posts(account, 2 * size.posts)
            everybody = list(ring.peers)
            account.phase, account.apart = "restarting", True
            await ring.kill(everybody)
            drawn.shuffle(everybody)
            late = everybody.pop()
            table.add("late", late.number)
            await ring.restart(everybody)
            control = await healed(table, load, ring)
            account.phase = "one missing"
            await has_posts(account, len(account.posted) + size.posts)
            lacking, complete, _ = await load.ask(control)
            table.add("with one missing: complete", complete)
            table.add("  acknowledged and not found", len(lacking))
            account.phase = "restarting the last"
            await ring.restart([late])
            await load.stop()
            await is_whole(ring, control)
            account.phase = "whole"
            await judged(table, load, control)
        return table, load
