"""`meteor-sim churn`: lookups while nodes join and leave.

Law of this file: it only parses, runs `sim.churn_study` and prints.
"""

from __future__ import annotations

from pathlib import Path

import click

from sim.churn_study import PUBLISHED, ChurnStudyPlan, study
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
from sim.data_study import under_churn


@click.command()
@click.option("--peers", default=1000, show_default=True, type=click.IntRange(2))
@click.option("--successors", default=20, show_default=True, type=click.IntRange(1))
@click.option("--lookups", default=10_000, show_default=True, type=click.IntRange(1), help="A row.")
@click.option(
    "--rates",
    default=",".join(f"{rate:g}" for rate in PUBLISHED),
    show_default=True,
    callback=numbers,
    help="Joins a second, and as many leaves.",
)
@data_options
@click.option("--seed", default=1, show_default=True)
@out_option
def command(
    peers: int,
    successors: int,
    lookups: int,
    rates: tuple[float, ...],
    copies: tuple[int, ...],
    profiles: int,
    seed: int,
    out: Path | None,
) -> int:
    """Chord's table of lookups under joins and leaves, beside the published figures; and what
    became of profiles with copies while peers join and crash.

    Example: meteor-sim churn --rates 0.05,0.4 --lookups 1000
    """
    if min(rates) <= 0:
        raise click.BadParameter("a rate of 0 is no churn")
    if max(rates) > peers:  # its virtual time would hardly pass: a joiner an instant
        raise click.BadParameter(
            f"a rate of {max(rates):g} is all of {peers} peers within less than a second"
        )
    plan = ChurnStudyPlan(
        peers=peers, successors=successors, lookups=lookups, rates=rates, seed=seed
    )
    data = data_plan(
        peers=peers, successors=successors, profiles=profiles, copies=copies, seed=seed
    )
    tell_settings(plan.config)
    rows = study(plan, progress)
    title = f"churn: {peers} peers, {successors} successors, a look every 30 s, seed {seed}"
    publish("churn", title, "joins and leaves a second", rows, out)
    if not copies:
        return DONE
    title = f"profiles under churn: {peers} peers, preset lan, seed {seed}"
    return publish_losses(
        "churn", title, "joins and crashes a second", under_churn(data, rates, progress), out
    )
