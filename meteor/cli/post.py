"""`meteor post`: data, by content."""

from __future__ import annotations

import asyncio
from typing import Any, BinaryIO

import click

from meteor.cli import exit_codes
from meteor.cli.options import (
    Link,
    echo_json,
    json_option,
    link_options,
    seconds,
    timeout_option,
)
from meteor.json_form import receipt_object


@click.command(
    "post",
    epilog="Example: meteor post 'type=temperature temperature=21.5 room=lab-1' --data 'warm'",
)
@click.argument("profile")
@click.option("--data", default="", help="The payload, as text.")
@click.option(
    "--file", "file", type=click.File("rb"), help="Read the payload from a file; - is the input."
)
@click.option("--content-type", metavar="TYPE", help="What the payload is, such as text/plain.")
@click.option("--ttl", type=seconds, metavar="S", help="Lifetime in seconds; 3600 for data.")
@click.option("--id", "stem", metavar="NAME", help="A name of your own: 1-64 of A-Z a-z 0-9 _ -.")
@timeout_option
@link_options
@json_option
def command(profile: str, data: str, file: BinaryIO | None, as_json: bool, **options: Any) -> int:
    """Store data under PROFILE, for whoever asks now or later.

    Prints the id by which it can be renewed, replaced or cancelled.
    """
    if data and file is not None:
        raise click.UsageError("give the payload by --data or by --file, not by both")
    payload = file.read() if file is not None else data.encode()
    return asyncio.run(_post(profile, payload, as_json, **options))


async def _post(
    profile: str,
    data: bytes,
    as_json: bool,
    *,
    content_type: str | None,
    ttl: float | None,
    stem: str | None,
    timeout_s: float,
    link: Link,
) -> int:
    async with link.connect() as client:
        receipt = await client.store(
            profile, data, content_type=content_type, ttl=ttl, id=stem, timeout=timeout_s
        )
    if as_json:
        echo_json(receipt_object(receipt, "store"))
    else:
        click.echo(receipt.id)
    return exit_codes.DONE
