"""`meteor-sim logs`: event logs of real peers, in the measures of the study.

Law of this file: it only parses, runs `sim.spark.logs`, prints and writes what came of it.
"""

from __future__ import annotations

from pathlib import Path

import click

from sim.cli import BAD_INPUT, DONE
from sim.cli.publishing import made_folder, progress
from sim.cli.study import explained


def _file(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """Make the folder of a file before the work is done of which it is to tell."""
    if value is not None:
        made_folder(ctx, parameter, value.parent)
    return value


@click.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--new", "store", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Read only files that are new since the last time, and keep what was read in this "
    "directory as Parquet: for peers that go on writing.",
)  # fmt: skip
@click.option(
    "--out",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    callback=_file,
    help="Also write the table as CSV.",
)
@click.option(
    "--beside", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="The results.csv of a study: its rows of the nearest size are printed below.",
)  # fmt: skip
@explained
def command(directory: Path, store: Path | None, out: Path | None, beside: Path | None) -> int:
    """What peers wrote into DIRECTORY (`meteor peer --event-log DIR`), in the study's measures.

    A row a class of queries: wildcard, range, point. Processing are the peers that were handed a
    share, matching those that held a match; what a query found, and how long it took.

    Example: meteor-sim logs /var/log/meteor --new /var/lib/meteor-logs --beside results/results.csv
    """
    import pyarrow.csv  # noqa: PLC0415 (comes with PySpark)

    from sim.spark import logs  # noqa: PLC0415 (needs PySpark)
    from sim.spark.session import session  # noqa: PLC0415 (the same)

    files = logs.files_in(directory)
    if not files:
        click.echo(
            f"Error: no {logs.FILES} in {directory}: a peer ends a file when it is full or ten "
            "seconds old, and when it stops",
            err=True,
        )
        return BAD_INPUT
    study = None if beside is None else logs.read_study(beside)
    progress(f"{files} files in {directory}")
    with session() as spark:
        path = str(directory.resolve())
        if store is None:
            events = logs.read(spark, path)
        else:
            events = logs.collect_new(spark, path, str(store.resolve()))
        table = logs.measures(events).toArrow()
    click.echo(logs.as_text(table))
    if study is not None:
        click.echo(f"\n{beside}, by the size nearest to that:")
        click.echo(logs.as_text(logs.nearest(study, table)))
    if out is not None:
        pyarrow.csv.write_csv(table, out)
    return DONE
