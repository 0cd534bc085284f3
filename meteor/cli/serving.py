"""The life of the process that runs a peer: signals, the heap, moving, the end.

Law of this file: the process owner decides about these; the library never does.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import click

import meteor
from meteor.cli import exit_codes
from meteor.cli.options import echo_json
from meteor.rare_collections import collect_rarely

_log = logging.getLogger("meteor.peer")

ORPHAN_GRACE_S: Final = 1.5
"""How long a peer whose parent is gone may take to leave in order."""

Announce = Callable[[str, int], Awaitable[None]]
"""Lets others find a peer by address and identifier."""
Find = Callable[[], Awaitable[Sequence[str]]]
"""The addresses of those that let themselves be found."""


async def serve(
    peer: meteor.Peer, *, as_json: bool, network: tuple[Announce, Find] | None = None
) -> int:
    """Run the peer until a signal comes, hand over what it holds, and return the exit code; a
    second signal ends the process at once."""
    loop = asyncio.get_running_loop()
    life = asyncio.ensure_future(_live(peer, as_json, network))
    received: list[int] = []

    def stop(number: int) -> None:
        if received:
            os._exit(128 + number)
        received.append(number)
        tell_manager("STOPPING=1")
        life.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    try:
        return await life
    except asyncio.CancelledError:
        if not received:
            raise
    return exit_codes.INTERRUPTED if signal.SIGINT in received else exit_codes.DONE


async def _live(peer: meteor.Peer, as_json: bool, network: tuple[Announce, Find] | None) -> int:
    """Serve; whenever the peer should move, let it leave and come back elsewhere.  The exit code of
    a peer that stops by itself."""
    while True:
        async with peer:
            collect_rarely()  # what was made so far stays for the peer's whole life
            _heed_hangups(peer)
            _say(peer, as_json)
            if network is not None:
                announce, find = network
                await announce(peer.address, peer.id)
                peer.core.seek_company(find)
            place = await peer.wait_place()
            if place is None:
                return _code_of_end(peer)
            moved, back = peer.relocated(place), peer.relocated(peer.id)
        peer = await _first_that_starts(moved, back)


def _code_of_end(peer: meteor.Peer) -> int:
    """The exit code of a peer that stopped by itself.  Raises `Closed` after a bug, of which its
    log has the traceback; of a disk that takes nothing, or another peer in its place, its log has
    said all in one line."""
    if isinstance(peer.failure, meteor.JournalFailed | meteor.Supplanted):
        return exit_codes.REFUSED
    raise meteor.Closed("this peer stopped by itself after a failure: see its log")


def _heed_hangups(peer: meteor.Peer) -> None:
    """Read policy and certificates again when SIGHUP comes, as daemons do; what is bad is said, and
    not taken."""

    async def reload() -> None:
        try:
            peer.reload_certificates()
        except ValueError as error:
            _log.warning("SIGHUP: %s", error)
        try:
            await peer.reload_policy()
        except ValueError as error:
            _log.warning("SIGHUP: %s", error)

    reloading: set[asyncio.Task[None]] = set()

    def begin() -> None:
        task = asyncio.ensure_future(reload())
        reloading.add(task)  # the loop alone would let go of it
        task.add_done_callback(reloading.discard)

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, begin)


def _say(peer: meteor.Peer, as_json: bool) -> None:
    if as_json:
        echo_json({"address": peer.address, "id": f"{peer.id:x}"})
    else:
        click.echo(f"meteor: peer {peer.id:x} serves at {peer.address}")
    sys.stdout.flush()
    tell_manager("READY=1")


async def _first_that_starts(moved: meteor.Peer, back: meteor.Peer) -> meteor.Peer:
    """The peer at its new place; at its old one when the ring does not take it there any more."""
    try:
        return await moved.start()
    except meteor.JoinFailed:
        return await back.start()


def tell_manager(state: str) -> None:
    """Tell systemd, where it asks for it (`Type=notify`), how the service is; see sd_notify(3)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):  # of Linux's abstract names
        address = f"\0{address[1:]}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        try:
            manager.sendto(state.encode(), address)
        except OSError as error:
            click.echo(f"meteor: NOTIFY_SOCKET cannot be told {state}: {error}", err=True)


def stop_with_the_input() -> None:
    """End this process in order when its standard input ends, and in any case soon after."""
    threading.Thread(target=_end_with_the_input, daemon=True).start()


def _end_with_the_input() -> None:
    while os.read(0, 4096):
        continue
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ORPHAN_GRACE_S)
    os._exit(128 + signal.SIGTERM)
