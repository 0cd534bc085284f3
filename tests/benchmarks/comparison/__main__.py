"""The one command: measure every row, print the table, and write it into the documentation.

`python -m tests.benchmarks.comparison [--rounds N] [--write]`.  Systems take turns; a figure is the
median of its rounds.  Give it a quiet machine: the load average is part of what is written.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any, Final

from tests.benchmarks.comparison.rows import load
from tests.benchmarks.comparison.table import page, table
from tests.benchmarks.yardstick import python_ms

ROW_TIMEOUT_S: Final = 240.0
PAGE: Final = Path(__file__).parents[3] / "docs" / "speed.md"
SYSTEMS: Final = {
    "ring": {
        "Meteor": ("meteor_system", "ring"), "Meteor, uvloop": ("meteor_system", "ring"),
        "Meteor, embedded": ("meteor_system", "embedded"),
        "OpenDHT": ("dht_systems", "opendht"), "kademlia": ("dht_systems", "kademlia"),
    },
    "told": {
        "Meteor": ("meteor_system", "told"), "Meteor, uvloop": ("meteor_system", "told"),
        "Meteor, two peers": ("meteor_system", "told2"),
        "zenoh": ("zenoh_system", "told"), "NATS": ("nats_system", "told"),
        "mosquitto": ("mqtt_system", "told"),
    },
    "received": {
        "Meteor": ("meteor_system", "received"), "Meteor, uvloop": ("meteor_system", "received"),
        "zenoh": ("zenoh_system", "received"), "NATS": ("nats_system", "received"),
        "mosquitto": ("mqtt_system", "received"),
    },
    "iterated": {
        "Meteor": ("meteor_system", "iterated"), "Meteor, uvloop": ("meteor_system", "iterated"),
        "zenoh": ("zenoh_system", "iterated"), "NATS": ("nats_system", "iterated"),
    },
    "query": {
        "Meteor": ("meteor_system", "query"), "Meteor, uvloop": ("meteor_system", "query"),
        "zenoh": ("zenoh_system", "query"), "mosquitto": ("mqtt_system", "query"),
    },
}  # fmt: skip
"""Row to system to the module and the row that it is called by there."""


def measured(module: str, row: str, loop: str) -> Any:
    """One row of one system in a process of its own, whose event loop Meteor takes from
    `METEOR_LOOP`; None where it cannot be run here."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.benchmarks.comparison.{module}", row],
        capture_output=True, text=True, timeout=ROW_TIMEOUT_S, check=False,
        env={**os.environ, "METEOR_LOOP": loop},
    )  # fmt: skip
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        print(f"  {module} {row}: {reason[0]}", file=sys.stderr, flush=True)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def together(rounds: list[Any]) -> Any:
    """The median of every figure over rounds of one form."""
    if not rounds:
        return None
    first = rounds[0]
    if isinstance(first, dict):
        return {key: together([one[key] for one in rounds]) for key in first}
    return median(rounds)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write docs/speed.md")
    parser.add_argument("--rows", nargs="*", choices=SYSTEMS, default=list(SYSTEMS))
    options = parser.parse_args()
    before, yardstick_ms = load(), python_ms()
    found: dict[str, dict[str, list[Any]]] = {row: {} for row in options.rows}
    for number in range(options.rounds):
        for row in options.rows:
            print(f"round {number + 1} of {options.rounds}: {row}", file=sys.stderr, flush=True)
            for system, (module, name) in SYSTEMS[row].items():
                loop = "uvloop" if system.endswith("uvloop") else "asyncio"
                figures = measured(module, name, loop)
                if figures is not None:
                    found[row].setdefault(system, []).append(figures)
    figures = {
        row: {system: together(rounds) for system, rounds in systems.items()}
        for row, systems in found.items()
    }
    print(table(figures))
    if options.write:
        PAGE.write_text(page(figures, options.rounds, before, yardstick_ms))


if __name__ == "__main__":
    main()
