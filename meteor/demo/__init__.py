"""The demo: sixteen peers, a building full of sensors, clients that are interested.

Law of this package: it uses the public Python API and nothing else of Meteor's, and it believes
no answer: each is compared with `meteor.demo.plain_filter`, which imports nothing of ours.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter
from typing import Final, TextIO

import meteor
from meteor.demo.building import Plan, plan_of, space_of
from meteor.demo.progress import Progress
from meteor.demo.readings import UnusableReadings, from_csv, of_a_fire
from meteor.demo.scenario import Feed, Outcome, Scenario
from meteor.demo.swarm import CURE, PeerFailed, Swarm
from meteor.demo.table import lines, summary

CLIENTS: Final = 8
TIME_LIMIT_S: Final = 58.0
"""From the start of the first peer: the demo ends by itself within a minute."""
BUSY_MAX: Final = 5.0
"""How many times as long it may take where others use the processors."""
START_SHARE: Final = 0.7
"""Of the time limit, for the peers to be ready."""

DONE, WRONG, BAD_INPUT, FAILED, INTERRUPTED = 0, 1, 2, 5, 130


def run(
    *,
    peers: int = 16,
    readings: Path | None = None,
    seed: int = 1,
    time_limit_s: float | None = None,
    as_json: bool = False,
    feed: Feed = lambda _, answer: answer,
    output: TextIO | None = None,
) -> int:
    """Play the demo and print its table; the exit code is 0 only if every answer was exact.

    `time_limit_s`: None is a minute, or what the load of this machine makes of it.
    `feed` stands between each answer and its judge: a test corrupts one there."""
    out = output or sys.stdout
    if time_limit_s is None:
        time_limit_s = patience_s(os.getloadavg()[0], os.cpu_count() or 1)
    try:
        plan = plan_of(of_a_fire(seed) if readings is None else from_csv(readings), seed)
    except UnusableReadings as error:
        sys.stderr.write(f"meteor demo: {error}\n")
        return BAD_INPUT
    began_s = perf_counter()
    try:
        outcome = asyncio.run(_play(plan, peers, time_limit_s, feed))
    except KeyboardInterrupt:
        sys.stderr.write("\nmeteor demo: interrupted\n")
        return INTERRUPTED
    except (meteor.MeteorError, PeerFailed) as error:
        sys.stderr.write(f"\nmeteor demo: {type(error).__name__}: {error}\n")
        return FAILED
    except TimeoutError:
        sys.stderr.write(f"\nmeteor demo: not finished after {time_limit_s:g} s; {CURE}\n")
        return FAILED
    numbers = summary(outcome, peers, CLIENTS, perf_counter() - began_s)
    text = json.dumps(numbers) if as_json else "\n".join(lines(outcome, numbers))
    out.write(f"{text}\n")
    return DONE if outcome.exact else WRONG


def patience_s(load: float, cores: int) -> float:
    """How long the demo may take where so many processes want these processors already."""
    return TIME_LIMIT_S * min(max(load / cores, 1.0), BUSY_MAX)


async def _play(plan: Plan, peers: int, time_limit_s: float, feed: Feed) -> Outcome:
    """Start the peers, connect the clients, play the scenario."""
    toml = space_of(plan.readings).to_toml()
    async with asyncio.timeout(time_limit_s), AsyncExitStack() as stack:
        with Progress("peers", peers) as started:
            swarm = Swarm(peers, toml, started.step, START_SHARE * time_limit_s)
            addresses = await stack.enter_async_context(swarm)

        async def connect(at: int) -> meteor.Client:
            turned = addresses[at % peers :] + addresses[: at % peers]
            return await stack.enter_async_context(meteor.connect(*turned))

        posters = [await connect(at) for at in range(CLIENTS)]
        listeners = [await connect(at + CLIENTS) for at in range(CLIENTS // 2)]
        steps = len(plan.readings) + len(plan.final) + 1
        with Progress("readings", steps) as played:
            return await Scenario(plan, posters, listeners, played.step, feed).run()
