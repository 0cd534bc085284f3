"""`meteor ring`: the peers in ring order, and what each holds."""

from __future__ import annotations

import asyncio

import click

import meteor
from meteor.cli import exit_codes
from meteor.cli.options import echo_json, json_option, peer_option, timeout_option


@click.command("ring", epilog="Example: meteor ring --peer '127.0.0.1:7400'")
@timeout_option
@peer_option
@json_option
def command(timeout_s: float, peers: tuple[str, ...], as_json: bool) -> int:
    """Walk the ring once around, from the peer that is asked.

    Exit 3 when the walk did not come back to where it began, or a peer did not answer.
    """

    async def ask() -> meteor.RingPicture:
        async with meteor.connect(*peers) as client:
            return await client.ring(timeout=timeout_s)

    picture = asyncio.run(ask())
    if as_json:
        _print_json(picture)
    else:
        _print_table(picture)
    whole = picture.closed and all(peer.answers for peer in picture.peers)
    return exit_codes.DONE if whole else exit_codes.INCOMPLETE


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
            }
        )


def _print_table(picture: meteor.RingPicture) -> None:
    click.echo(f"{'id':>12}  {'address':<22}{'data':>9}{'interests':>11}")
    for peer in picture.peers:
        counts = (
            f"{_count(peer.data):>9}{_count(peer.interests):>11}"
            if peer.answers
            else "  does not answer"
        )
        click.echo(f"{f'{peer.contact.id:x}'[:12]:>12}  {peer.contact.address:<22}{counts}")
    state = "closed" if picture.closed else "NOT closed: the walk did not come back"
    click.echo(f"{len(picture.peers)} peers, the ring is {state}")


def _count(number: int) -> str:
    return "?" if number < 0 else f"{number:,}"
