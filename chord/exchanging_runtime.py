"""The verbs of a runtime that its exchange carries out, whatever world it is in.

Law of this file: nothing is decided here; `chord.exchange` does, the same for virtual time and for
an event loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from chord.contact import Contact
from chord.exchange import Exchange
from chord.runtime import Handler


class ExchangingRuntime:
    """What the adapters of `chord.Runtime` have in common; each sets its `exchange`."""

    exchange: Exchange

    def serve(self, handler: Handler, link_closed: Callable[[Contact], None]) -> None:
        """Name who takes messages and who hears of lost links."""
        self.exchange.serve(handler, link_closed)

    def request_late_s(self) -> float:
        """How much longer than usual the request that is being handled was on its way."""
        return self.exchange.request_late_s

    async def call(self, contact: Contact, request: object, timeout_s: float) -> Any:
        """The reply, or a `chord.CallError`."""
        return await self.exchange.call(contact, request, timeout_s)

    def ask(self, contact: Contact, request: object, timeout_s: float) -> Awaitable[Any]:
        """The same, sent now and awaited later."""
        return self.exchange.call(contact, request, timeout_s)

    def send(self, contact: Contact, message: object) -> None:
        """One way, best effort."""
        self.exchange.send(contact, message)

    def forward(
        self,
        candidates: Sequence[Contact],
        message: object,
        undelivered: Callable[[object, str], None],
    ) -> None:
        """One way and tracked, to the first candidate that acknowledges."""
        self.exchange.forward(candidates, message, undelivered)

    def expect(self, token: object, timeout_s: float | None) -> Awaitable[Any]:
        """Register for a value; await it later."""
        return self.exchange.expect(token, timeout_s)

    def deliver(self, token: object, value: object) -> bool:
        """Hand `value` to whoever expects `token`."""
        return self.exchange.deliver(token, value)
