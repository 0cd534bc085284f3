"""A partition between real processes: two groups of peers, each in a network of its own.

    unshare --user --map-root-user --net python -m tests.processes.partition --folder DIR --seed N

Law of this file: the groups are network namespaces, joined by a router; cutting is the router
forwarding no more, so that packets vanish and nobody hears a reset.  The clients sit at the router
and reach both sides all the time.  Everything is made inside the namespace that the command line
makes, so nothing of it outlives this process.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from meteor import MeteorError
from tests.meteor.building import SPACE
from tests.processes.account import Account
from tests.processes.fault_runs import HEAL_S, Table, has_posts, healed, judged
from tests.processes.load import Load
from tests.processes.peer_processes import ROOT, PeerProcess, PeerProcesses, tied_to_us, until

FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")
GROUPS = (1, 2)
NAMESPACES = ("unshare", "--user", "--map-root-user", "--net")
TOOLS = ("unshare", "nsenter", "ip", "setpriv")
POSTS = 100
BOUND_S = 400.0
HELD_APART_S = 8.0
"""Longer than it takes to give a silent neighbour up, so that two rings form."""


def namespaces_can_be_made() -> bool:
    """Whether this machine lets us have networks of our own, and has the tools."""
    if not all(map(shutil.which, TOOLS)):
        return False
    probe = [*NAMESPACES, "sh", "-c", f"echo 1 > {FORWARDING}"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def run_in_namespace(
    folder: Path, seed: int, peers: int, *, capture: bool
) -> subprocess.CompletedProcess[str]:
    """This module in a network of its own."""
    module = ["-m", "tests.processes.partition", "--folder", str(folder), "--seed", str(seed)]
    return subprocess.run(
        [*tied_to_us(), *NAMESPACES, sys.executable, *module, "--peers", str(peers)],
        cwd=ROOT, capture_output=capture, text=True, timeout=BOUND_S, check=False,
    )  # fmt: skip


def run(*words: object) -> None:
    """A command that must succeed."""
    subprocess.run([str(word) for word in words], check=True)


class Networks:
    """The two groups' networks and the router between them: `with Networks() as networks`."""

    def __init__(self) -> None:
        self._keepers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Networks:
        run("ip", "link", "set", "lo", "up")
        for group in GROUPS:
            keeper = subprocess.Popen(
                [*tied_to_us(), "unshare", "--net", "sh", "-c", "echo; exec sleep infinity"],
                stdout=subprocess.PIPE,
            )
            self._keepers.append(keeper)
            assert keeper.stdout is not None
            keeper.stdout.readline()  # its network is there now
            inside = self.within(group)
            run("ip", "link", "add", f"g{group}", "type", "veth", "peer", "name", f"p{group}")
            run("ip", "link", "set", f"p{group}", "netns", keeper.pid)
            run("ip", "addr", "add", f"10.99.{group}.254/24", "dev", f"g{group}")
            run("ip", "link", "set", f"g{group}", "up")
            run(*inside, "ip", "link", "set", "lo", "up")
            run(*inside, "ip", "addr", "add", f"{self.host(group)}/24", "dev", f"p{group}")
            run(*inside, "ip", "link", "set", f"p{group}", "up")
            run(*inside, "ip", "route", "add", "default", "via", f"10.99.{group}.254")
        self.join()
        return self

    def __exit__(self, *_: object) -> None:
        for keeper in self._keepers:
            keeper.kill()
            keeper.communicate()

    def within(self, group: int) -> tuple[str, ...]:
        """The command that runs another in this group's network."""
        return ("nsenter", "--target", str(self._keepers[group - 1].pid), "--net")

    @staticmethod
    def host(group: int) -> str:
        """Where the group's peers listen."""
        return f"10.99.{group}.1"

    @staticmethod
    def cut() -> None:
        """Nothing passes between the groups."""
        FORWARDING.write_text("0")

    @staticmethod
    def join() -> None:
        """Everything passes."""
        FORWARDING.write_text("1")


async def partition(folder: Path, seed: int, peers: int) -> Account:
    """Two sides go on by themselves, and become one again."""
    table = Table("partition", seed)
    order = list(GROUPS) * (peers // 2)
    random.Random(seed).shuffle(order)
    with Networks() as networks:
        processes = [
            PeerProcess(
                at, folder / f"{at:02}", host=networks.host(group), within=networks.within(group)
            )
            for at, group in enumerate(order)
        ]
        async with PeerProcesses(peers, folder, SPACE.to_toml(), processes) as ring:
            sides = [
                [p.address for p, group in zip(processes, order, strict=True) if group == side]
                for side in GROUPS
            ]
            table.add("peers on each side", [len(side) for side in sides])
            account = Account(SPACE)
            async with Load(account, *sides, seed=seed, writers=4) as load:
                await held_apart(table, load, ring)
                await load.stop()
                control = await healed(table, load, ring)
                await judged(table, load, control)
            ring.check_alive()
    return account


async def held_apart(table: Table, load: Load, ring: PeerProcesses) -> None:
    """Cut, let both sides work, judge each side's answer, join.

    A side knows of what was before and of what itself acknowledged (DESIGN section 5)."""
    account = load.account
    await has_posts(account, POSTS)
    account.phase, account.apart = "cut", True
    before = account.question()
    Networks.cut()
    await asyncio.sleep(HELD_APART_S)  # the fault itself
    await until_each_side_posts(load, ring)
    for side in (0, 1):
        now, own = account.question(), (f"writer-{side}-", f"writer-{side + 2}-")
        must = {stem for stem in now.must if stem in before.must or stem.startswith(own)}
        dead = {stem for stem in now.dead if stem in before.dead or stem.startswith(own)}
        client = await load.client(f"judge-{side}")
        account.apart = False  # with the side taken into account the answer must be right
        question = replace(now, must=frozenset(must), dead=frozenset(dead), apart=False)
        lacking, complete, missing = await load.ask(client, question)
        account.apart = True
        table.add(f"side {side + 1} while cut: complete", complete)
        table.add("  intervals missing", len(missing))
        table.add("  of its own and from before not found, all there", len(lacking))
    account.phase = "joined"
    Networks.join()


async def until_each_side_posts(load: Load, ring: PeerProcesses) -> None:
    """Wait until writers of both sides get posts acknowledged, some of them."""
    start = set(load.account.posted)

    async def reached() -> bool:
        ring.check_alive()
        new = load.account.posted.keys() - start
        return all(
            any(stem.startswith((f"writer-{side}-", f"writer-{side + 2}-")) for stem in new)
            for side in (0, 1)
        )

    await until(reached, HEAL_S, lambda: f"posts on both sides; {load.account.last_failure}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run it inside a namespace and leave with 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", type=int, default=16)
    given = parser.parse_args(arguments)
    try:
        account = asyncio.run(partition(given.folder, given.seed, given.peers))
    except (AssertionError, MeteorError) as error:
        raise SystemExit(f"{type(error).__name__}: {error}") from error
    wrong = [*account.violations, *(name for name in account.notices if account.repeated(name))]
    raise SystemExit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
