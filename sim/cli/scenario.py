"""`meteor-sim scenario`: one seed, or a swarm of them.

Law of this file: every failure prints the one line that repeats it, and where its trace is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from sim.cli import DONE, VIOLATED, to_nobody
from sim.report import Report
from sim.ring_scenario import RingScenario
from sim.scenario import Scenario
from sim.scenarios import EVERY


def seed_range(_: click.Context, __: click.Parameter, value: str) -> range:
    """`7`, or `1..200`, both ends included."""
    first, dots, last = value.partition("..")
    try:
        seeds = range(int(first), int(last if dots else first) + 1)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a seed nor FIRST..LAST") from None
    if not seeds:
        raise click.BadParameter(f"{value!r} is empty: the first seed is above the last")
    if seeds.stop - seeds.start > sys.maxsize:
        raise click.BadParameter(f"{value!r} are more seeds than can be counted")
    return seeds


def folder_to_be(_: click.Context, __: click.Parameter, value: Path) -> Path:
    """Refused before a night of seeds, and made where one of them fails."""
    there = next(one for one in (value, *value.absolute().parents) if one.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        raise click.BadParameter(f"{value}: nothing can be written into {there}")
    return value


def listing() -> str:
    """The scenarios, one a line."""
    width = max(len(name) for name in EVERY)
    return "\n".join(f"{name:{width}}  {one.summary}" for name, one in EVERY.items())


def line_of(report: Report, took_s: float) -> str:
    """One run in one line."""
    verdict = "ok" if not report.violations else f"{len(report.violations)} violations"
    return (
        f"{report.scenario} seed {report.seed}: {verdict}, {report.events} events, "
        f"{report.messages} trace events, {report.virtual_s:.0f} virtual s in {took_s:.1f} s, "
        f"digest {report.digest}"
    )


def keep_trace(scenario: Scenario | RingScenario, report: Report, folder: Path) -> Path:
    """Run the seed again, this time keeping the trace, and write it: one JSON list a line."""
    _, trace = scenario.play(report.seed, keep_trace=True)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{report.scenario}-{report.seed}.jsonl"
    with path.open("w") as file:
        for event in trace.events:
            file.write(json.dumps(list(event)) + "\n")
    return path


@click.command()
@click.argument("name", required=False)
@click.option("--seed", "--seeds", "seeds", callback=seed_range, default="1", help="N or A..B.")
@click.option("--list", "listed", is_flag=True, help="Name the scenarios.")
@click.option(
    "--traces",
    type=click.Path(file_okay=False, path_type=Path),
    callback=folder_to_be,
    default=Path("traces"),
    show_default=True,
    help="Where the traces of failed runs go.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a run.")
def command(name: str | None, seeds: range, listed: bool, traces: Path, as_json: bool) -> int:
    """Run the scenario NAME (`all` for each) and check what was promised.

    Example: meteor-sim scenario crashes --seeds 1..200
    """
    if listed:
        click.echo(listing())
        return DONE
    if name is None:
        raise click.UsageError(f"name a scenario, or `all`; there are:\n{listing()}")
    if name not in {*EVERY, "all"}:
        raise click.UsageError(f"no scenario {name!r}; there are:\n{listing()}")
    chosen = list(EVERY.values()) if name == "all" else [EVERY[name]]
    swarm = _Swarm(len(chosen) * len(seeds), traces, as_json=as_json)
    try:
        for scenario in chosen:
            for seed in seeds:
                swarm.run(scenario, seed)
    except BrokenPipeError:  # `| head` has seen enough; that something failed it may not have seen
        to_nobody()
    finally:  # also when somebody interrupts: what a night of seeds found is not to be lost
        swarm.sum_up()
    return VIOLATED if swarm.failed else DONE


class _Swarm:
    """The runs that were asked for, and what came of them so far."""

    def __init__(self, asked: int, traces: Path, *, as_json: bool) -> None:
        self._asked, self._traces, self._as_json = asked, traces, as_json
        self._done: list[Report] = []
        self.failed = 0

    def run(self, scenario: Scenario | RingScenario, seed: int) -> None:
        """One run: its trace is kept before anything is printed, which may be in vain."""
        began_s = time.monotonic()
        report, _ = scenario.play(seed)
        took_s = time.monotonic() - began_s
        self._done.append(report)
        self.failed += bool(report.violations)
        where = _kept_where(scenario, report, self._traces) if report.violations else ""
        if self._as_json:
            names = {name: getattr(report, name) for name in report.__slots__}
            click.echo(json.dumps({**names, "took_s": round(took_s, 3)}))
        else:
            click.echo(line_of(report, took_s))
        if report.violations:
            click.echo(report.text(), err=self._as_json)
            click.echo(f"  trace: {where}", err=self._as_json)
        if self._asked > 1:
            click.echo(f"[{len(self._done)}/{self._asked}, {self.failed} failed]", err=True)

    def sum_up(self) -> None:
        """The whole of a swarm."""
        if self._asked > 1 and not self._as_json:
            click.echo(summary(self._done, self._asked))


def _kept_where(scenario: Scenario | RingScenario, report: Report, traces: Path) -> str:
    """Where the trace is, or why it is nowhere: a full disk does not end a swarm."""
    try:
        return str(keep_trace(scenario, report, traces))
    except OSError as error:
        return f"not written, {error}"


def summary(done: Sequence[Report], asked: int) -> str:
    """What a swarm did of all that was asked for, and the lines that repeat its failures."""
    counts: Counter[str] = Counter()
    for report in done:
        counts.update({"events": report.events, **report.counts})
    counted = ", ".join(f"{what} {times}" for what, times in sorted(counts.items()))
    failed = [report for report in done if report.violations]
    ended = f"{asked} runs" if len(done) == asked else f"{len(done)} of {asked} runs, interrupted"
    lines = [f"{ended}, {len(failed)} failed" + (f": {counted}" if counted else "")]
    return "\n".join([*lines, *(f"  {report.replay}" for report in failed)])
