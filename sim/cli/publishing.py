"""What the commands of studies share: numbers of options, progress, and where results go.

Law of this file: the table goes to standard output, all else to standard error or to files.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chord import ChordConfig
from sim import plot, tables
from sim.cli import DONE, VIOLATED

if TYPE_CHECKING:
    from sim.data_study import DataPlan, DataRow
    from sim.lookup_study import Row

SHOWN_MAX = 20
"""Lost profiles that are named on the terminal; the file names all."""


def made_folder(_: click.Context, __: click.Parameter, value: Path | None) -> Path | None:
    """Make the folder before the study: an hour later its table would be lost with it."""
    if value is None:
        return None
    try:
        value.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.BadParameter(f"the folder cannot be made: {error}") from None
    if not os.access(value, os.W_OK):
        raise click.BadParameter(f"nothing can be written into {value}")
    return value


out_option = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), callback=made_folder,
    help="For CSV and PNG.",
)  # fmt: skip
"""Where the table and the plot of a study go."""


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


def tell_settings(config: ChordConfig) -> None:
    """Say by which settings a study's peers live: the preset `lan`, and what is other here."""
    lan = asdict(ChordConfig.lan())
    other = {name: value for name, value in asdict(config).items() if value != lan[name]}
    for title, settings in (("preset lan", lan), ("but here", other)):
        line = ", ".join(f"{name} {value}" for name, value in settings.items() if value != b"")
        if line:
            told = textwrap.fill(f"{title}: {line}", 100, subsequent_indent="  ")
            click.echo(told, err=True)


def publish(name: str, title: str, varied: str, rows: Sequence[Row], out: Path | None) -> None:
    """Print the table; with `out` also write NAME.csv and, with matplotlib, NAME.png there."""
    click.echo(title)
    click.echo(tables.as_text(varied, rows))
    if out is None:
        return
    _write(out / f"{name}.csv", tables.as_csv(varied.replace(" ", "_"), rows))
    _draw(out / f"{name}.png", lambda path: plot.plot_rows(title, varied, rows, path))


def publish_losses(
    name: str, title: str, varied: str, rows: Sequence[DataRow], out: Path | None
) -> int:
    """Print the table of the profiles and which copies of lost ones died; with `out` also write
    NAME-data.csv, NAME-losses.csv and, with matplotlib, NAME-data.png.  The exit code."""
    click.echo(f"\n{title}")
    click.echo(tables.data_as_text(varied, rows))
    _name_losses(rows)
    if out is not None:
        column = varied.replace(" ", "_")
        _write(out / f"{name}-data.csv", tables.data_as_csv(column, rows))
        _write(out / f"{name}-losses.csv", tables.losses_as_csv(column, rows))
        _draw(out / f"{name}-data.png", lambda path: plot.plot_losses(title, varied, rows, path))
    violations = [text for row in rows for text in row.violations]
    for text in violations:
        click.echo(f"VIOLATED: {text}", err=True)
    return VIOLATED if violations else DONE


def _name_losses(rows: Sequence[DataRow]) -> None:
    losses = [(row, loss) for row in rows for loss in row.losses]
    for row, loss in losses[:SHOWN_MAX]:
        click.echo(f"  {row.varied:g}, k = {row.copies}: {loss}")
    if len(losses) > SHOWN_MAX:
        click.echo(f"  and {len(losses) - SHOWN_MAX} more; --out DIR writes all")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    click.echo(f"wrote {path}", err=True)


def _draw(path: Path, draw: Callable[[Path], None]) -> None:
    if not plot.is_available():
        click.echo(plot.HOW_TO_GET, err=True)
        return
    draw(path)
    click.echo(f"wrote {path}", err=True)


def copy_counts(_: click.Context, __: click.Parameter, value: str) -> tuple[int, ...]:
    """`3,5`, each at least 1; nothing where no data is asked for."""
    try:
        counts = tuple(int(part) for part in value.split(",") if part)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no list of copies such as 3,5") from None
    if any(count < 1 for count in counts):
        raise click.BadParameter(f"{value!r}: a record has at least one copy")
    return counts


def data_plan(**sizes: Any) -> DataPlan:
    """The plan of what becomes of data, made before the lookups are studied: an hour later their
    table would be lost with it.  Raises `BadParameter`."""
    from sim.data_study import DataPlan  # noqa: PLC0415 (needs SimPy, as not every study does)

    try:
        return DataPlan(**sizes)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--copies") from None


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a study that also looks at data."""
    command = click.option(
        "--profiles", default=2000, show_default=True, type=click.IntRange(1), help="A row of data."
    )(command)
    return click.option(
        "--copies", default="3,5", show_default=True, callback=copy_counts,
        help="Copies of each profile, a table each; '' leaves the data out.",
    )(command)  # fmt: skip
