"""`meteor-sim failures`: lookups right after a share of all peers crashed at once.

Law of this file: it only parses, runs `sim.failure_study` and prints.
"""

from __future__ import annotations

from pathlib import Path

import click

from sim.cli import DONE
from sim.cli.publishing import (
    data_options,
    data_plan,
    numbers,
    out_option,
    progress,
    publish,
    publish_losses,
    tell_settings,
)
from sim.data_study import under_failures
from sim.failure_study import PUBLISHED, FailurePlan, study


@click.command()
@click.option("--peers", default=1000, show_default=True, type=click.IntRange(2))
@click.option("--successors", default=20, show_default=True, type=click.IntRange(1))
@click.option(
    "--lookups", default=10_000, show_default=True, type=click.IntRange(1),
    help="A row, at least: each ring looks up once a survivor.",
)  # fmt: skip
@click.option(
    "--fractions",
    default=",".join(f"{fraction:g}" for fraction in PUBLISHED),
    show_default=True,
    callback=numbers,
    help="Shares of the peers that crash.",
)
@data_options
@click.option("--seed", default=1, show_default=True)
@out_option
def command(
    peers: int,
    successors: int,
    lookups: int,
    fractions: tuple[float, ...],
    copies: tuple[int, ...],
    profiles: int,
    seed: int,
    out: Path | None,
) -> int:
    """Chord's table of simultaneous failures, beside the published figures; and what became of
    profiles with copies.

    Example: meteor-sim failures --out results
    """
    try:
        plan = FailurePlan(
            peers=peers, successors=successors, lookups=lookups, fractions=fractions, seed=seed
        )
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--fractions") from None
    data = data_plan(
        peers=peers, successors=successors, profiles=profiles, copies=copies, seed=seed
    )
    tell_settings(plan.config)
    rows = study(plan, progress)
    title = (
        f"simultaneous failures: {peers} peers, preset lan, {successors} successors, seed {seed}"
    )
    publish("failures", title, "failed share", rows, out)
    if not copies:
        return DONE
    title = f"profiles after simultaneous failures: {peers} peers, preset lan, seed {seed}"
    return publish_losses(
        "failures", title, "failed share", under_failures(data, fractions, progress), out
    )
