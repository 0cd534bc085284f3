"""`meteor delete`: take back what you posted."""

from __future__ import annotations

import asyncio

import click

import meteor
from meteor.cli import exit_codes
from meteor.cli.options import (
    Link,
    echo_json,
    everywhere_option,
    json_option,
    link_options,
    timeout_option,
)
from meteor.rest.json_form import receipt_object


@click.command("delete", epilog="Example: meteor delete 'type=temperature temperature=20..30'")
@click.argument("selector", required=False)
@click.option("--id", "record_id", metavar="ID", help="Delete this one, by the id of its receipt.")
@click.option("--interests", is_flag=True, help="Delete interests and watches instead of data.")
@click.option("--overlap", is_flag=True, help="Also what only overlaps the selector.")
@click.option("--dry-run", is_flag=True, help="Count only.")
@everywhere_option
@timeout_option
@link_options
@json_option
def command(
    selector: str | None,
    record_id: str | None,
    interests: bool,
    overlap: bool,
    dry_run: bool,
    everywhere: bool,
    timeout_s: float,
    link: Link,
    as_json: bool,
) -> int:
    """Delete your own data that lies within SELECTOR, or one record by its id.

    Prints how many were deleted; exit 1 when there was none.
    """
    if (selector is None) == (record_id is None):
        raise click.UsageError("give either a selector or --id")
    if record_id is not None and (interests or overlap or dry_run or everywhere):
        raise click.UsageError("--id names one record: it goes with no other choice")
    action = "delete_interest" if interests else "delete_data"

    async def delete() -> meteor.Receipt:
        async with link.connect(timeout=timeout_s) as client:
            if record_id is not None:
                return await client.cancel(record_id, timeout=timeout_s)
            verb = client.delete_interest if interests else client.delete_data
            return await verb(
                selector or "",
                mode="overlap" if overlap else "within",
                dry_run=dry_run,
                everywhere=everywhere,
                timeout=timeout_s,
            )

    return _report(asyncio.run(delete()), action, as_json, dry_run)


def _report(receipt: meteor.Receipt, action: str, as_json: bool, dry_run: bool) -> int:
    if as_json:
        echo_json(receipt_object(receipt, action))
    else:
        click.echo(f"{receipt.matches} {'would be ' if dry_run else ''}deleted")
    return exit_codes.DONE if receipt.matches else exit_codes.NO_MATCH
