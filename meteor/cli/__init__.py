"""The command `meteor`: one module a verb, imported when it is called.

Law of this package: the commands only parse, call the public Python API and print; whatever they
print on standard output can be read by a program (`--json`), words to people go to standard
error.  Exit codes: SPEC section 5, in `meteor.cli.exit_codes`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import click

from meteor.cli import exit_codes
from meteor.cli.configuration import FILE_VARIABLE, Configuration

COMMANDS: Final = {
    "peer": "Run a peer until it is stopped.",
    "post": "Post data by content.",
    "get": "Find what matches a selector.",
    "watch": "Follow what matches a selector, as it comes.",
    "delete": "Delete your own data or interests.",
    "ring": "Show the ring as a peer sees it.",
    "keygen": "Make an identity, which signs and owns what it posts.",
    "certs": "Make a CA and certificates for the hosts of a ring.",
    "doctor": "Say what is wrong with a ring or a configuration, and what to do.",
    "config": "Show every setting, and where its value comes from.",
    "demo": "Watch sixteen peers bring sensors and clients together.",
}


class _Commands(click.Group):
    """Lists its commands without importing them: `meteor --help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"meteor.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"{name!r} is no command; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, epilog="Each command has an example: meteor get --help")
@click.version_option(package_name="meteor-rendezvous", prog_name="meteor")
@click.option(
    "--config",
    "config_file",
    envvar=FILE_VARIABLE,
    show_envvar=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Settings in TOML; else meteor.toml here, in ~/.config/meteor or in /etc/meteor.",
)
@click.pass_context
def commands(ctx: click.Context, config_file: Path | None) -> None:
    """Meteor: post by content; whoever posted what matches, before or after, is brought together.

    Exit codes: 0 found or done, 1 no match, 2 bad input, 3 incomplete, 4 refused,
    5 unreachable or time-out, 130 interrupted.
    """
    ctx.obj = Configuration.found() if config_file is None else Configuration(config_file)
    if os.environ.get("NO_COLOR"):  # https://no-color.org; click looks at terminals only
        ctx.color = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        outcome = commands.main(arguments, prog_name="meteor", standalone_mode=False)
    except click.Abort:
        return exit_codes.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return exit_codes.BAD_INPUT
    except Exception as error:
        if isinstance(error, BrokenPipeError) and _output_is_closed():
            return exit_codes.DONE  # `meteor watch ... | head` has seen enough
        code = exit_codes.code_of(error)
        if code is None and isinstance(error, OSError | UnicodeDecodeError):
            code = exit_codes.BAD_INPUT  # no such interface, a file that cannot be read
        if code is None:
            raise
        click.echo(f"meteor: {type(error).__name__}: {error}", err=True)
        return code
    return outcome if isinstance(outcome, int) else exit_codes.DONE


def _output_is_closed() -> bool:
    """Whether nobody reads the standard output any more; if so, nothing more is written to it."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False
