"""`meteor-sim study`: figure 4.2 on Spark.

Law of this file: it only parses, runs `sim.spark.study`, prints and writes what came of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from sim import plot
from sim.cli import BAD_INPUT, DONE, VIOLATED
from sim.cli.publishing import made_folder, progress

if TYPE_CHECKING:
    from sim.spark.attributes import Source
    from sim.spark.publishing import Beside

_CLEARED = "\r\x1b[K"
"""Takes a line of the terminal away: Spark's bar."""
DEFAULT_SIZES = (1000, 2000, 3000, 4000, 5000)


@contextmanager
def _prepared(words: Source) -> Iterator[tuple[Callable[[], None], Beside]]:
    """Words, numbers and what draws the figure, made ready in a thread: Java takes longer to start
    than that, and leaves a core idle.  Yields what waits until they are, which raises ImportError
    where the words are not installed; and what has the thread do something else, such as draw
    while Spark stops.  What fails of that is raised at the end."""

    def prepare() -> None:
        from sim.spark.workload import Workload  # noqa: PLC0415 (only where it is used)

        Workload.of("study", words, 1)
        if plot.is_available():
            import matplotlib.backends.backend_agg  # noqa: F401, PLC0415 (an extra)
            import pandas  # noqa: F401, PLC0415 (an extra)

    left: list[Future[None]] = []
    with ThreadPoolExecutor(1, "prepare") as beside:
        yield beside.submit(prepare).result, lambda work: left.append(beside.submit(work))
    for each in left:
        each.result()


def _end(text: str, *, here: bool) -> None:
    """Say what came of it, and have later runs start sooner if this was the first one here."""
    from sim.spark import class_archive, training  # noqa: PLC0415 (needs PySpark)

    click.echo(text)
    if here and training.begin():
        progress(
            "in the background Java's classes are kept for later runs, for a minute or so "
            f"({class_archive.SWITCH}=off: never)"
        )
    if not plot.is_available():
        click.echo(plot.HOW_TO_GET, err=True)


class Sizes(click.Command):
    """A command in which one option takes several values: `--peers 1000 2000 --profiles 5`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give each further number its own `--peers`."""
        spread: list[str] = []
        open_ = False
        for argument in args:
            if open_ and argument.isdigit() and spread[-1] != "--peers":
                spread.append("--peers")
            open_ = argument == "--peers" or (open_ and argument.isdigit())
            spread.append(argument)
        return super().parse_args(ctx, spread)


def _refuse_sizes(ctx: click.Context) -> None:
    """The papers have sizes of their own: others would be passed over without a word."""
    for name in ("peers", "profiles", "fixed_profiles"):
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} and --papers: these have sizes of their own")


def explained(command: Callable[..., int]) -> Callable[..., int]:
    """What is not installed, and what cannot be studied, in a sentence."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> int:
        from sim.spark.java import JavaMissing  # noqa: PLC0415 (only where it is used)

        try:
            return command(*arguments, **options)
        except (ImportError, JavaMissing, ValueError) as error:
            click.echo(f"Error: {error}", err=True)
            return BAD_INPUT

    return run


@click.command(cls=Sizes)
@click.option(
    "--peers", "peers", multiple=True, type=click.IntRange(1), default=DEFAULT_SIZES,
    show_default=True, help="Sizes of the overlay, one or more.",
)  # fmt: skip
@click.option(
    "--profiles", default=1_000_000, show_default=True, type=click.IntRange(1),
    help="Unique profiles of the largest size; smaller ones keep as many a peer.",
)  # fmt: skip
@click.option("--fixed-profiles", is_flag=True, help="Every size keeps all profiles.")
@click.option("--queries", default=200, show_default=True, type=click.IntRange(1))
@click.option("--seeds", default=1, show_default=True, type=click.IntRange(1), help="How many.")
@click.option(
    "--words", default="real", show_default=True, type=click.Choice(["real", "zipf"]),
    help="English words and frequencies, or made-up ones.",
)  # fmt: skip
@click.option(
    "--papers", is_flag=True,
    help="The sizes of the Squid papers instead: 2 and 3 words, beside their figures.",
)  # fmt: skip
@click.option("--remote", metavar="URL", help="A Spark Connect server, sc://host:15002.")
@click.option(
    "--stages", metavar="URL", help="Where stages are kept, for a cluster; default: in --out."
)
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), callback=made_folder
)
@explained
def command(
    peers: tuple[int, ...],
    profiles: int,
    fixed_profiles: bool,
    queries: int,
    seeds: int,
    words: Literal["real", "zipf"],
    papers: bool,
    remote: str | None,
    stages: str | None,
    out: Path,
) -> int:
    """Whom a query reaches in overlays of thousands of peers: figure 4.2 of the report.

    Hash and load-aware placement; Meteor's two ways of handing on, published Squid, and the peers
    that hold a match.  What is done is kept in DIR/stages, and found again when the command is
    given again.  Results: results.csv, results.parquet, figure42.png, verdict.txt.

    Example: meteor-sim study --peers 1000 2000 3000 4000 5000 --seeds 5 --out results
    """
    if papers:
        _refuse_sizes(click.get_current_context())
    from sim.spark.session import elapsed_s, session  # noqa: PLC0415 (only where it is used)

    began_s, on_terminal = elapsed_s(), sys.stderr.isatty()

    def timed(line: str) -> None:
        progress(f"{_CLEARED if on_terminal else ''}{elapsed_s(began_s):7.1f} s  {line}")

    folder = str(stages or out.resolve())
    asked: dict[str, Any] = {"queries": queries, "seeds": seeds, "words": words}
    with (
        _prepared(words) as (ready, beside),
        session(remote, bars=on_terminal, newer=True) as spark,
    ):
        from sim.spark import publishing  # noqa: PLC0415 (needs PySpark, which is there now)

        timed(f"Spark {spark.version} is up")
        ready()
        if papers:
            text, holds = publishing.papers(spark, out, folder, progress=timed, **asked)
        else:
            asked |= {"peers": peers, "profiles": profiles, "fixed_profiles": fixed_profiles}
            text, holds = publishing.study(
                spark, out, folder, progress=timed, beside=beside, **asked
            )
    timed("done")
    _end(text, here=remote is None)
    return DONE if holds else VIOLATED
