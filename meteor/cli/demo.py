"""`meteor demo`: a whole overlay on this machine, every answer checked."""

from __future__ import annotations

from pathlib import Path

import click

from meteor.cli.options import json_option
from meteor.demo import TIME_LIMIT_S, run


@click.command(
    "demo", epilog="Example: meteor demo --readings 'library1_r1.csv' --peers 16 --seed 1"
)
@click.option(
    "--peers",
    type=click.IntRange(min=1, max=64),
    default=16,
    show_default=True,
    metavar="N",
    help="How many peers, each a process.",
)
@click.option(
    "--readings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Real readings: a CSV file with mote, temperature, humidity and voltage.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the generated fire.")
@click.option(
    "--time-limit",
    "time_limit_s",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help=f"Give up after S seconds; {TIME_LIMIT_S:g} when not given, longer on a busy machine.",
)
@json_option
def command(
    peers: int, readings: Path | None, seed: int, time_limit_s: float | None, as_json: bool
) -> int:
    """Start peers in processes of their own and bring sensors and clients together.

    Motes in a building post their readings while a fire spreads through its rooms (or those of a
    file); clients with interests are notified, an actuator works only while somebody is
    interested. Every answer is checked against a plain filter: exit 1 if one differs.
    """
    return run(
        peers=peers, readings=readings, seed=seed, time_limit_s=time_limit_s, as_json=as_json
    )
