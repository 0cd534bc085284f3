"""`meteor watch`: what matches, as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import click

import meteor
from meteor.cli import exit_codes
from meteor.cli.get import line_of, seen
from meteor.cli.options import (
    PATIENCE,
    Link,
    echo_json,
    everywhere_option,
    json_option,
    link_options,
    partial_option,
    say_slip,
)
from meteor.rest.json_form import match_object


@click.command("watch", epilog="Example: meteor watch 'temperature=80..' --count 3 --timeout 60")
@click.argument("selector")
@click.option(
    "--interests",
    is_flag=True,
    help="Watch for interests in what you would publish instead of for data.",
)
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Stop after N.")
@click.option(
    "--timeout",
    "timeout_s",
    type=PATIENCE,
    metavar="S",
    help="Stop after S seconds; for ever when not given.",
)
@partial_option
@everywhere_option
@link_options
@json_option
def command(
    selector: str,
    interests: bool,
    count: int | None,
    timeout_s: float | None,
    allow_partial: bool,
    everywhere: bool,
    link: Link,
    as_json: bool,
) -> int:
    """Print what lives and matches SELECTOR, then whatever comes.

    Ends after N notifications (exit 0) or S seconds (exit 0 if there was any, 1 if none came,
    5 if fewer than N).
    """

    def post(client: meteor.Client) -> meteor.Interest:
        if interests:
            return client.notify_interest(selector, allow_partial=allow_partial)
        return client.notify_data(selector, everywhere=everywhere, allow_partial=allow_partial)

    return asyncio.run(_watch(selector, post, count, timeout_s, link, as_json))


async def _watch(
    selector: str,
    post: Callable[[meteor.Client], meteor.Interest],
    count: int | None,
    timeout_s: float | None,
    link: Link,
    as_json: bool,
) -> int:
    came = 0
    clock = asyncio.get_running_loop().time
    end_s = None if timeout_s is None else clock() + timeout_s
    async with (
        link.connect(on_disconnected=_lost, on_reconnected=_found) as client,
        post(client) as stream,
    ):
        partly = ", but a part of the region does not answer" if stream.missing else ""
        click.echo(f"meteor: watching{partly}", err=True)
        say_slip(selector, client)
        while came != count:
            try:
                notification = await stream.recv(end_s and max(end_s - clock(), 0.0))
            except (meteor.Timeout, meteor.Closed):
                break
            came += 1
            _show(notification, as_json)
    return _outcome(came, count, timeout_s)


def _outcome(came: int, count: int | None, timeout_s: float | None) -> int:
    """The exit code; what is not success is said on standard error."""
    within = "" if timeout_s is None else f" within {timeout_s:g} s"
    if not came:
        click.echo(f"meteor: nothing came{within}", err=True)
        return exit_codes.NO_MATCH
    if count is not None and came < count:
        click.echo(f"meteor: only {came} of {count} came{within}", err=True)
        return exit_codes.UNREACHABLE
    return exit_codes.DONE


def _lost(reason: object) -> None:
    click.echo(f"meteor: the peer is gone ({reason}); another is sought", err=True)


def _found(peer: object) -> None:
    click.echo(f"meteor: watching again, by {peer}", err=True)


def _show(notification: meteor.Notification, as_json: bool) -> None:
    if as_json:
        echo_json(match_object(notification))
    elif notification.kind == "match":
        click.echo(line_of(notification))
    else:
        click.echo(f"{notification.kind}\t{seen(str(notification.profile))}")
