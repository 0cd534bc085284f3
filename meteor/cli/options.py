"""Options that several commands share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, Final

import click

Command = Callable[..., Any]

DEFAULT_PEER: Final = "127.0.0.1:7400"

peer_option: Callable[[Command], Command] = click.option(
    "--peer",
    "peers",
    multiple=True,
    default=(DEFAULT_PEER,),
    show_default=True,
    envvar="METEOR_PEER",
    metavar="HOST:PORT",
    callback=lambda _, __, value: tuple(check_address(one, port_min=1) for one in value),
    help="A peer to ask; repeat it to name others that are asked when it is gone.",
)
json_option: Callable[[Command], Command] = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object a line."
)
timeout_option: Callable[[Command], Command] = click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="S",
    help="How long to wait for the overlay, in seconds.",
)
everywhere_option: Callable[[Command], Command] = click.option(
    "--everywhere", is_flag=True, help="Allow a selector whose region is the whole space."
)


def seconds(text: str) -> float:
    """A finite number of seconds; whether it is in bounds is for the overlay's own check."""
    try:
        number = float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number of seconds") from None
    if not math.isfinite(number):
        raise click.BadParameter(f"{text!r} is not finite")
    return number


def check_address(text: str, *, port_min: int = 0) -> str:
    """`HOST:PORT` with a port up to 65535; raises `click.BadParameter`."""
    host, separator, port = text.rpartition(":")
    if not separator or not host or not port.isascii() or not port.isdigit():
        raise click.BadParameter(f"{text!r} is not HOST:PORT, such as {DEFAULT_PEER}")
    if not port_min <= int(port) <= 65535:
        raise click.BadParameter(f"{text!r}: a port is from {port_min} to 65535")
    return text


def echo_json(form: dict[str, Any]) -> None:
    """One object on one line."""
    click.echo(json.dumps(form, ensure_ascii=False))
