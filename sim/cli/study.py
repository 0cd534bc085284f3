"""What the commands of studies share: numbers of options, progress, and where results go.

Law of this file: the table goes to standard output, all else to standard error or to files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from sim import plot, tables
from sim.lookup_study import Row


def numbers(_: click.Context, __: click.Parameter, value: str) -> tuple[float, ...]:
    """`0,0.1,0.5` as numbers of at least 0."""
    try:
        parsed = tuple(float(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is no list of numbers such as 0,0.1") from None
    if any(not 0 <= number < float("inf") for number in parsed):
        raise click.BadParameter(f"{value!r}: numbers of at least 0 are wanted")
    return parsed


def progress(line: str) -> None:
    """Say how far it is."""
    click.echo(line, err=True)


def publish(name: str, title: str, varied: str, rows: Sequence[Row], out: Path | None) -> None:
    """Print the table; with `out` also write NAME.csv and, with matplotlib, NAME.png there."""
    click.echo(title)
    click.echo(tables.as_text(varied, rows))
    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    table = out / f"{name}.csv"
    table.write_text(tables.as_csv(varied.replace(" ", "_"), rows))
    click.echo(f"wrote {table}", err=True)
    if not plot.is_available():
        click.echo(plot.HOW_TO_GET, err=True)
        return
    picture = out / f"{name}.png"
    plot.plot_rows(title, varied, rows, picture)
    click.echo(f"wrote {picture}", err=True)
