"""`meteor peer`: one peer, until it is stopped.

Law of this file: options become a peer; its life is in `meteor.cli.serving`.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click

import meteor
from chord import RelocationConfig
from meteor.cli.options import tls_of
from meteor.cli.peer_settings import with_peer_options
from meteor.cli.serving import serve, stop_with_the_input
from meteor.links.address import WILDCARD_HOSTS
from meteor.links.asyncio_loop import LoopFactory, fastest_loop, uvloop_factory
from meteor.operation.discovery import LocalNetwork, addresses_in
from meteor.operation.logs import log_to
from meteor.rest.config import RestConfig

_HELP: Final = """Run a peer until it is stopped (SIGTERM, Ctrl-C), then leave the ring in order.

Prints one line when it serves. A second signal ends it at once. A space file looks like this:

\b
  name = "building"
  [[dimensions]]
  name = "temperature"
  kind = "number"
  low = -40
  high = 125
"""


@click.command(
    "peer",
    help=_HELP,
    epilog="Example: meteor peer --space 'building.toml' --data-dir './data'",
)
@with_peer_options
def command(as_json: bool, until_stdin_closes: bool, **options: Any) -> int:
    """See `_HELP`."""
    log_to(sys.stderr, options.pop("log_format"), options.pop("log_level"))
    if until_stdin_closes:
        stop_with_the_input()
    with asyncio.Runner(loop_factory=_loop_factory(options.pop("loop"))) as runner:
        return runner.run(_run(as_json, **options))


def _loop_factory(name: str) -> LoopFactory | None:
    """How to make the event loop; raises `click.UsageError` where uvloop is not installed."""
    if name == "auto":
        return fastest_loop()
    try:
        return uvloop_factory() if name == "uvloop" else None
    except ImportError as error:
        raise click.UsageError(
            "--loop uvloop: it is not installed; pip install 'meteor-rendezvous[fast]'"
        ) from error


async def _run(as_json: bool, *, zeroconf: str | None, **options: Any) -> int:
    """Find whom to join, and serve."""
    options["join"] = (*options["join"], *_listed(options.pop("join_file")))
    if zeroconf is None:
        return await serve(_made(**options), as_json=as_json)
    if find_spec("zeroconf") is None:
        raise click.UsageError(
            "--zeroconf: it is not installed; pip install 'meteor-rendezvous[zeroconf]', or name "
            "peers by --join"
        )
    async with LocalNetwork(zeroconf) as network:
        options["join"] = (*options["join"], *await network.find())
        found = network.announce, network.find
        return await serve(_made(**options), as_json=as_json, network=found)


def _listed(path: Path | None) -> list[str]:
    """The addresses of a file; raises `click.UsageError`."""
    if path is None:
        return []
    try:
        return addresses_in(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--join-file {path}: {error}") from error


def _made(
    *,
    space: Path | None,
    placement: Any,
    preset: Any,
    tls_ca: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    client_certificates: bool,
    token_file: Path | None,
    cors_origins: tuple[str, ...],
    **others: Any,
) -> meteor.Peer:
    """The peer of these options, not started; raises `click.UsageError`, `meteor.Refused`."""
    from meteor.peer_options import chosen_config  # noqa: PLC0415 - help waits for no peer

    _check(space, **others)
    tls = tls_of(tls_ca, tls_cert, tls_key, client_certificates=client_certificates)
    if tls is None and client_certificates:
        raise click.UsageError("--client-certificates needs --tls-ca, --tls-cert and --tls-key")
    try:
        return meteor.Peer(
            space=_space_in(space),
            config=replace(chosen_config(None, preset), placement=placement),
            moves=RelocationConfig() if placement == "load" else None,
            rest=RestConfig(token=_token(token_file), cors_origins=cors_origins),
            tls=tls,
            **others,
        )
    except ValueError as error:
        if isinstance(error, meteor.MeteorError):
            raise
        raise click.UsageError(str(error)) from error


def _space_in(path: Path | None) -> meteor.KeywordSpace | None:
    """The keyword space of a file; raises `click.UsageError` for what is none."""
    if path is None:
        return None
    try:
        return meteor.KeywordSpace.from_toml(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--space {path}: {error}") from error


def _token(path: Path | None) -> str:
    """The token of a file: on a command line everybody on the machine could read it."""
    return "" if path is None else path.read_text("ascii").strip()


def _check(
    space: Path | None,
    *,
    listen: str,
    advertise: str | None,
    join: tuple[str, ...],
    data_dir: Path | None,
    **_: Any,
) -> None:
    if advertise is None and listen.rpartition(":")[0] in WILDCARD_HOSTS:
        raise click.UsageError(f"--listen {listen} is no address to reach: give --advertise too")
    if not join and space is None and data_dir is None:
        raise click.UsageError(
            "without --join this peer founds a ring, and needs --space FILE (--help shows one)"
        )
