"""Reply addresses: results and notifications, sent to where a message asks for them.

Law of this file: only what the policy names is contacted, by a plain POST of the document in XML
(in JSON where XML cannot hold it), in the order of each address; what cannot be delivered is tried
three times, then dropped and counted.  An address costs no more than its bounded queue
(`waiting.py`), follows no redirection, sets no cookie, and a name of its leads to nothing that is
this machine's own (SPEC section 3: `retrieve(123.34.56.78:9999)`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

import aiohttp
from aiohttp import web

from arms import NotificationMessage, ProfileError, write_notification
from meteor.client.interest import Interest
from meteor.errors import Busy
from meteor.rest.answers import json_bytes
from meteor.rest.json_form import match_object
from meteor.rest.negotiation import JSON, XML
from meteor.rest.outward import OutwardResolver
from meteor.rest.waiting import Letter, Waiting
from meteor.rest.xml_form import found_message
from meteor.security.gatekeeper import Gatekeeper
from meteor.values import Notification

STANDING_MAX: Final = 1000
"""Interests whose notifications go to addresses."""
TRIES: Final = 3
TIMEOUT_S: Final = 10.0
"""For one POST; the pause before the next try is a second, then two."""
STOPS: Final = "the peer stops"
FOLLOWED: Final = ("new", "opening", "active")
"""States of an interest that may tell its address something."""

_log = logging.getLogger("meteor.rest.replies")


class Replies:
    """What one peer sends to reply addresses."""

    def __init__(self, on_drop: Callable[[], None] = lambda: None) -> None:
        self.dropped = 0
        """Documents that no address took."""
        self._on_drop = on_drop
        self._session: aiohttp.ClientSession | None = None
        self._waiting = Waiting()
        self._tasks: set[asyncio.Task[None]] = set()
        self._standing: list[Interest] = []
        self._is_stopped = False

    @staticmethod
    def check(address: str, gatekeeper: Gatekeeper) -> None:
        """Raises `Refused` (rule `reply_addresses`) for what the policy does not name."""
        gatekeeper.admit_reply(address)

    def send(self, address: str, document: bytes, kind: str = XML) -> None:
        """Send a document later, behind those that wait for the same address."""
        if self._is_stopped:
            self._drop(address, STOPS)
            return
        is_known = self._waiting.is_known(address)
        for whose in self._waiting.put(address, (document, kind)):
            self._drop(whose, "it takes too long, or too much waits")
        if not is_known and self._waiting.is_known(address):
            task = asyncio.get_running_loop().create_task(self._deliver(address))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def make_room(self) -> None:
        """Raises `Busy` when no further interest can be followed for an address."""
        self._standing = [one for one in self._standing if one.state in FOLLOWED]
        if len(self._standing) >= STANDING_MAX:
            raise Busy(f"{STANDING_MAX} interests are followed for reply addresses here already")

    def follow(self, interest: Interest) -> None:
        """Count an interest whose notifications go to an address, while it lives."""
        self._standing.append(interest)

    async def stop(self, _: web.Application) -> None:
        """End every delivery: the peer stops."""
        self._is_stopped = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    async def _deliver(self, address: str) -> None:
        """Empty the queue of an address."""
        if self._session is None:
            self._session = _session()
        try:
            while (letter := self._waiting.next(address)) is not None:
                if not await self._post(self._session, address, letter):
                    self._drop(address, f"it took nothing in {TRIES} tries")
        except asyncio.CancelledError:  # while it was sent
            self._drop(address, STOPS)
            raise
        finally:
            for _ in range(self._waiting.leave(address)):
                self._drop(address, STOPS)

    @staticmethod
    async def _post(session: aiohttp.ClientSession, address: str, letter: Letter) -> bool:
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
        self._on_drop()
        _log.warning("a document for %s is dropped: %s", address, reason)


def _session() -> aiohttp.ClientSession:
    """Remembers nothing of an address: a cookie would be its store here."""
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(TIMEOUT_S),
        cookie_jar=aiohttp.DummyCookieJar(),
        connector=aiohttp.TCPConnector(resolver=OutwardResolver()),
    )


def notification_letter(notification: Notification) -> Letter:
    """A notification as a reply address gets it: in XML, and in JSON what XML cannot hold."""
    kind = notification.kind
    assert kind in ("match", "appeared", "gone")
    document = NotificationMessage(
        id=notification.notification_id,
        interest=notification.interest,
        kind=kind,  # type: ignore[arg-type]  # one of the three words
        found=found_message(notification),
    )
    try:
        return write_notification(document), XML
    except ProfileError:  # control characters, or a blank in a name, from who posted otherwise
        form = match_object(notification) | {"notification": notification.notification_id}
        return json_bytes(form), JSON
