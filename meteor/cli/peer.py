"""`meteor peer`: one peer, until it is stopped.

Law of this file: options become a peer; its life is in `meteor.cli.serving`.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

import meteor
from chord import RelocationConfig
from meteor.address import WILDCARD_HOSTS
from meteor.cli.configuration import setting
from meteor.cli.options import (
    DEFAULT_PEER,
    addresses,
    check_address,
    json_option,
    tls_of,
    tls_options,
)
from meteor.cli.serving import serve, stop_with_the_input
from meteor.operation.logs import log_to

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


def _address(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    return None if value is None else check_address(value)


_OPTIONS = (
    setting(
        "peer", "listen", default=DEFAULT_PEER, show_default=True, metavar="HOST:PORT",
        callback=_address, help="Where to listen; port 0 takes a free one.",
    ),
    setting(
        "peer", "advertise", metavar="HOST:PORT", callback=_address,
        help="How others reach this peer; needed when listening on a wildcard such as 0.0.0.0.",
    ),
    setting(
        "peer", "join", multiple=True, metavar="HOST:PORT", callback=addresses,
        help="A peer of the ring to join; repeat it. Without it this peer founds a ring.",
    ),
    setting(
        "peer", "found_if_alone", is_flag=True, help="Found a ring when nobody to join answers."
    ),
    setting(
        "peer", "space", type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="The keyword space, a TOML file; a joiner without one takes the ring's.",
    ),
    setting(
        "peer", "data_dir", type=click.Path(file_okay=False, path_type=Path),
        help="Keep what is stored here; without it, it is gone when the peer stops.",
    ),
    *tls_options,
    setting(
        "peer", "client_certificates", is_flag=True,
        help="Take no client, REST included, that shows no certificate of the CA.",
    ),
    setting(
        "peer", "policy", type=click.Path(dir_okay=False, path_type=Path),
        help="Who may do what here, a TOML file; read again when it changes, and on SIGHUP.",
    ),
    setting(
        "peer", "insecure", is_flag=True,
        help="Serve other machines without TLS: whoever reaches the port reads along and may join.",
    ),
    setting(
        "peer", "preset", type=click.Choice(["local", "lan", "wan"]), default="lan",
        show_default=True, help="The ring's time-outs: one machine, one site, the Internet.",
    ),
    setting(
        "peer", "copies", type=click.IntRange(1, 4), default=3, show_default=True,
        help="How many peers keep what is posted to this one's part of the ring.",
    ),
    setting(
        "peer", "placement", type=click.Choice(["load", "hash"]), default="load", show_default=True,
        help="Where a new peer goes: where it halves the heaviest arc that it finds, and elsewhere "
        "when it is far lighter than others later; or where the hash of its address says.",
    ),
    setting(
        "peer", "event_log", type=click.Path(file_okay=False, path_type=Path),
        help="Write posts, routes, matches and load to JSON-lines files in this directory, for "
        "`meteor-sim logs`; they take at most 256 MiB.",
    ),
    setting(
        "peer", "log_format", type=click.Choice(["text", "json"]), default="text",
        show_default=True, help="Logs for people, or one JSON object a line.",
    ),
    setting(
        "peer", "log_level", type=click.Choice(["debug", "info", "warning", "error"]),
        default="warning", show_default=True, help="The least that is logged.",
    ),
    click.option(
        "--until-stdin-closes", is_flag=True, help="Stop when the standard input ends."
    ),
    json_option,
)  # fmt: skip


def _with_options(command: Any) -> Any:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(
    "peer",
    help=_HELP,
    epilog="Example: meteor peer --space 'building.toml' --data-dir './data'",
)
@_with_options
def command(as_json: bool, until_stdin_closes: bool, **options: Any) -> int:
    """See `_HELP`."""
    peer = _made(**options)
    if until_stdin_closes:
        stop_with_the_input()
    return asyncio.run(serve(peer, as_json=as_json))


def _made(
    *,
    space: Path | None,
    placement: Any,
    preset: Any,
    log_format: Any,
    log_level: str,
    tls_ca: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    client_certificates: bool,
    **others: Any,
) -> meteor.Peer:
    """The peer of these options, not started; raises `click.UsageError`, `meteor.Refused`."""
    from meteor.peer_options import chosen_config  # noqa: PLC0415 - help waits for no peer

    _check(space, **others)
    tls = tls_of(tls_ca, tls_cert, tls_key, client_certificates=client_certificates)
    if tls is None and client_certificates:
        raise click.UsageError("--client-certificates needs --tls-ca, --tls-cert and --tls-key")
    log_to(sys.stderr, log_format, log_level)
    try:
        return meteor.Peer(
            space=None if space is None else meteor.KeywordSpace.from_toml(space.read_text()),
            config=replace(chosen_config(None, preset), placement=placement),
            moves=RelocationConfig() if placement == "load" else None,
            tls=tls,
            **others,
        )
    except ValueError as error:
        if isinstance(error, meteor.MeteorError):
            raise
        raise click.UsageError(str(error)) from error


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
        raise click.UsageError("a founder needs --space FILE (see --help for its form)")
