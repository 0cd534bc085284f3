"""The other side of a row about messages: a process that takes in, and says what it saw.

Law of this file: the same for every system; what differs is how a system subscribes, which its own
module does.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Final

from tests.benchmarks.comparison.rows import GAP_S, RECEIVED, TOLD, age_ns, spread, stamped

WAIT_S: Final = 120.0
"""After that long without an answer of the other process a row is given up."""


@dataclass
class Sink:
    """Takes in `expected` messages; their ages, and how long that took."""

    expected: int
    done: Callable[[], None] = lambda: None
    ages_ns: list[int] = field(default_factory=list)
    taken: int = 0
    began_s: float = 0.0
    ended_s: float = 0.0

    def take(self, message: bytes) -> None:
        """One message has come."""
        if self.expected == TOLD:
            self.ages_ns.append(age_ns(message))
        self.taken += 1
        if self.taken == 1:
            self.began_s = time.monotonic()
        if self.taken == self.expected:
            self.ended_s = time.monotonic()
            self.done()

    @property
    def full(self) -> bool:
        """Whether everything has come."""
        return self.taken >= self.expected

    def figures(self) -> dict[str, float]:
        """What is reported of it."""
        if self.ages_ns:
            return spread(self.ages_ns)
        return {"per_s": (self.taken - 1) / (self.ended_s - self.began_s)}


Subscribe = Callable[[Connection, Sink, str, Any], None]
"""Subscribes in the way named, says "ready" on the pipe, and returns when the sink is full."""


def _subscriber(pipe: Connection, subscribe: Subscribe, expected: int, how: str, at: Any) -> None:
    sink = Sink(expected)
    subscribe(pipe, sink, how, at)
    pipe.send(sink.figures())
    pipe.recv()


def measure(
    subscribe: Subscribe, publish: Callable[[int, float], None], how: str, at: Any, row: str
) -> dict[str, float]:
    """One row of one system: a process subscribes, this one publishes `count` with a gap."""
    expected = TOLD if row == "told" else RECEIVED
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(
        target=_subscriber, args=(there, subscribe, expected, how, at), daemon=True
    )
    process.start()
    try:
        _answer(here)
        time.sleep(0.5)  # systems without an acknowledged subscription need it
        publish(expected, GAP_S if row == "told" else 0.0)
        figures: dict[str, float] = _answer(here)
        here.send("end")
        process.join(5)
        return figures
    finally:
        process.kill()


def _answer(pipe: Connection) -> Any:
    if not pipe.poll(WAIT_S):
        raise TimeoutError("the subscriber does not answer")
    return pipe.recv()


def paced(count: int, gap_s: float) -> Any:
    """Messages to publish, each made when its turn has come."""
    for _ in range(count):
        yield stamped()
        if gap_s:
            time.sleep(gap_s)
