"""Asking a peer that may be held, or dead: until it answers, or is gone for good.

Law of this file: one conversation; who is late itself gives nobody up (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chord import CallError, Contact, DialRefused, LinkClosed, RequestTimeout, Runtime
from meteor.copies.config import CopiesConfig


class Inquiry:
    """How one peer asks others about copies."""

    def __init__(self, runtime: Runtime, config: CopiesConfig) -> None:
        self._runtime, self._config = runtime, config

    async def ask_all(self, contacts: Sequence[Contact], message: object) -> list[Any]:
        """The replies, None of who is gone."""
        if len(contacts) == 1:
            return [await self.ask(contacts[0], message)]
        tasks = [self._runtime.spawn(self.ask(contact, message)) for contact in contacts]
        return [await task for task in tasks]

    async def ask(self, contact: Contact, message: object) -> Any:
        """The reply of a peer that is asked until it answers, or is gone for good: None."""
        asked_s, closed = self._runtime.now(), 0
        while True:
            try:
                return await self._runtime.call(contact, message, self._config.silence_s)
            except DialRefused:
                return None
            except LinkClosed:
                closed += 1
                if closed > 2:
                    return None
            except RequestTimeout:
                if self._is_gone(contact, asked_s):
                    return None
            except CallError:
                if self._runtime.now() - asked_s > self._config.silence_s:
                    return None
                await self._runtime.sleep(0.05)

    def _is_gone(self, contact: Contact, asked_s: float) -> bool:
        now, config = self._runtime.now(), self._config
        if now - asked_s >= config.ask_s_max:
            return True
        if self._runtime.lateness() > config.lateness_s_max:
            return False
        return now - self._runtime.link(contact).last_heard_s >= config.silence_s
