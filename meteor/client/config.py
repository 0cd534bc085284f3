"""The numbers of a client, in one place, with their units and reasons.

Law of this file: frozen values, checked when they are made; every field says its unit and what
changing it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from meteor.admission import CONTEXT_LENGTH_MAX
from meteor.described import described
from meteor.wrong_values import check_numbers, said

_MAY_BE_ZERO: Final = {
    "reply_margin", "reply_margin_s_max", "close_timeout_s", "acknowledge_within_s",
    "shortcuts_max", "context_length_max",
}  # fmt: skip


@described
@dataclass(frozen=True, slots=True)
class ClientConfig:
    """What a client may be told to do differently.

    Raises `TypeError` and `ValueError` for what is no such number, with the field's name."""

    greet_timeout_s: float = 3.0
    """How long one peer may take to introduce itself before the next of the list is asked."""
    reconnect_delay_s: float = 0.05
    """The first pause after every peer of the list was asked in vain; it doubles each time."""
    reconnect_delay_s_max: float = 5.0
    """The longest such pause: how late a client may notice that a peer is back."""
    busy_delay_s: float = 0.02
    """The first pause before a busy peer is asked again; it doubles each time."""
    reply_margin: float = 0.1
    """The share of a time-out kept back for the reply's way, so that a peer can still say what is
    missing; at most `reply_margin_s_max`."""
    reply_margin_s_max: float = 0.25
    """See `reply_margin`."""
    close_timeout_s: float = 5.0
    """How long closing an interest waits for the overlay to delete it; its ttl does the rest."""
    reattach_timeout_s: float = 10.0
    """How long bringing an interest to a new link may take before it is reported."""
    acknowledge_batch: int = 128
    """Notifications acknowledged in one message: half of what a peer lets be under way for one
    interest."""
    acknowledge_within_s: float = 0.005
    """How long an acknowledgement may wait for others: far less than what is not acknowledged waits
    until it is sent again."""
    shortcuts_max: int = 64
    """Links at most to owners of what this client stores and retrieves again and again, besides the
    one to its own peer; 0: everything goes by that one, as where others cannot be reached."""
    context_length_max: int = 4096
    """The longest context of a post, in characters of its names and values."""

    def __post_init__(self) -> None:
        check_numbers(self, _MAY_BE_ZERO)
        if self.reply_margin >= 1:
            raise ValueError(f"reply_margin: {said(self.reply_margin)} is no share below 1")
        if self.context_length_max > CONTEXT_LENGTH_MAX:
            raise ValueError(
                f"context_length_max: {said(self.context_length_max)} is more than the "
                f"{CONTEXT_LENGTH_MAX} characters that a peer takes"
            )
