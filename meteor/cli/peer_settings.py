"""The settings of a peer on the command line: what can be said, and how it is checked.

Law of this file: a table.  What becomes of the values is `meteor.cli.peer`'s affair.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from meteor.cli.configuration import setting
from meteor.cli.options import (
    DEFAULT_PEER,
    addresses,
    check_address,
    json_option,
    tls_options,
)


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
        "peer", "join_file", type=click.Path(dir_okay=False, path_type=Path),
        help="A file of more peers to join, an address a line, read at every start.",
    ),
    setting(
        "peer", "zeroconf", metavar="NAME",
        help="Also find peers of a ring of this name on the local network, and be found there; "
        "needs the extra zeroconf.",
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
        "peer", "token_file", type=click.Path(dir_okay=False, path_type=Path),
        help="A file with the token that lets other machines change things by REST and dashboard.",
    ),
    setting(
        "peer", "cors_origins", multiple=True, metavar="URL",
        help="An origin whose pages may read and change here; repeat it.",
    ),
    setting(
        "peer", "insecure", is_flag=True,
        help="Serve other machines without TLS: whoever reaches the port reads along and may join.",
    ),
    setting(
        "peer", "preset", type=click.Choice(["local", "lan", "wan"]), default="lan",
        show_default=True,
        help="How long others are waited for: on one machine, one site, the Internet.",
    ),
    setting(
        "peer", "copies", type=click.IntRange(1, 4), default=3, show_default=True,
        help="How many peers keep what is posted to this one's part of the ring.",
    ),
    setting(
        "peer", "copies_min", type=click.IntRange(2, 4),
        help="Acknowledge nothing, and call no answer complete, where fewer peers have it.",
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
        "peer", "loop", type=click.Choice(["auto", "asyncio", "uvloop"]), default="auto",
        show_default=True, help="What turns the loop: uvloop (the extra fast) answers sooner and "
        "takes a fifth of the memory of a TLS link; auto takes it where it is installed.",
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


def with_peer_options(command: Any) -> Any:
    """Give a command all settings of a peer."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
