"""`meteor-sim measure`: chapter 4 of the report on real peer processes.

Law of this file: it only parses, runs `sim.measure`, prints and writes what came of it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from meteor import MeteorError
from sim import plot
from sim.cli import BAD_INPUT, DONE, VIOLATED
from sim.cli.publishing import made_folder, progress
from sim.cli.study import Sizes
from sim.cli.study import command as study

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from sim.measure.claims import Verdict

SIZES: Final = (2, 4, 8, 16, 32, 64)
_OUTCOMES: Final = {DONE: "all hold", VIOLATED: "one does not hold"}
"""Of a figure, by exit code."""


@click.group()
def command() -> None:
    """The report's chapter 4, ours beside theirs: real peer processes, tables and plots.

    Wait until the machine is quiet: with sixty-four processes nothing else should run.
    Exit codes: 0 every claim of the report holds for us too, 1 one does not.
    """


def _explained(run: Callable[..., int]) -> Callable[..., int]:
    """What went wrong with the processes, in a sentence."""

    @wraps(run)
    def explained(*arguments: Any, **options: Any) -> int:
        from sim.measure.processes import PeerDied  # noqa: PLC0415 (only where it is used)

        try:
            return run(*arguments, **options)
        except BrokenPipeError:  # who reads the table has seen enough: nothing went wrong
            raise
        except (PeerDied, MeteorError, ValueError, OSError) as error:
            click.echo(f"Error: {error}", err=True)
            return BAD_INPUT

    return explained


_peers = click.option(
    "--peers", "peers", multiple=True, type=click.IntRange(2), default=SIZES, show_default=True,
    help="Sizes of the ring, one or more; each peer is a process.",
)  # fmt: skip
_seed = click.option("--seed", default=1, show_default=True, help="Of keys and queries.")
_out = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), callback=made_folder,
    help="Also write the table as CSV and the plot as PNG into this directory.",
)  # fmt: skip


@command.command(cls=Sizes)
@_peers
@click.option("--lookups", default=1000, show_default=True, type=click.IntRange(10))
@_seed
@_out
@_explained
def lookup(peers: tuple[int, ...], lookups: int, seed: int, out: Path | None) -> int:
    """Figure 4.1 (a): lookup latency to random destinations, by the number of peers.

    Example: meteor-sim measure lookup --peers 2 4 8 --out results
    """
    from sim.measure import claims, drawing, lookups as lookup_study  # noqa: PLC0415, I001 (slow)

    points = _run(
        lookup_study.measure_lookups(peers, lookups=lookups, seed=seed, progress=progress)
    )
    _publish("figure-4.1a", points, drawing.draw_lookups, out)
    return _judged(claims.lookup_verdicts(points))


@command.command(cls=Sizes)
@_peers
@click.option("--queries", default=200, show_default=True, type=click.IntRange(4), help="A set.")
@_seed
@_out
@_explained
def routing(peers: tuple[int, ...], queries: int, seed: int, out: Path | None) -> int:
    """Figure 4.1 (b): what routing costs a peer, for keyword tuples with wildcards, ranges, both.

    Example: meteor-sim measure routing --peers 2 4 8 --out results
    """
    from sim.measure import claims, drawing, routing as routing_study  # noqa: PLC0415, I001 (slow)
    from squid import RouterConfig  # noqa: PLC0415 (the same)

    points = _run(
        routing_study.measure_routing(peers, queries=queries, seed=seed, progress=progress)
    )
    _publish("figure-4.1b", points, drawing.draw_routing, out)
    return _judged(claims.routing_verdicts(points, RouterConfig().addressing.value))


@command.command()
@click.option(
    "--stored", default=100_000, show_default=True, type=click.IntRange(100),
    help="Most interests stored at the peer.",
)  # fmt: skip
@_seed
@_out
@_explained
def matching(stored: int, seed: int, out: Path | None) -> int:
    """Figure 4.1 (c): what matching costs a peer, by stored profiles and the share that matches.

    Where DIR has a figure-4.1c.csv of the benchmark, its points are taken instead, ours and SQL's:
    METEOR_FIGURES=DIR pytest -m benchmark tests/benchmarks/bench_matching_figure.py

    Example: meteor-sim measure matching --out results
    """
    from sim.measure import claims, drawing, matching as figure  # noqa: PLC0415, I001 (slow)

    file = None if out is None else out / figure.FILE_NAME
    if file is not None and file.exists():
        points = figure.read_points(file)
    else:
        sizes = [size for size in (100, 1_000, 10_000, 100_000, 1_000_000) if size <= stored]
        points = figure.measure_matching(sizes, seed=seed, progress=progress)
    _publish("figure-4.1c", points, drawing.draw_matching, out)
    return _judged(claims.matching_verdicts(points))


@command.command(cls=Sizes)
@_peers
@_seed
@click.option(
    "--profiles", default=1_000_000, show_default=True, type=click.IntRange(1),
    help="Of figure 4.2; fewer profiles are spread over as many fewer peers.",
)  # fmt: skip
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), callback=made_folder
)
@click.pass_context
def chapter4(
    ctx: click.Context, peers: tuple[int, ...], seed: int, profiles: int, out: Path
) -> int:
    """All of chapter 4: figures 4.1 (a), (b), (c) and 4.2, with a verdict on every claim.

    Figure 4.2 needs the extra `spark`. Example: meteor-sim measure chapter4 --out results
    """
    click.echo(f"load of the machine now: {os.getloadavg()[0]:.1f}", err=True)
    sizes = _thousands(profiles)
    steps: list[tuple[str, click.Command, dict[str, Any]]] = [
        ("Figure 4.1 (a): lookup latency", lookup, {"peers": peers, "seed": seed, "out": out}),
        ("Figure 4.1 (b): routing overhead", routing, {"peers": peers, "seed": seed, "out": out}),
        ("Figure 4.1 (c): matching overhead", matching, {"seed": seed, "out": out}),
        (
            "Figure 4.2: the scale of routing", study,
            {"peers": sizes, "profiles": profiles, "out": out / "figure-4.2"},
        ),
    ]  # fmt: skip
    codes = {title: _titled(title, ctx, step, options) for title, step, options in steps}
    click.echo("\nThe report's claims for us\n==========================")
    for title, code in codes.items():
        click.echo(f"{_OUTCOMES.get(code, 'it was not measured'):19} {title}")
    return max(codes.values())


def _thousands(profiles: int) -> tuple[int, ...]:
    """The five sizes of figure 4.2: 1,000 to 5,000 peers for a million profiles."""
    return tuple(max(2, profiles * size // 1_000_000) for size in range(1000, 5001, 1000))


def _titled(title: str, ctx: click.Context, step: click.Command, options: dict[str, Any]) -> int:
    click.echo(f"\n{title}\n{'=' * len(title)}")
    outcome = ctx.invoke(step, **options)
    return outcome if isinstance(outcome, int) else DONE


def _run(measuring: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(measuring)


def _publish(
    name: str,
    points: Sequence[DataclassInstance],
    draw: Callable[[Any, Path], None],
    out: Path | None,
) -> None:
    """Print the table; with `out` write NAME.csv and, with matplotlib, NAME.png."""
    from sim.measure.report import as_csv, as_text  # noqa: PLC0415 (with the measurements)

    click.echo(as_text(points))
    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.csv").write_text(as_csv(points))
    if plot.is_available():
        draw(points, out / f"{name}.png")
    else:
        click.echo(plot.HOW_TO_GET, err=True)


def _judged(verdicts: Sequence[Verdict]) -> int:
    for verdict in verdicts:
        click.echo(str(verdict))
    return DONE if all(verdict.holds for verdict in verdicts) else VIOLATED
