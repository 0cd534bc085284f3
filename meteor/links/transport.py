"""What carries bytes between peers: the protocol, and the transport inside one process.

Law of this file: a transport knows addresses, channels and bytes; it knows no frames, no calls, no
time-outs of calls.  A channel keeps order, delivers in a turn of its own, and says once why it
ended.  Both sides of a channel have introduced themselves before the first byte travels.
Memory and WebSocket channels behave alike (tests/test_runtime_conformance.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from chord import Contact, DialRefused, RingError
from meteor.errors import AddressInUse

DIAL_TIMEOUT_S: Final = 3.0
"""How long opening a link may take."""


class DialsCrossed(RingError):
    """The peer that was dialled is dialling us: its channel is the one to use."""


class Channel(Protocol):
    """An open connection to one other peer or client."""

    @property
    def contact(self) -> Contact:
        """How the other side introduced itself."""

    @property
    def backlog(self) -> int:
        """Bytes written that the other side's host has not taken yet."""

    def read_with(self, received: Callable[[bytes], None], closed: Callable[[str], None]) -> None:
        """Name who takes what arrives, and who hears, once, that the channel has ended by itself
        or by the other side; nothing is lost that came before."""

    def write(self, data: bytes) -> None:
        """Send, in order, without waiting; after the end it vanishes."""

    def close(self, reason: str) -> None:
        """End it after what was written; our own `closed` is not called."""


class Acceptor(Protocol):
    """Who decides on channels that others open."""

    def refusal(self, contact: Contact) -> str | None:
        """Why a channel of this contact is not wanted now (`DialsCrossed`); None to welcome it."""

    def opened(self, channel: Channel) -> None:
        """Take a channel that another side opened."""


class Transport(Protocol):
    """One peer's way to the others."""

    async def listen(self) -> str:
        """Take dials from now on and return the address.  Raises `AddressInUse`."""

    def for_client(self) -> Transport:
        """Another way of the same kind, for a client beside this peer."""

    def serve(self, contact: Contact, acceptor: Acceptor) -> None:
        """Introduce this peer as `contact`; dials before this are refused."""

    async def dial(self, address: str) -> Channel:
        """Open a channel.

        Raises `DialRefused` if nobody is there, `LinkClosed` if nobody can be reached or answers
        within `DIAL_TIMEOUT_S` (which proves nothing), `DialsCrossed`, and `VersionMismatch`."""

    def stop(self) -> None:
        """At once: no more dials, every channel closed.  What was written before still leaves."""

    async def close(self) -> None:
        """Stop, and return when everything is released."""


class MemoryHub:
    """The addresses of one process."""

    def __init__(self) -> None:
        self.listeners: dict[str, MemoryTransport] = {}
        self._numbered = 0

    def new_address(self) -> str:
        """An address that nobody had before."""
        self._numbered += 1
        return f"memory:{self._numbered}"


class MemoryChannel:
    """One end of a channel between two peers of one event loop."""

    def __init__(self, owner: MemoryTransport, contact: Contact) -> None:
        self._owner = owner
        self._contact = contact
        self._other: MemoryChannel | None = None
        self._received: Callable[[bytes], None] = lambda _: None
        self._closed: Callable[[str], None] = lambda _: None
        self._backlog = 0
        self._open = True
        owner.channels[self] = None

    @property
    def contact(self) -> Contact:
        """How the other side introduced itself."""
        return self._contact

    @property
    def backlog(self) -> int:
        """Bytes that the other side has not taken yet."""
        return self._backlog

    def join(self, other: MemoryChannel) -> None:
        """Connect the two ends."""
        self._other, other._other = other, self

    def read_with(self, received: Callable[[bytes], None], closed: Callable[[str], None]) -> None:
        """Name who takes what arrives and who hears of the end."""
        self._received, self._closed = received, closed

    def write(self, data: bytes) -> None:
        """Hand the bytes over in a later turn."""
        if self._open and self._other is not None:
            self._backlog += len(data)
            asyncio.get_running_loop().call_soon(self._other._take, data)

    def close(self, reason: str) -> None:
        """End both ends: this one now, the other when it has taken what was written."""
        if self._open:
            self._drop()
            if self._other is not None:
                asyncio.get_running_loop().call_soon(self._other._end, reason)

    def _take(self, data: bytes) -> None:
        if self._other is not None:
            self._other._backlog -= len(data)
        if self._open:
            self._received(data)

    def _end(self, reason: str) -> None:
        if self._open:
            self._drop()
            self._closed(reason)

    def _drop(self) -> None:
        self._open = False
        self._owner.channels.pop(self, None)


class MemoryTransport:
    """A peer's transport inside one process; a client's if it never listens."""

    def __init__(self, hub: MemoryHub, address: str = "") -> None:
        self._hub = hub
        self._address = address
        self._contact: Contact | None = None
        self._acceptor: Acceptor | None = None
        self._stopped = False
        self.channels: dict[MemoryChannel, None] = {}

    def for_client(self) -> MemoryTransport:
        """A client's transport in the same hub."""
        return MemoryTransport(self._hub)

    async def listen(self) -> str:
        """Take dials at the address given, or at a new one.  Raises `AddressInUse`."""
        self._address = self._address or self._hub.new_address()
        if self._address in self._hub.listeners:
            raise AddressInUse(
                f"a peer of this process listens at {self._address} already", self._address
            )
        self._hub.listeners[self._address] = self
        return self._address

    def serve(self, contact: Contact, acceptor: Acceptor) -> None:
        """Introduce this peer as `contact`."""
        self._contact, self._acceptor = contact, acceptor

    async def dial(self, address: str) -> MemoryChannel:
        """Open a channel to a listener of the same hub."""
        assert self._contact is not None
        await asyncio.sleep(0)
        listener = self._hub.listeners.get(address)
        if listener is None or listener._acceptor is None or self._stopped:
            raise DialRefused(f"nobody listens at {address}")
        return listener.accept(self, self._contact)

    def accept(self, dialler: MemoryTransport, contact: Contact) -> MemoryChannel:
        """Open a channel that `dialler` asks for, and return its end.

        Raises `DialsCrossed`."""
        assert self._contact is not None
        assert self._acceptor is not None
        refusal = self._acceptor.refusal(contact)
        if refusal is not None:
            raise DialsCrossed(refusal)
        near, far = MemoryChannel(self, contact), MemoryChannel(dialler, self._contact)
        near.join(far)
        self._acceptor.opened(near)
        return far

    def stop(self) -> None:
        """Leave the hub and close every channel."""
        self._stopped = True
        if self._hub.listeners.get(self._address) is self:
            del self._hub.listeners[self._address]
        for channel in list(self.channels):
            channel.close("the other side stopped")

    async def close(self) -> None:
        """Stop; there is nothing to wait for."""
        self.stop()
