"""Options that several commands share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from meteor.cli.configuration import setting

if TYPE_CHECKING:
    from meteor.client.client import Client
    from meteor.client.connection import Connecting
    from meteor.security.tls import TLS

Command = Callable[..., Any]

DEFAULT_PEER: Final = "127.0.0.1:7400"


@dataclass(frozen=True, slots=True)
class Link:
    """How a command reaches the overlay."""

    peers: tuple[str, ...]
    tls_ca: Path | None
    tls_cert: Path | None
    tls_key: Path | None
    identity: Path | None = None

    def connect(self, **options: Any) -> Connecting:
        """A connection to be, as `meteor.connect` gives it with these options; raises
        `click.UsageError`."""
        import meteor  # noqa: PLC0415 - a help text waits for no sockets

        try:
            signer = None if self.identity is None else meteor.Identity.load(self.identity)
        except (OSError, ValueError) as error:
            raise click.UsageError(f"--identity: {error}") from error
        return meteor.connect(*self.peers, tls=self.tls(), identity=signer, **options)

    def tls(self) -> TLS | None:
        """The TLS that was asked for, if any."""
        return tls_of(self.tls_ca, self.tls_cert, self.tls_key)


def tls_of(ca: Path | None, cert: Path | None, key: Path | None, **others: Any) -> TLS | None:
    """TLS of these files; None without any.  Raises `click.UsageError` for some that cannot be
    alone."""
    if ca is None:
        if cert is not None or key is not None:
            raise click.UsageError("--tls-cert and --tls-key need --tls-ca: whom to trust")
        return None
    import meteor  # noqa: PLC0415 - as above

    try:
        return meteor.TLS(ca=ca, cert=cert, key=key, **others)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def addresses(_: click.Context, __: click.Parameter, values: Iterable[str]) -> tuple[str, ...]:
    """Addresses, each an option of its own or several in one, with commas between."""
    single = (one.strip() for value in values for one in value.split(","))
    return tuple(check_address(one, port_min=1) for one in single if one)


def _tls_path(key: str, help_text: str) -> Callable[[Command], Command]:
    return setting("tls", key, type=click.Path(path_type=Path), metavar="FILE", help=help_text)


tls_options: Final = (
    _tls_path("ca", "Speak TLS and trust the certificates in this PEM file, the ring's CA."),
    _tls_path("cert", "The own certificate, which peers need, and clients where they are asked."),
    _tls_path("key", "The certificate's private key."),
)
peer_option: Final = setting(
    "client",
    "peer",
    "--peer",
    "peers",
    multiple=True,
    default=(DEFAULT_PEER,),
    show_default=True,
    metavar="HOST:PORT",
    callback=addresses,
    help="A peer to ask; repeat it to name others that are asked when it is gone.",
)


identity_option: Final = setting(
    "client",
    "identity",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Sign with this identity, and own what is posted; `meteor keygen` makes one.",
)


class _Seconds(click.FloatRange):
    """Seconds to wait; named as a person would name it in an error."""

    name = "number of seconds"


PATIENCE: Final = _Seconds(min=0, min_open=True)
"""The type of a time-out."""


def link_options(command: Command) -> Command:
    """Give a command the options of reaching the overlay, as one argument `link`."""

    @wraps(command)
    def linked(
        *args: Any,
        peers: tuple[str, ...],
        tls_ca: Path | None,
        tls_cert: Path | None,
        tls_key: Path | None,
        identity: Path | None,
        **others: Any,
    ) -> Any:
        link = Link(peers, tls_ca, tls_cert, tls_key, identity)
        return command(*args, link=link, **others)

    for option in reversed((peer_option, *tls_options, identity_option)):
        linked = option(linked)
    return linked


json_option: Final = setting(
    "client", "json", "--json", "as_json", is_flag=True, help="Print JSON, one object a line."
)
timeout_option: Final = setting(
    "client",
    "timeout",
    "--timeout",
    "timeout_s",
    type=PATIENCE,
    default=10.0,
    show_default=True,
    metavar="S",
    help="How long to wait for the overlay, in seconds.",
)
everywhere_option: Callable[[Command], Command] = click.option(
    "--everywhere", is_flag=True, help="Allow a selector whose region is the whole space."
)
partial_option: Callable[[Command], Command] = click.option(
    "--allow-partial", is_flag=True, help="An incomplete answer is no failure."
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


def say_slip(profile: str, client: Client) -> None:
    """Tell on standard error of a name that is nearly a dimension's: what lives under another name
    is never found by it."""
    from meteor import Profile  # noqa: PLC0415 - as above
    from meteor.slips import slip_in  # noqa: PLC0415 - as above

    slip = slip_in(Profile.parse(profile, client.space), client.space)
    if slip is not None:
        click.echo(f"meteor: {slip[0]!r} is no dimension; did you mean {slip[1]!r}?", err=True)


def echo_json(form: dict[str, Any]) -> None:
    """One object on one line."""
    click.echo(json.dumps(form, ensure_ascii=False))


def counted(count: int, thing: str) -> str:
    """A number of things: 1 peer, 2 peers."""
    return f"{count} {thing}{'' if count == 1 else 's'}"
