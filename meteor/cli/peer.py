"""`meteor peer`: one peer, until it is stopped.

Law of this file: the process owner decides about signals, the heap and the end; the library never
does.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

import click

import meteor
from chord import ChordConfig, RelocationConfig
from meteor.cli import exit_codes
from meteor.cli.options import DEFAULT_PEER, check_address, echo_json, json_option

ORPHAN_GRACE_S: Final = 1.5
"""How long a peer whose parent is gone may take to leave in order."""
FULL_COLLECTIONS: Final = 1_000
"""The collector's last threshold: at 4,000 links a full collection stops the loop for 350 ms, and
a peer that is silent for so long looks dead (DESIGN section 6)."""
WILDCARD_HOSTS: Final = ("0.0.0.0", "::", "[::]", "*")  # noqa: S104 (only compared)


def _address(_: click.Context, __: click.Parameter, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(check_address(address, port_min=1) for address in value)
    return check_address(value)


@click.command(
    "peer",
    epilog="Example: meteor peer --listen '10.0.0.7:7400' --join '10.0.0.5:7400' "
    "--data-dir './data'",
)
@click.option(
    "--listen",
    default=DEFAULT_PEER,
    show_default=True,
    metavar="HOST:PORT",
    callback=_address,
    help="Where to listen; port 0 takes a free one.",
)
@click.option(
    "--advertise",
    metavar="HOST:PORT",
    callback=_address,
    help="How others reach this peer; needed when listening on a wildcard such as 0.0.0.0.",
)
@click.option(
    "--join",
    "join",
    multiple=True,
    metavar="HOST:PORT",
    callback=_address,
    help="A peer of the ring to join; repeat it. Without it this peer founds a ring.",
)
@click.option("--found-if-alone", is_flag=True, help="Found a ring when nobody to join answers.")
@click.option(
    "--space",
    "space_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The keyword space, a TOML file; a joiner without one takes the ring's.",
)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep what is stored here; without it, it is gone when the peer stops.",
)
@click.option(
    "--placement",
    type=click.Choice(["load", "hash"]),
    default="load",
    show_default=True,
    help="Where a new peer goes: where it halves the heaviest arc that it finds, and elsewhere "
    "when it is far lighter than others later; or where the hash of its address says.",
)
@click.option("--until-stdin-closes", is_flag=True, help="Stop when the standard input ends.")
@json_option
def command(
    listen: str,
    advertise: str | None,
    join: tuple[str, ...],
    found_if_alone: bool,
    space_file: Path | None,
    data_dir: Path | None,
    placement: Literal["load", "hash"],
    until_stdin_closes: bool,
    as_json: bool,
) -> int:
    r"""Run a peer until it is stopped (SIGTERM, Ctrl-C), then leave the ring in order.

    Prints one line when it serves. A space file looks like this:

    \b
      name = "building"
      [[dimensions]]
      name = "temperature"
      kind = "number"
      low = -40
      high = 125
    """
    if advertise is None and listen.rpartition(":")[0] in WILDCARD_HOSTS:
        raise click.UsageError(f"--listen {listen} is no address to reach: give --advertise too")
    if not join and space_file is None and data_dir is None:
        raise click.UsageError("a founder needs --space FILE (see --help for its form)")
    if until_stdin_closes:
        threading.Thread(target=_end_with_the_input, daemon=True).start()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # Noise on the port is no error of this peer; the gateway logs its own.
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    # the first use of a name of meteor imports what takes time
    peer = meteor.Peer(
        space=None if space_file is None else meteor.KeywordSpace.from_toml(space_file.read_text()),
        listen=listen,
        advertise=advertise,
        join=list(join),
        found_if_alone=found_if_alone,
        data_dir=data_dir,
        config=replace(ChordConfig.local(), placement=placement),
        moves=RelocationConfig() if placement == "load" else None,
    )
    return asyncio.run(_serve(peer, as_json))


async def _serve(peer: meteor.Peer, as_json: bool) -> int:
    """Run the peer until a signal comes; a second signal ends the process at once."""
    loop = asyncio.get_running_loop()
    life = asyncio.ensure_future(_live(peer, as_json))
    received: list[int] = []

    def stop(number: int) -> None:
        if received:
            os._exit(128 + number)
        received.append(number)
        life.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    try:
        await life
    except asyncio.CancelledError:
        if not received:
            raise
    return exit_codes.INTERRUPTED if signal.SIGINT in received else exit_codes.DONE


async def _live(peer: meteor.Peer, as_json: bool) -> None:
    """Serve; whenever the peer should move, let it leave and come back elsewhere."""
    while True:
        async with peer:
            # What was made so far stays for the peer's whole life: never look at it again.
            gc.collect()
            gc.freeze()
            gc.set_threshold(700, 10, FULL_COLLECTIONS)
            if as_json:
                echo_json({"address": peer.address, "id": f"{peer.id:x}"})
            else:
                click.echo(f"meteor: peer {peer.id:x} serves at {peer.address}")
            sys.stdout.flush()
            place = await peer.wait_place()
            if place is None:
                raise meteor.Closed("this peer stopped by itself after a failure: see its log")
            moved, back = peer.relocated(place), peer.relocated(peer.id)
        peer = await _first_that_starts(moved, back)


async def _first_that_starts(moved: meteor.Peer, back: meteor.Peer) -> meteor.Peer:
    """The peer at its new place; at its old one when the ring does not take it there any more."""
    try:
        return await moved.start()
    except meteor.JoinFailed:
        return await back.start()


def _end_with_the_input() -> None:
    """Stop in order when the input ends, and in any case soon after."""
    while os.read(0, 4096):
        continue
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ORPHAN_GRACE_S)
    os._exit(128 + signal.SIGTERM)
