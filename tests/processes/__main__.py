"""Fault runs for people: each prints an account of what was acknowledged.

python -m tests.processes [NAME ...] [--seed N] [--peers N]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.processes.fault_runs import Size, Table, free_draws, killed_and_held, power_cut
from tests.processes.load import Load
from tests.processes.partition import namespaces_can_be_made, run_in_namespace

Run = Callable[[Path, int, Size], Awaitable[tuple[Table, Load]]]
RUNS: dict[str, Run] = {
    "killed-and-held": killed_and_held,
    "free-draws": free_draws,
    "power-cut": power_cut,
}
PARTITION = "partition"


def partition(folder: Path, seed: int, peers: int) -> int:
    """The run that needs a network of its own; 1 when something is wrong."""
    if not namespaces_can_be_made():
        print("partition: skipped, network namespaces cannot be made here")
        return 0
    return int(run_in_namespace(folder, seed, peers, capture=False).returncode != 0)


def main() -> None:
    """Run what is named, or all; leaves with 1 when an account does not add up."""
    names = [*RUNS, PARTITION]
    parser = argparse.ArgumentParser(prog="python -m tests.processes")
    parser.add_argument("runs", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; else all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", type=int, default=16)
    given = parser.parse_args()
    if unknown := set(given.runs) - set(names):
        parser.error(f"{', '.join(sorted(unknown))}: choose from {', '.join(names)}")
    size = Size(given.peers, killed=given.peers // 4, held=max(1, given.peers // 8))
    bad = 0
    for name in given.runs or names:
        with tempfile.TemporaryDirectory(prefix="meteor-faults-") as folder:
            if name == PARTITION:
                bad += partition(Path(folder), given.seed, given.peers)
                continue
            _, load = asyncio.run(RUNS[name](Path(folder), given.seed, size))
            bad += len(load.account.violations)
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
