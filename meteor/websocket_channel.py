"""One WebSocket between two peers, dialled or accepted, as a channel.

Law of this file: writing never waits.  aiohttp hands a message to the socket's buffer before it
waits for that buffer to drain, so the wait is given up and the buffer's size is told instead
(`backlog`); the link refuses more when it is too large.  Closing flushes and is immediate: no
closing handshake is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
from aiohttp import WSMsgType, web

from chord import Contact
from meteor.codec import WIRE_VERSION, MalformedFrame

PROTOCOL: Final = f"meteor.{WIRE_VERSION}"
"""The WebSocket subprotocol: peers of another wire version are refused at the door."""
CONTACT_HEADER: Final = "Meteor-Contact"
VERSION_HEADER: Final = "Meteor-Wire"
READ_AT_ONCE: Final = 4
"""Messages of one socket that are taken in before others get their turn."""
HEARTBEAT_S: Final = 15.0
"""A link that answers no ping for half of this after that long is closed."""
BEAT_S: Final = HEARTBEAT_S / 2
"""How often the owner of channels lets them look.  aiohttp's own heartbeat sets a timer anew with
every message that comes: a tenth of what an exact retrieve costs."""
_BEATS_TO_PING: Final = 2
LINGER_S: Final = 1.0
"""How long a closed socket may take to flush before it is cut."""

_ID_DIGITS_MAX = 128
_ADDRESS_LENGTH_MAX = 255


def contact_header(contact: Contact) -> str:
    """How a peer introduces itself: `id incarnation address`, the address `-` for a client."""
    return f"{contact.id:x} {contact.incarnation} {contact.address or '-'}"


def parse_contact(header: str) -> Contact:
    """The contact in a header; raises `MalformedFrame`."""
    parts = header.split(" ")
    if len(parts) != 3 or not header.isascii() or not header.isprintable():
        raise MalformedFrame(f"{CONTACT_HEADER} must be 'id incarnation address'")
    digits, incarnation, address = parts
    if not 0 < len(digits) <= _ID_DIGITS_MAX or not 0 < len(address) <= _ADDRESS_LENGTH_MAX:
        raise MalformedFrame(f"{CONTACT_HEADER} is too long")
    if set(digits) - set("0123456789abcdef") or not incarnation.isdigit() or len(incarnation) > 18:
        raise MalformedFrame(f"{CONTACT_HEADER} holds no id and incarnation")
    return Contact(int(digits, 16), "" if address == "-" else address, int(incarnation))


class DialledSocket(aiohttp.ClientWebSocketResponse):
    """A dialled WebSocket that shows the headers of the answer and its transport."""

    @property
    def headers(self) -> Any:
        """The headers with which the other side took the dial."""
        return self._response.headers

    @property
    def transport(self) -> asyncio.Transport | None:
        """The socket below; None once it is gone."""
        connection = self._response.connection
        return connection.transport if connection is not None else None

    def release(self) -> None:
        """Flush and close the socket, and give its connection back to the session."""
        self._response.close()


@dataclass(slots=True)
class Traffic:
    """What went over the WebSockets of one transport: messages, each of one frame or several, and
    their bytes before encryption."""

    messages_in: int = 0
    messages_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    strangers: int = 0
    """Dials of who claimed to be a peer and showed no certificate that says so."""


class WebSocketChannel:
    """One end of a WebSocket link."""

    def __init__(
        self,
        contact: Contact,
        socket: DialledSocket | web.WebSocketResponse,
        transport: asyncio.Transport | None,
        channels: dict[WebSocketChannel, None],
        traffic: Traffic,
    ) -> None:
        self._contact = contact
        self._socket = socket
        self._transport = transport
        self._channels, self._traffic = channels, traffic
        self._received: Callable[[bytes], None] = lambda _: None
        self._closed: Callable[[str], None] = lambda _: None
        self._open = True
        self._quiet_beats = 0
        """How often it was looked at since something came."""
        channels[self] = None

    @property
    def contact(self) -> Contact:
        """How the other side introduced itself."""
        return self._contact

    @property
    def backlog(self) -> int:
        """Bytes that the operating system has not taken yet."""
        if self._transport is None or not self._open:
            return 0  # a TLS transport that is closed twice forgets what it has
        return self._transport.get_write_buffer_size()

    def read_with(self, received: Callable[[bytes], None], closed: Callable[[str], None]) -> None:
        """Name who takes what arrives and who hears of the end."""
        self._received, self._closed = received, closed

    def write(self, data: bytes) -> None:
        """Put one message into the socket's buffer."""
        if self._open:
            self._traffic.messages_out += 1
            self._traffic.bytes_out += len(data)
            self._put(self._socket.send_bytes(data))

    def _put(self, sending: Coroutine[Any, Any, None]) -> None:
        """Let a message leave without waiting for it."""
        try:
            draining = sending.send(None)
        except StopIteration:
            return
        except (ConnectionError, RuntimeError) as error:
            asyncio.get_running_loop().call_soon(self._end, f"the socket broke: {error}")
        else:
            draining.add_done_callback(_look_at)
            sending.close()

    def close(self, reason: str) -> None:  # noqa: ARG002 - sockets end without words
        """Flush and end it."""
        self._drop()

    def beat(self) -> None:
        """Look whether the other side lives: ping it when it is quiet, give it up when it stays so.
        Called every `BEAT_S` by its owner."""
        self._quiet_beats += 1
        if self._quiet_beats > _BEATS_TO_PING:
            self._end("the other side does not answer a ping")
        elif self._quiet_beats == _BEATS_TO_PING:
            self._put(self._socket.ping())

    async def pump(self) -> None:
        """Hand on what arrives until the socket ends; run by its owner, once."""
        reason = ""
        read = 0
        try:
            while self._open and not reason:
                message = await self._socket.receive()
                self._quiet_beats = 0
                read += 1
                if read % READ_AT_ONCE == 0:  # what is there already comes without a pause
                    await asyncio.sleep(0)
                if message.type is WSMsgType.BINARY:
                    self._traffic.messages_in += 1
                    self._traffic.bytes_in += len(message.data)
                    self._received(message.data)
                elif message.type is WSMsgType.PING:
                    self._answer(message.data)
                elif message.type is not WSMsgType.PONG:
                    reason = _why(message)
        except ConnectionError as error:  # aiohttp answers a close on a socket that just broke
            reason = f"the socket broke: {error}"
        finally:
            if reason:
                self._end(reason)
            else:  # the loop is ending: nobody is to react any more
                self._drop()

    def _answer(self, ping: bytes) -> None:
        """What still waits to leave is an answer to a ping too: pongs never pile up."""
        if self._open and not self.backlog:
            self._put(self._socket.pong(ping))

    def _end(self, reason: str) -> None:
        if self._open:
            self._drop()
            self._closed(reason)

    def _drop(self) -> None:
        self._open = False
        self._channels.pop(self, None)
        transport = self._transport
        lingers = transport is not None and not transport.is_closing() and _lingers(transport)
        if isinstance(self._socket, DialledSocket):
            self._socket.release()
        elif transport is not None:
            transport.close()
        if lingers and transport is not None:
            asyncio.get_running_loop().call_later(LINGER_S, transport.abort)


def _lingers(transport: asyncio.Transport) -> bool:
    """Whether a transport that is closed waits for the other side: to take what was written, or,
    under TLS, to say that it closes too, for half a minute if nobody cuts it."""
    return bool(transport.get_write_buffer_size() or transport.get_extra_info("ssl_object"))


def _look_at(drained: asyncio.Future[None]) -> None:
    """Nobody waits for the drained buffer, so an error of it is looked at here."""
    if not drained.cancelled():
        drained.exception()


def _why(message: aiohttp.WSMessage) -> str:
    if message.type is WSMsgType.ERROR:
        return f"the socket broke: {message.data}"
    if message.type is WSMsgType.TEXT:
        return "text instead of frames"
    return "closed by the other side"
