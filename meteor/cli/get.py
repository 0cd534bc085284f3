"""`meteor get`: what lives and matches, once; or what asking for it would cost."""

from __future__ import annotations

import asyncio

import click

from meteor.cli import exit_codes
from meteor.cli.options import (
    Link,
    echo_json,
    everywhere_option,
    json_option,
    link_options,
    partial_option,
    say_slip,
    timeout_option,
)
from meteor.rest.json_form import match_object


@click.command("get", epilog="Example: meteor get 'type=temp* temperature=20..30' --json")
@click.argument("selector")
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Stop after N matches.")
@partial_option
@click.option(
    "--explain",
    is_flag=True,
    help="Ask nothing: show which part of the space it is, and which peers would be asked.",
)
@everywhere_option
@timeout_option
@link_options
@json_option
def command(
    selector: str,
    count: int | None,
    allow_partial: bool,
    explain: bool,
    everywhere: bool,
    timeout_s: float,
    link: Link,
    as_json: bool,
) -> int:
    """Print everything stored that SELECTOR matches.

    Quote the selector; 80.. and ..80 say >= and <= without the shell's signs.
    """
    if explain:
        return asyncio.run(_explain(selector, timeout_s, link, as_json))
    return asyncio.run(_get(selector, count, allow_partial, everywhere, timeout_s, link, as_json))


async def _get(
    selector: str,
    count: int | None,
    allow_partial: bool,
    everywhere: bool,
    timeout_s: float,
    link: Link,
    as_json: bool,
) -> int:
    found = 0
    async with link.connect(timeout=timeout_s) as client:
        answer = client.retrieve(
            selector, timeout=timeout_s, allow_partial=allow_partial, everywhere=everywhere
        )
        async for match in answer:
            found += 1
            if as_json:
                echo_json(match_object(match))
            else:
                click.echo(line_of(match))
            if found == count:
                break
        if not answer.complete and found != count:
            click.echo("meteor: incomplete: part of the region did not answer", err=True)
        if not found:
            click.echo("meteor: nothing matches", err=True)
            say_slip(selector, client)
    return exit_codes.DONE if found else exit_codes.NO_MATCH


async def _explain(selector: str, timeout_s: float, link: Link, as_json: bool) -> int:
    """Show the cost of a selector in the ring as it is now."""
    from meteor.client.explanation import explain  # noqa: PLC0415 - only where it is asked for

    async with link.connect(timeout=timeout_s) as client:
        picture = await client.ring(timeout=timeout_s)
        explanation = explain(selector, client.space, picture, picture.id_bits)
        if as_json:
            echo_json(explanation.as_object(client.space))
        else:
            for line in explanation.lines(client.space):
                click.echo(line)
    return exit_codes.DONE


def line_of(match: object) -> str:
    """A match for people, on one line: its profile, a tabulator, its payload as far as it is text.

    What cannot be seen is written as Python does: anybody may have posted it, and an escape
    sequence would reach the terminal."""
    profile, data = match.profile, match.data  # type: ignore[attr-defined]
    text = seen(data.decode("utf-8", "backslashreplace")) if data else ""
    return f"{seen(str(profile))}\t{text}" if text else seen(str(profile))


def seen(text: str) -> str:
    """A text of anybody's as it may stand on a terminal."""
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )
