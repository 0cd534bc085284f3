"""The command `meteor-sim`: one module a verb, imported when it is called.

Law of this package: the commands only parse, call `sim` and print; what programs may read goes to
standard output, progress and words to people go to standard error.  Exit codes: 0 all is well,
1 something was violated, 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final

import click

from sim.collector import rare_collections

COMMANDS: Final = {
    "scenario": "Run a named scenario, one seed or many, and check what was promised.",
    "failures": "Chord's table of simultaneous failures, beside the published figures.",
    "churn": "Chord's table of lookups under joins and leaves, beside the published figures.",
    "study": "Whom a query reaches in overlays of thousands of peers: figure 4.2, on Spark.",
    "measure": "The report's chapter 4 on real peer processes: lookup, routing, matching, all.",
    "logs": "What peers wrote with --event-log, in the measures of the study, on Spark.",
    "load": "How evenly peers carry their records: placement by hash, and load-aware.",
}
DONE, VIOLATED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def to_nobody() -> None:
    """What is printed from now on is read by nobody: the reader of a pipe has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Commands(click.Group):
    """Lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(COMMANDS)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # `meteor-sim ... | head` has seen enough; click would say 1
            to_nobody()
            return DONE

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        try:
            module = importlib.import_module(f"sim.cli.{cmd_name}")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "simpy":
                raise
            raise click.ClickException(
                "the simulator needs SimPy: install Meteor with its extra, "
                "pip install 'meteor-rendezvous[sim]'"
            ) from None
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands)
@click.version_option(package_name="meteor-rendezvous", prog_name="meteor-sim")
def commands() -> None:
    """Meteor in virtual time: the very same peers, with faults, checked; one seed is one run.

    Exit codes: 0 all is well, 1 something was violated, 2 bad input, 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        with rare_collections():
            outcome = commands.main(arguments, prog_name="meteor-sim", standalone_mode=False)
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    return outcome if isinstance(outcome, int) else DONE
