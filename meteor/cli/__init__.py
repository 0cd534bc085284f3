"""The command `meteor`: one module a verb, imported when it is called.

Law of this package: the commands only parse, call the public Python API and print; whatever they
print on standard output can be read by a program (`--json`), words to people go to standard
error.  Exit codes: SPEC section 5, in `meteor.cli.exit_codes`.
"""

from __future__ import annotations

import importlib
import os
import select
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


_OF_SELECTORS: Final = ("post", "get", "watch", "delete")


class _Commands(click.Group):
    """Lists its commands without importing them: `meteor --help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(COMMANDS)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            if _output_is_closed():  # `meteor watch ... | head` has seen enough
                return exit_codes.DONE
            raise

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
        _with_quoting(error).show()
        return exit_codes.BAD_INPUT
    except Exception as error:
        code = exit_codes.code_of(error)
        if code is None and isinstance(error, OSError | UnicodeDecodeError):
            code = exit_codes.BAD_INPUT  # no such interface, a file that cannot be read
        if code is None:
            raise
        click.echo(f"meteor: {_public_name(error)}: {error}", err=True)
        return code
    return outcome if isinstance(outcome, int) else exit_codes.DONE


def _with_quoting(error: click.ClickException) -> click.ClickException:
    """The error, with what a selector without quotes needs: of its blanks the shell makes several
    arguments."""
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return error
    of_selectors = error.ctx.command.name in _OF_SELECTORS
    if not of_selectors or not error.message.startswith("Got unexpected extra argument"):
        return error
    cure = "a selector is one argument: put it in quotes, 'type=temp* temperature=20..30'"
    return click.UsageError(f"{error.message}; {cure}", error.ctx)


def _public_name(error: Exception) -> str:
    """The name by which a program can catch it: a private refinement goes by its base's."""
    import meteor  # noqa: PLC0415 - only where something failed

    names = (kind.__name__ for kind in type(error).__mro__)
    return next((name for name in names if hasattr(meteor, name)), type(error).__name__)


def _output_is_closed() -> bool:
    """Whether nobody reads the standard output any more; if so, nothing more is written to it."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    is_closed = any(event & select.POLLERR for _, event in poll.poll(0))
    if is_closed:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return is_closed
