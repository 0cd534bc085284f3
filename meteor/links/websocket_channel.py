"""One WebSocket between two peers, dialled or accepted, as a channel.

Law of this file: nothing waits.  aiohttp shakes hands; from then on the socket is this channel's,
which reads and writes frames itself (`meteor.links.websocket_frames`) and hands a message over in
the turn in which it was read, without a queue, a future or a task in between: an exact store took a
third longer with them, most of it for a fresh buffer of 256 KiB at every read.  What was written
and not taken yet is told (`backlog`); the link refuses more when it is too much.  Closing flushes
and is immediate: no closing handshake is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

from chord import Contact
from meteor.links.websocket_frames import (
    BrokenFrame,
    CloseCode,
    Message,
    MessageReader,
    Opcode,
    close_frame,
    frame,
)
from meteor.links.websocket_taken import taken
from meteor.wire.codec import FRAME_BYTES_MAX, WIRE_VERSION, MalformedFrame

PROTOCOL: Final = f"meteor.{WIRE_VERSION}"
"""The WebSocket subprotocol: peers of another wire version are refused at the door."""
CONTACT_HEADER: Final = "Meteor-Contact"
VERSION_HEADER: Final = "Meteor-Wire"
MESSAGE_BYTES_MAX: Final = FRAME_BYTES_MAX + 64 * 1024
"""One WebSocket message: the largest frame and its envelope."""
READ_BYTES: Final = 64 * 1024
"""Read at once; all channels of one transport read into one buffer."""
READ_AT_ONCE: Final = 4
"""Messages of one socket that are taken in before others get their turn."""
HEARTBEAT_S: Final = 15.0
"""A link that answers no ping for half of this after that long is closed."""
BEAT_S: Final = HEARTBEAT_S / 2
"""How often the owner of channels lets them look.  aiohttp's own heartbeat sets a timer anew with
every message that comes: a tenth of what an exact retrieve costs."""
_BEATS_TO_PING: Final = 2
_BEATS_UNREAD: Final = 4
"""A link of which nothing is read for so long although something waits is closed, whatever comes in
on it: what is told again for want of an acknowledgement would fill it up to its last byte."""
LINGER_S: Final = 1.0
"""How long a closed socket may take to flush before it is cut."""

_TEXT, _BINARY, _CLOSE = Opcode.TEXT, Opcode.BINARY, Opcode.CLOSE
_PING, _PONG = Opcode.PING, Opcode.PONG
"""By names of this file: until Python 3.12 a class of constants is asked for one in 400 steps."""

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


class WebSocketChannel(asyncio.BufferedProtocol):
    """One end of a WebSocket link."""

    def __init__(
        self,
        contact: Contact,
        transport: asyncio.Transport,
        channels: dict[WebSocketChannel, None],
        traffic: Traffic,
        buffer: memoryview,
        socket: DialledSocket | None = None,
    ) -> None:
        """Take a socket over from aiohttp; `socket` is what was dialled, None of an accepted one.
        `buffer` takes in what is read, and is used by nobody else meanwhile."""
        self._contact = contact
        self._socket, self._transport = socket, transport
        self._channels, self._traffic, self._buffer = channels, traffic, buffer
        self._received: Callable[[bytes], None] = lambda _: None
        self._closed: Callable[[str], None] = lambda _: None
        self._reader = MessageReader(MESSAGE_BYTES_MAX)
        self._masks = socket is not None
        self._open, self._waits = True, False
        self._quiet_beats = 0
        """How often it was looked at since something came."""
        self._put_bytes, self._read_bytes, self._unread_beats = 0, 0, 0
        """What was put into the socket, what the other side had taken when it was looked at, and
        how often that was no more than before although something waited."""
        self._held: list[bytes] | None = None
        """What waits until the other side of an accepted socket says that it took it over: what
        came before that would be aiohttp's."""
        self._held_bytes = 0
        self._former = transport.get_protocol()
        """aiohttp's side of the socket, which is to hear of its end."""
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the socket is released."""
        channels[self] = None
        transport.set_protocol(self)
        if socket is None:
            self._held = []
        else:
            self._put(_PONG, b"")  # what nobody asked for is no question: "it is mine now"

    @property
    def contact(self) -> Contact:
        """How the other side introduced itself."""
        return self._contact

    @property
    def backlog(self) -> int:
        """Bytes that the operating system has not taken yet."""
        if not self._open:
            return 0  # a TLS transport that is closed twice forgets what it has
        return self._transport.get_write_buffer_size() + self._held_bytes

    def read_with(self, received: Callable[[bytes], None], closed: Callable[[str], None]) -> None:
        """Name who takes what arrives and who hears of the end."""
        self._received, self._closed = received, closed

    # -- writing

    def write(self, data: bytes) -> None:
        """Put one message into the socket's buffer."""
        if self._open:
            self._traffic.messages_out += 1
            self._traffic.bytes_out += len(data)
            if self._held is None:
                if not self._transport.is_closing():
                    raw = frame(_BINARY, data, masked=self._masks)
                    self._put_bytes += len(raw)
                    self._transport.write(raw)
            else:
                self._held.append(data)
                self._held_bytes += len(data)

    def _put(self, opcode: Opcode, payload: bytes) -> None:
        if not self._transport.is_closing():
            raw = frame(opcode, payload, masked=self._masks)
            self._put_bytes += len(raw)
            self._transport.write(raw)

    def _let_go(self) -> None:
        held, self._held, self._held_bytes = self._held, None, 0
        for data in held or ():
            self._put(_BINARY, data)

    def close(self, reason: str) -> None:  # noqa: ARG002 - sockets end without words
        """Flush and end it."""
        self._drop()

    def beat(self) -> None:
        """Look whether the other side lives: ping it when it is quiet, give it up when it stays so,
        or reads nothing.  Called every `BEAT_S` by its owner."""
        if self._is_unread():
            self._end("the other side reads nothing")
            return
        self._quiet_beats += 1
        if self._quiet_beats > _BEATS_TO_PING:
            self._end("the other side does not answer a ping")
        elif self._quiet_beats == _BEATS_TO_PING:
            self._put(_PING, b"")

    def _is_unread(self) -> bool:
        if not self._open:
            return False
        waiting = self._transport.get_write_buffer_size()
        told, before = taken(self._transport), self._read_bytes
        read = self._put_bytes - waiting if told is None else told
        self._read_bytes = read
        self._unread_beats = self._unread_beats + 1 if waiting and read <= before else 0
        return self._unread_beats >= _BEATS_UNREAD

    # -- reading (called by the event loop)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - it is what it is
        """Where to put what comes."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """So much came."""
        if not self._open:
            return
        self._quiet_beats = 0
        if self._held is not None:
            self._let_go()
        data = bytes(self._buffer[:nbytes])
        payload = self._reader.alone(data)
        if payload is not None:
            self._hand_over(payload)
            return
        self._reader.feed(data)
        if not self._waits:
            self._take_in()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self._end("closed by the other side" if exc is None else f"the socket broke: {exc}")
        self._former.connection_lost(exc)
        if not self.gone.done():
            self.gone.set_result(None)

    def _take_in(self) -> None:
        """Hand on what was read, a few messages at a time; nothing more is read meanwhile."""
        waits = False
        try:
            for _ in range(READ_AT_ONCE):
                message = self._reader.next()
                waits = message is not None and self._reader.waiting > 0
                if message is not None:
                    self._take(message)
                if not waits or not self._open:
                    break
        except BrokenFrame as error:
            self._end_with(error.code, str(error))
        if not self._open:
            return
        if waits:
            asyncio.get_running_loop().call_soon(self._take_in)
        if waits is not self._waits:
            self._waits = waits
            if waits:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def _take(self, message: Message) -> None:
        if message.opcode == _BINARY:
            self._hand_over(message.payload)
        elif message.opcode == _PING:
            # What still waits to leave is an answer to a ping too: pongs never pile up.
            if not self.backlog:
                self._put(_PONG, message.payload)
        elif message.opcode == _CLOSE:
            self._end_with(CloseCode.NORMAL, "closed by the other side")
        elif message.opcode == _TEXT:
            self._end("text instead of frames")
        elif message.opcode != _PONG:
            raise BrokenFrame(f"there is no frame of kind {message.opcode}")

    def _hand_over(self, payload: bytes) -> None:
        self._traffic.messages_in += 1
        self._traffic.bytes_in += len(payload)
        self._received(payload)

    # -- ending

    def _end_with(self, code: CloseCode, reason: str) -> None:
        if self._open and not self._transport.is_closing():
            self._transport.write(close_frame(code, masked=self._masks))
        self._end(reason)

    def _end(self, reason: str) -> None:
        if self._open:
            self._drop()
            self._closed(reason)

    def _drop(self) -> None:
        if not self._open:
            return
        self._let_go()
        self._open = False
        self._channels.pop(self, None)
        transport = self._transport
        lingers = not transport.is_closing() and _lingers(transport)
        if self._socket is not None:
            self._socket.release()
        else:
            transport.close()
        if lingers:
            asyncio.get_running_loop().call_later(LINGER_S, transport.abort)


def _lingers(transport: asyncio.Transport) -> bool:
    """Whether a transport that is closed waits for the other side: to take what was written, or,
    under TLS, to say that it closes too, for half a minute if nobody cuts it."""
    return bool(transport.get_write_buffer_size() or transport.get_extra_info("ssl_object"))
