"""What REST allows itself and its callers, in one place, with units and reasons.

Law of this file: frozen values, checked when they are made; nothing of aiohttp, so that naming a
limit costs no import (DESIGN section 6).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from meteor.described import described
from meteor.wrong_values import check_numbers, said

TOKEN_LENGTH_MIN: Final = 16
"""Characters of a token: fewer could be guessed over the network."""
_MAY_BE_ZERO: Final = {"streams_max", "streams_each", "linger_s"}


@described
@dataclass(frozen=True, slots=True, kw_only=True)
class RestConfig:
    """What the routes of a peer's port may be told to do differently.

    Raises `ValueError` for a token that is too short, for origins that are none and for numbers out
    of bounds, `TypeError` for what is of another kind."""

    token: str = field(default="", repr=False)
    """Who shows it as `Authorization: Bearer ...` may change things from other machines.  Without
    one the dashboard is read-only there, and programs may do what links may."""
    cors_origins: tuple[str, ...] = ()
    """Origins whose pages may read and change here, `https://example.org`; `*` is not allowed."""
    body_bytes_max: int = 1_100_000
    """A little above the largest payload, so that its own limit is the one that speaks."""
    body_timeout_s: float = 30.0
    """How long a body may take to arrive."""
    timeout_s: float = 10.0
    """Of the overlay, where the request does not say."""
    timeout_s_max: float = 60.0
    """The longest that a request may ask for."""
    page_length: int = 1000
    """Matches in one answer, where the request does not say."""
    page_length_max: int = 10_000
    """The most that a request may ask for."""
    streams_max: int = 256
    """Event streams at once, those included whose client may come back."""
    streams_each: int = 192
    """The same of one address: what it leaves is for others."""
    stream_queue: int = 1000
    """Events that may wait for one client, and those kept for one that comes back."""
    stream_bytes: int = 32 * 1024 * 1024
    """The same in characters of their data, what lived before the stream included."""
    streams_bytes: int = 256 * 1024 * 1024
    """Bytes that all event streams may keep together: for more the fullest of the address that
    keeps most goes."""
    keep_alive_s: float = 15.0
    """The longest silence of an event stream: proxies close what is silent for a minute."""
    linger_s: float = 60.0
    """How long an interest waits for the client of a broken event stream."""
    write_timeout_s: float = 30.0
    """How long a client may read nothing of what was sent before its stream is closed; all of it
    must be read in that time where the system does not tell how much was (no Linux)."""

    def __post_init__(self) -> None:
        check_numbers(self, _MAY_BE_ZERO)
        # what is worth as little as no token would leave a peer open whose operator gave one
        _check_text("token", self.token)
        if self.token and (len(self.token) < TOKEN_LENGTH_MIN or not self.token.isascii()):
            raise ValueError(
                f"token: {len(self.token)} characters; give at least {TOKEN_LENGTH_MIN} of ASCII"
            )
        _check_list("cors_origins", self.cors_origins)
        for origin in self.cors_origins:
            _check_text("cors_origins", origin)
            scheme, separator, host = origin.partition("://")
            if scheme not in ("http", "https") or not separator or not host or "/" in host:
                raise ValueError(f"cors_origins: {origin!r} is no origin: https://example.org")


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):  # in an error's words nobody looks for a secret
        raise TypeError(f"{name}: give text, not {type(value).__name__}")


def _check_list(name: str, value: object) -> None:
    if not isinstance(value, tuple | list):
        raise TypeError(f"{name}: give a list of texts, not {said(value)}")
