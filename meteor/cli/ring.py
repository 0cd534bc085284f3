"""`meteor ring`: the peers in ring order, what each holds and what is lost; `ring forget`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from typing import Any, Final

import click

import meteor
from meteor.cli import exit_codes
from meteor.cli.options import (
    Link,
    counted,
    echo_json,
    json_option,
    link_options,
    timeout_option,
)
from meteor.cli.ring_table import Line, table, tree

Interval = tuple[int, int]

_STYLES: Final[dict[str, dict[str, Any]]] = {
    "dim": {"dim": True}, "warning": {"fg": "yellow"}, "alarm": {"fg": "red", "bold": True},
}  # fmt: skip


@click.group(
    "ring",
    invoke_without_command=True,
    subcommand_metavar="[forget ...]",
    epilog="Example: meteor ring --peer '127.0.0.1:7400'",
)
@click.option("--tree", "as_tree", is_flag=True, help="The arcs as a tree, each with its load.")
@timeout_option
@link_options
@json_option
@click.pass_context
def command(
    context: click.Context, as_tree: bool, timeout_s: float, link: Link, as_json: bool
) -> int | None:
    """Walk the ring once around, from the peer that is asked.

    Exit 3 when the walk did not come back to where it began, a peer did not answer, or an arc is
    lost.
    """
    if context.invoked_subcommand is not None:
        return None
    picture = asyncio.run(_picture(link, timeout_s))
    if as_json:
        _print_json(picture)
    else:
        _print(picture, tree(picture) if as_tree else table(picture))
    whole = picture.closed and all(peer.answers and not peer.lost for peer in picture.peers)
    return exit_codes.DONE if whole else exit_codes.INCOMPLETE


@command.command("forget", epilog="Example: meteor ring forget 0-4095 --peer '127.0.0.1:7400'")
@click.argument("interval", metavar="[FIRST-LAST]", required=False)
@click.option("--all", "everything", is_flag=True, help="Forget all that is lost.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@timeout_option
@link_options
@json_option
def forget(
    interval: str | None,
    everything: bool,
    yes: bool,
    timeout_s: float,
    link: Link,
    as_json: bool,
) -> int:
    """Declare the past of a lost arc gone for good.

    FIRST-LAST are curve indexes, as `meteor ring` and `missing` show them.  What was posted there
    before the arc was lost is given up; answers count the arc as complete again.  Wait for
    holders that may come back instead, two of three: then nothing is given up.
    """
    if (interval is None) is not everything:
        raise click.UsageError("give either FIRST-LAST or --all")
    wanted = None if interval is None else _parsed(interval)
    lost = _lost(asyncio.run(_picture(link, timeout_s)))
    chosen = lost if wanted is None else [wanted]
    if not chosen:
        click.echo("nothing is lost", err=True)
        return exit_codes.NO_MATCH
    if wanted is not None and not _is_within(wanted, lost):
        known = ", ".join(map(_text, lost)) or "nothing"
        raise meteor.Refused(
            f"forget of {_text(wanted)}: not all of it is lost; {known} is", "not lost"
        )
    if not yes:
        click.confirm(_question(chosen), abort=True, err=True)
    for one in asyncio.run(_forget(link, chosen, timeout_s)):
        if as_json:
            echo_json({"forgotten": list(one)})
        else:
            click.echo(f"forgotten: {_text(one)}")
    return exit_codes.DONE


async def _picture(link: Link, timeout_s: float) -> meteor.RingPicture:
    async with link.connect(timeout=timeout_s) as client:
        return await client.ring(timeout=timeout_s)


async def _forget(link: Link, intervals: list[Interval], timeout_s: float) -> tuple[Interval, ...]:
    async with link.connect(timeout=timeout_s) as client:
        return await client.forget(*intervals, timeout=timeout_s)


def _parsed(text: str) -> Interval:
    read = re.fullmatch(r"([0-9]{1,60})-([0-9]{1,60})", text)
    if read is None or int(read[1]) > int(read[2]):
        raise click.BadParameter(f"{text!r} is not FIRST-LAST, two curve indexes such as 0-4095")
    return int(read[1]), int(read[2])


def _lost(picture: meteor.RingPicture) -> list[Interval]:
    """What is lost in the whole ring, neighbouring intervals joined."""
    joined: list[Interval] = []
    for first, last in sorted(one for peer in picture.peers for one in peer.lost):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return joined


def _is_within(wanted: Interval, lost: list[Interval]) -> bool:
    return any(first <= wanted[0] and wanted[1] <= last for first, last in lost)


def _question(chosen: list[Interval]) -> str:
    arcs = "\n".join(f"  {_text(one)}" for one in chosen)
    return (
        f"Everything that was posted before these arcs were lost is given up:\n{arcs}\n"
        "Answers will count them as complete, though what they had is absent. If most peers that\n"
        "kept them may come back, start these instead. Forget them?"
    )


def _text(interval: Interval) -> str:
    return f"{interval[0]}-{interval[1]}"


def _print_json(picture: meteor.RingPicture) -> None:
    for peer in picture.peers:
        echo_json(
            {
                "id": f"{peer.contact.id:x}",
                "address": peer.contact.address,
                "first": f"{peer.first:x}",
                "answers": peer.answers,
                "stored": peer.stored,
                "data": peer.data,
                "interests": peer.interests,
                "copies": peer.copies,
                "lost": [list(one) for one in peer.lost],
                "forgotten": peer.forgotten,
            }
        )


def _print(picture: meteor.RingPicture, lines: Iterable[Line]) -> None:
    for text, mark in lines:
        click.echo(click.style(text, **_STYLES[mark]) if mark else text)
    for one in _lost(picture):
        click.echo(click.style(f"lost: {_text(one)}", **_STYLES["alarm"]))
    state = "closed" if picture.closed else "NOT closed: the walk did not come back"
    click.echo(f"{counted(len(picture.peers), 'peer')}, the ring is {state}")
