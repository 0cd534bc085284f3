"""What the exchange asks of the runtime around it, and what it counts.

Law of this file: nothing here does anything.  asyncio and SimPy each give one `World`; it is
narrower than `chord.runtime.Runtime`, which protocol code sees.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Protocol

from chord.contact import Contact
from chord.link import LinkEnd


class Waiter(Protocol):
    """Something to wait for: settled once, awaited by any number of conversations."""

    @property
    def abandoned(self) -> bool:
        """Whether somebody awaited it once and nobody does now, before it had an outcome."""

    def resolve(self, value: object) -> None:
        """Give the value to all who wait; too late is harmless."""

    def fail(self, error: Exception) -> None:
        """Raise `error` in all who wait; too late is harmless."""

    def __await__(self) -> Generator[Any, Any, Any]: ...


class World(Protocol):
    """What the exchange needs of the runtime around it."""

    @property
    def contact(self) -> Contact:
        """The peer itself."""

    def now(self) -> float:
        """Seconds of the local clock."""

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        """Run `callback(*args)` in a later turn, first in first out."""

    def sweep_at(self, when_s: float) -> None:
        """Call `Exchange.sweep` once at that time, or soon after."""

    def waiter(self) -> Waiter:
        """Something new to wait for."""

    def converse(
        self,
        conversation: Coroutine[Any, Any, object],
        concluded: Callable[[object, BaseException | None], None],
    ) -> None:
        """Run a conversation owned by the peer and hand its value or error to `concluded`."""

    def link_to(self, contact: Contact) -> LinkEnd:
        """The link to a contact, open or being opened; or one that waits, where another peer is
        being dialled at the contact's address, until it is known who is there.

        Raises `LinkClosed` to a client without link, `AnotherAnswers` if another peer is known to
        answer at the contact's address, `Busy` where too many wait for one dial."""

    def failed(self, error: BaseException) -> None:
        """Hear of a bug in a handler (contract rule 5)."""


@dataclass(slots=True)
class Counters:
    """What an exchange dropped, and why; for metrics."""

    late_replies: int = 0
    """Replies to calls that had an outcome already."""
    unsent: int = 0
    """One-way messages and replies that no link took."""
    unasked: int = 0
    """Frames that made no sense at this moment."""
    rerouted: int = 0
    """Forwarded messages given up by the link that had taken them."""
