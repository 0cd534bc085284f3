"""Reply addresses: results and notifications, sent to where a message asks for them.

Law of this file: only what the policy names is contacted, by a plain POST of the document in XML,
in the order of each address; what cannot be delivered is tried three times, then dropped and
counted.  An address costs no more than its bounded queue, and follows no redirection
(SPEC section 3: `retrieve(123.34.56.78:9999)`).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import Final

import aiohttp
from aiohttp import web

from arms import NotificationMessage, write_notification
from meteor.client.interest import Interest
from meteor.errors import Busy
from meteor.rest.negotiation import XML
from meteor.rest.xml_form import found_message
from meteor.security.gatekeeper import Gatekeeper
from meteor.values import Notification

ADDRESSES_MAX: Final = 256
"""Addresses that are being sent to at once."""
WAITING_MAX: Final = 1000
"""Documents that may wait for one address; the oldest is dropped for one more."""
STANDING_MAX: Final = 1000
"""Interests whose notifications go to addresses."""
TRIES: Final = 3
TIMEOUT_S: Final = 10.0
"""For one POST; the pause before the next try is a second, then two."""

_Letter = tuple[bytes, str]
"""A document and its media type."""

_log = logging.getLogger("meteor.rest.replies")


class Replies:
    """What one peer sends to reply addresses."""

    def __init__(self) -> None:
        self.dropped = 0
        """Documents that no address took."""
        self._session: aiohttp.ClientSession | None = None
        self._waiting: dict[str, deque[_Letter]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._standing: list[Interest] = []

    @staticmethod
    def check(address: str, gatekeeper: Gatekeeper) -> None:
        """Raises `Refused` (rule `reply_addresses`) for what the policy does not name."""
        gatekeeper.admit_reply(address)

    def send(self, address: str, document: bytes, kind: str = XML) -> None:
        """Send a document later, behind those that wait for the same address."""
        queue = self._waiting.get(address)
        if queue is None:
            if len(self._waiting) >= ADDRESSES_MAX:
                self._drop(address, "too many addresses are being sent to")
                return
            queue = self._waiting[address] = deque(maxlen=WAITING_MAX)
            task = asyncio.get_running_loop().create_task(self._deliver(address, queue))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if len(queue) == WAITING_MAX:
            self._drop(address, "it takes too long")
        queue.append((document, kind))

    def make_room(self) -> None:
        """Raises `Busy` when no further interest can be followed for an address."""
        self._standing = [one for one in self._standing if one.state in ("new", "active")]
        if len(self._standing) >= STANDING_MAX:
            raise Busy(f"{STANDING_MAX} interests are followed for reply addresses here already")

    def follow(self, interest: Interest) -> None:
        """Count an interest whose notifications go to an address, while it lives."""
        self._standing.append(interest)

    async def stop(self, _: web.Application) -> None:
        """End every delivery: the peer stops."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    async def _deliver(self, address: str, queue: deque[_Letter]) -> None:
        """Empty the queue of an address."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(TIMEOUT_S))
        try:
            while queue:
                if not await self._post(self._session, address, queue.popleft()):
                    self._drop(address, f"it took nothing in {TRIES} tries")
        finally:
            del self._waiting[address]

    @staticmethod
    async def _post(session: aiohttp.ClientSession, address: str, letter: _Letter) -> bool:
        """Whether the address took the document."""
        document, kind = letter
        for attempt in range(TRIES):
            if attempt:
                await asyncio.sleep(attempt)
            try:
                async with session.post(
                    f"http://{address}/", data=document, headers={"Content-Type": kind},
                    allow_redirects=False,
                ) as answer:  # fmt: skip
                    if answer.status < 300:
                        return True
            except (aiohttp.ClientError, TimeoutError, ValueError):
                continue
        return False

    def _drop(self, address: str, reason: str) -> None:
        self.dropped += 1
        _log.warning("a document for %s is dropped: %s", address, reason)


def notification_document(notification: Notification) -> bytes:
    """A notification as a reply address gets it."""
    kind = notification.kind
    assert kind in ("match", "appeared", "gone")
    return write_notification(
        NotificationMessage(
            id=notification.notification_id,
            interest=notification.interest,
            kind=kind,  # type: ignore[arg-type]  # one of the three words
            found=found_message(notification),
        )
    )
