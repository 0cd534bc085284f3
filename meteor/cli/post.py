"""`meteor post`: data, by content; one record, or a record a row of a CSV file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import click

from meteor.cli import exit_codes
from meteor.cli.csv_rows import parse_mapping
from meteor.cli.options import (
    Link,
    echo_json,
    json_option,
    link_options,
    say_slip,
    seconds,
    timeout_option,
)
from meteor.rest.json_form import receipt_object

_ROWS_ONLY = ("mapping", "whole_row", "has_header", "delimiter", "skip", "rate", "rejects")


@click.command(
    "post",
    epilog="Example: meteor post 'type=temperature temperature=21.5 room=lab-1' --data 'warm'"
    "\n\nExample: meteor post 'type=mote' --csv readings.csv --map temperature=temperature "
    "--map mote=col2 --id 'mote-{mote}' --ttl 3600 --rejects rejects.csv",
)
@click.argument("profile", required=False)
@click.option("--data", default="", help="The payload, as text; of a row, with {COLUMN} in it.")
@click.option(
    "--file", "file", type=click.File("rb"), help="Read the payload from a file; - is the input."
)
@click.option("--content-type", metavar="TYPE", help="What the payload is, such as text/plain.")
@click.option("--ttl", type=seconds, metavar="S", help="Lifetime in seconds; 3600 for data.")
@click.option(
    "--id", "stem", metavar="NAME",
    help="A name of your own: 1-64 of A-Z a-z 0-9 _ -; of a row, with {COLUMN} or {row} in it. "
    "Rows of one name replace each other.",
)  # fmt: skip
@click.option(
    "--visible-to",
    multiple=True,
    metavar="KEY",
    help="A key, or group:NAME, that may know of it besides you; repeat it. Needs --identity.",
)
@click.option(
    "--csv", "csv_file", type=click.File("r", encoding="utf-8-sig"), metavar="FILE",
    help="Post each row of a CSV file; - is the input. PROFILE is what all rows share.",
)  # fmt: skip
@click.option(
    "--map", "mapping", multiple=True, metavar="ATTRIBUTE=COLUMN",
    help="Which column is which attribute, by its name or as col4; repeat it.",
)  # fmt: skip
@click.option("--row", "whole_row", is_flag=True, help="The payload is the whole row, as JSON.")
@click.option(
    "--no-header", "has_header", flag_value=False, default=True,
    help="The first row is one like the others; columns are col1, col2 and so on.",
)  # fmt: skip
@click.option(
    "--delimiter", default=",", show_default=True, metavar="CHARACTER",
    help="What stands between the columns.",
)  # fmt: skip
@click.option(
    "--skip", type=click.IntRange(min=0), default=0,
    help="Begin behind row N. With --id, what an earlier run posted of those is replaced.",
)  # fmt: skip
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), metavar="N",
    help="At most N rows a second.",
)  # fmt: skip
@click.option(
    "--rejects", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Rows that make no post, with the reason; else it goes to standard error.",
)  # fmt: skip
@timeout_option
@link_options
@json_option
def command(
    profile: str | None,
    data: str,
    file: BinaryIO | None,
    csv_file: TextIO | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Store data under PROFILE, for whoever asks now or later.

    Prints the id by which it can be renewed, replaced or cancelled.  With --csv it stores a record
    for each row and prints how many; exit 2 when a row was rejected.
    """
    if csv_file is not None:
        return _post_rows(profile or "", data, file, csv_file, as_json, **options)
    context = click.get_current_context()
    for name in _ROWS_ONLY:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{_flag(context, name)} is for the rows of --csv")
    if profile is None:
        raise click.UsageError("give a profile: what the data is, such as 'type=temperature'")
    if data and file is not None:
        raise click.UsageError("give the payload by --data or by --file, not by both")
    payload = file.read() if file is not None else data.encode()
    kept = {name: value for name, value in options.items() if name not in _ROWS_ONLY}
    return asyncio.run(_post(profile, payload, as_json, **kept))


def _flag(context: click.Context, name: str) -> str:
    found = next(one for one in context.command.params if one.name == name)
    return found.opts[0].lstrip("-")


def _post_rows(
    constant: str,
    data: str,
    file: BinaryIO | None,
    csv_file: TextIO,
    as_json: bool,
    *,
    mapping: tuple[str, ...],
    delimiter: str,
    link: Link,
    **others: Any,
) -> int:
    from meteor.cli.csv_posting import CsvOptions, post_rows, size_of  # noqa: PLC0415 - for rows

    if file is not None or (data and others["whole_row"]):
        raise click.UsageError("the payload of a row is --data or --row, one of the two")
    if not mapping:
        raise click.UsageError("say by --map which column is which attribute")
    if len(delimiter) != 1:
        raise click.UsageError(f"--delimiter: {delimiter!r} is not one character")
    try:
        columns = parse_mapping(mapping)
    except ValueError as error:
        raise click.UsageError(f"--map: {error}") from error
    options = CsvOptions(
        file=csv_file, size=size_of(csv_file), mapping=columns, constant=constant, data=data,
        delimiter=delimiter, **others,
    )  # fmt: skip
    return asyncio.run(post_rows(link, options, as_json=as_json))


async def _post(
    profile: str,
    data: bytes,
    as_json: bool,
    *,
    content_type: str | None,
    ttl: float | None,
    stem: str | None,
    visible_to: tuple[str, ...],
    timeout_s: float,
    link: Link,
) -> int:
    async with link.connect(timeout=timeout_s) as client:
        receipt = await client.store(
            profile, data, content_type=content_type, ttl=ttl, id=stem, timeout=timeout_s,
            visible_to=visible_to or None,
        )  # fmt: skip
        say_slip(profile, client)
    if as_json:
        echo_json(receipt_object(receipt, "store"))
    else:
        click.echo(receipt.id)
    return exit_codes.DONE
