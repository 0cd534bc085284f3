"""`meteor-sim load`: how evenly peers carry their records.

Law of this file: it only parses, runs `sim.load_study` and prints.
"""

from __future__ import annotations

from pathlib import Path

import click

from sim import load_table, plot
from sim.cli import DONE, VIOLATED
from sim.cli.publishing import out_option, progress
from sim.cli.scenario import seed_range
from sim.load_study import LoadPlan, LoadRow, study


def read_words(_: click.Context, __: click.Parameter, value: Path | None) -> tuple[str, ...]:
    """The words of a file, one a line; those that are no plain words of a to z are left out."""
    if value is None:
        return ()
    try:
        lines = [line.strip().casefold() for line in value.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{value} cannot be read as text: {error}") from None
    words = dict.fromkeys(line for line in lines if line.isascii() and line.isalpha())
    if not words:
        raise click.BadParameter(f"{value} has no words of letters alone")
    return tuple(words)


@click.command()
@click.option("--peers", default=1000, show_default=True, type=click.IntRange(2))
@click.option("--records", default=300_000, show_default=True, type=click.IntRange(1))
@click.option(
    "--at-once", default=64, show_default=True, type=click.IntRange(1), help="Simultaneous joins."
)
@click.option(
    "--words",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=read_words,
    help="A dictionary, one word a line; without it words are made up that resemble English.",
)
@click.option("--seed", "--seeds", "seeds", callback=seed_range, default="1", help="N or A..B.")
@out_option
def command(
    peers: int, records: int, at_once: int, words: tuple[str, ...], seeds: range, out: Path | None
) -> int:
    """The largest load over the mean: placement by hash, and load-aware.

    Records are triples of words. "data first": peers join where the records are; "at once": so many
    at the same time; "ring first": the records come last. "settled" is after light peers moved.

    Example: meteor-sim load --seeds 1..3 --out results
    """
    plan = LoadPlan(peers=peers, records=records, at_once=at_once, words=words, seeds=seeds)
    rows = study(plan, progress)
    which = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"
    title = f"load: {peers} peers, {records:,} records, {which}"
    click.echo(title)
    click.echo(load_table.as_text(plan, rows))
    if out is not None:
        _write(title, plan, rows, out)
    return DONE if all(row.meets_target for row in rows) else VIOLATED


def _write(title: str, plan: LoadPlan, rows: list[LoadRow], out: Path) -> None:
    (out / "load.csv").write_text(load_table.as_csv(plan, rows))
    click.echo(f"wrote {out / 'load.csv'}", err=True)
    if not plot.is_available():
        click.echo(plot.HOW_TO_GET, err=True)
        return
    load_table.plot(title, rows, out / "load.png")
    click.echo(f"wrote {out / 'load.png'}", err=True)
