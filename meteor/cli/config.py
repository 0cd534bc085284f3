"""`meteor config`: what a command would run with, and where each value comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any, Final

import click
from click.core import ParameterSource

from meteor.cli import exit_codes
from meteor.cli.configuration import SOURCES, Configuration, Setting
from meteor.cli.options import echo_json, json_option

_OF_SECTION: Final = {"peer": "peer", "client": "get"}
"""The command whose options are those of a section; both know those of `tls`."""


@click.command(
    "config",
    context_settings={"ignore_unknown_options": True},
    epilog="Example: meteor config peer --listen '10.0.0.7:7400'",
)
@click.argument("section", type=click.Choice(list(_OF_SECTION)), required=False)
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
@json_option
@click.pass_context
def command(
    context: click.Context, section: str | None, flags: tuple[str, ...], as_json: bool
) -> int:
    """Show every setting, its value, and where the value comes from.

    A flag beats the environment, which beats the file, which beats the default.  With `peer` or
    `client`, and the flags that you would give, it shows what such a command would run with.
    """
    sections = [section] if section else list(_OF_SECTION)
    rows = [row for one in sections for row in rows_of(context, one, flags)]
    if as_json:
        for row in rows:
            echo_json(row)
        return exit_codes.DONE
    configuration = context.find_object(Configuration)
    path = None if configuration is None else configuration.path
    click.echo(f"file: {path or 'none'}")
    for one in sections:
        click.echo(f"\n[{one}]")
        _print([row for row in rows if row["section"] == one])
    return exit_codes.DONE


def rows_of(
    context: click.Context,
    section: str,
    flags: tuple[str, ...] = (),
    refused: Callable[[str, click.BadParameter], None] | None = None,
) -> Iterator[dict[str, Any]]:
    """The settings of a section's command with value and source, in the order of its help.

    Raises `click.UsageError` for flags and values that are wrong; with `refused` it is told of
    such a value's name and error, and the value is None."""
    configuration = context.find_object(Configuration) or Configuration()
    parent = context.parent or context
    assert isinstance(parent.command, click.Group)
    command = parent.command.get_command(parent, _OF_SECTION[section])
    assert command is not None
    inner = click.Context(command, parent=parent, info_name=command.name)
    given, _, _ = command.make_parser(inner).parse_args(list(flags))
    for parameter in command.get_params(inner):
        if not isinstance(parameter, Setting):
            continue
        try:
            value, _ = parameter.handle_parse_result(inner, given, [])
        except click.BadParameter as error:
            if refused is None:
                raise
            refused(_name(parameter), error)
            value = None
        _, source = parameter.consume_value(inner, given)
        where = _place(parameter, source, configuration)
        row = {"section": section, "setting": _name(parameter)}
        yield {**row, "value": _plain(value), "from": where}


def _name(parameter: Setting) -> str:
    return parameter.key if parameter.section != "tls" else f"tls.{parameter.key}"


def _place(parameter: Setting, source: ParameterSource, configuration: Configuration) -> str:
    """Where a value comes from, so that it can be changed there."""
    where = SOURCES.get(source, "default")
    if where == "environment":
        return str(parameter.envvar)
    return str(configuration.path) if where == "file" else where


def _plain(value: Any) -> Any:
    """A value as JSON can say it; click has a value of its own for what nobody gave."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, str | PurePath):
        return str(value)
    return value if isinstance(value, bool | int | float) else None


def _print(rows: list[dict[str, Any]]) -> None:
    shown = [(row["setting"], _text(row["value"]), row["from"]) for row in rows]
    widths = [max(len(cells[column]) for cells in shown) for column in (0, 1)]
    for name, value, where in shown:
        line = f"{name:<{widths[0]}}  {value:<{widths[1]}}  {where}"
        click.echo(click.style(line, dim=True) if where == "default" else line)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)
