"""The frames of WebSockets (RFC 6455): bytes into messages and messages into bytes.

Law of this file: pure, bounded and hostile-safe.  What is too long is refused by its announced
length, before it has come.  No extension is ever agreed upon, so reserved bits are refused, and so
is whatever else the RFC forbids, but for two things of no consequence: masked and bare frames are
taken from either side, and a close frame's reason is not looked at.

Why not a library: between two peers a frame is read and written a hundred thousand times a second,
and what costs is not its twelve bits but tasks, futures and queues on the way to who waits for it.
Here a message is handed over in the turn in which it is read (`meteor.links.websocket_channel`).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from chord import dataclass
from meteor.errors import MeteorError

CONTROL_BYTES_MAX: Final = 125
"""The payload of a ping, a pong or a close."""
_FIN, _RESERVED, _OPCODE, _CONTROL = 0x80, 0x70, 0x0F, 0x08
_MASKED, _LENGTH = 0x80, 0x7F
_SHORT_MAX, _IN_16_BITS, _IN_64_BITS = 125, 126, 127
_WHOLE: Final = 0x82
"""The first byte of a binary message in one frame."""
_MASK_BYTES: Final = 4
_NO_MASK: Final = bytes(_MASK_BYTES)
"""The key of a client's frames: a frame must have one, and with this one the payload stays as it
is.  Keys are to keep scripts of web pages from choosing the bytes on the wire; peers are no
browsers, and browsers are refused at the door."""


class Opcode(IntEnum):
    """What a frame is."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


class CloseCode(IntEnum):
    """Why a WebSocket is ended."""

    NORMAL = 1000
    PROTOCOL_ERROR = 1002
    TOO_LONG = 1009


class BrokenFrame(MeteorError):
    """What came is no frame that may come here."""

    def __init__(self, message: str, code: CloseCode = CloseCode.PROTOCOL_ERROR) -> None:
        super().__init__(message)
        self.code = code
        """Which the other side is told."""


@dataclass(frozen=True, slots=True)
class Message:
    """A whole message, or a control frame."""

    opcode: int
    payload: bytes


class MessageReader:
    """Takes bytes in as they come and gives messages out, one at a time."""

    __slots__ = ("_at", "_bytes_max", "_data", "_kind", "_parts", "_room", "waiting")

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._data: bytes | bytearray = b""
        self._at = self.waiting = 0
        """`waiting`: bytes that were fed and are not given out yet."""
        self._parts = bytearray()
        self._room = bytes_max
        """Bytes that may be added to these parts."""
        self._kind = 0
        """Of the message that comes in parts; 0 when none does."""

    def feed(self, data: bytes) -> None:
        """Take in what came."""
        if not self.waiting:
            self._data = data
        elif isinstance(self._data, bytearray):
            del self._data[: self._at]
            self._data += data
        else:
            self._data = bytearray(self._data[self._at :])
            self._data += data
        self._at, self.waiting = 0, len(self._data)

    def alone(self, data: bytes) -> bytes | None:
        """The payload of one whole binary message that is all that came, as most of the time it is;
        None where that is to be fed and looked at."""
        size, at = len(data), 2
        if size < at or data[0] != _WHOLE or self.waiting or self._kind:
            return None
        length = data[1] & _LENGTH
        if length == _IN_16_BITS and size >= 4:
            length, at = data[2] << 8 | data[3], 4
        elif length > _SHORT_MAX:
            return None
        if data[1] & _MASKED:
            if data[at : at + _MASK_BYTES] != _NO_MASK:
                return None
            at += _MASK_BYTES
        return data[at:] if size == at + length and length <= self._bytes_max else None

    def next(self) -> Message | None:
        """The next message; None until more comes.  Raises `BrokenFrame`."""
        while (frame := self._next_frame()) is not None:
            first, payload = frame
            opcode = first & _OPCODE
            if opcode & _CONTROL:
                return Message(opcode, payload)
            if first & _FIN and opcode and not self._kind:
                return Message(opcode, payload)
            if bool(opcode) == bool(self._kind):
                raise BrokenFrame("a message began within another one, or went on before it began")
            self._kind = self._kind or opcode
            self._parts += payload
            self._room -= len(payload)
            if first & _FIN:
                whole = Message(self._kind, bytes(self._parts))
                self._kind, self._parts, self._room = 0, bytearray(), self._bytes_max
                return whole
        return None

    def _next_frame(self) -> tuple[int, bytes] | None:
        """The first byte of the next frame and its payload; None until all of it is there."""
        data, at = self._data, self._at
        there = at + self.waiting
        if there - at < 2:
            return None
        first, second = data[at], data[at + 1]
        at += 2
        length = second & _LENGTH
        if length > _SHORT_MAX:
            size = 2 if length == _IN_16_BITS else 8
            if there - at < size:
                return None
            length = int.from_bytes(data[at : at + size], "big")
            at += size
        if first & 0xF0 != _FIN or first & _CONTROL or length > self._room:
            self._check(first, length)
        key = _NO_MASK
        if second & _MASKED:
            key = bytes(data[at : at + _MASK_BYTES])
            at += _MASK_BYTES
        end = at + length
        if there < end:
            return None
        payload = bytes(data[at:end])
        self._at, self.waiting = end, there - end
        if not self.waiting:
            self._at, self._data = 0, b""  # what comes alone from now on is not put here
        return first, payload if key == _NO_MASK else unmasked(payload, key)

    def _check(self, first: int, length: int) -> None:
        if first & _RESERVED:
            raise BrokenFrame("a frame uses an extension that nobody agreed upon")
        if first & _CONTROL and (length > CONTROL_BYTES_MAX or not first & _FIN):
            raise BrokenFrame("a control frame is longer than it may be, or in parts")
        if length > self._room:
            raise BrokenFrame(
                f"a message is longer than {self._bytes_max} bytes", CloseCode.TOO_LONG
            )


def unmasked(payload: bytes, key: bytes) -> bytes:
    """The payload with its mask taken off, or put on: every byte by the one of four whose turn it
    is, all of them in one operation on one large number."""
    size = len(payload)
    keys = (key * (size // _MASK_BYTES + 1))[:size]
    mixed = int.from_bytes(payload, "little") ^ int.from_bytes(keys, "little")
    return mixed.to_bytes(size, "little")


def frame(opcode: int, payload: bytes, *, masked: bool) -> bytes:
    """One whole message, or control frame, as bytes; `masked` is for who dialled."""
    first, size = _FIN | opcode, len(payload)
    mask, key = (_MASKED, _NO_MASK) if masked else (0, b"")
    if size <= _SHORT_MAX:
        head = bytes((first, mask | size))
    elif size < 1 << 16:
        head = bytes((first, mask | _IN_16_BITS, size >> 8, size & 0xFF))
    else:
        head = bytes((first, mask | _IN_64_BITS)) + size.to_bytes(8, "big")
    return head + key + payload


def close_frame(code: CloseCode, *, masked: bool) -> bytes:
    """The last frame of a WebSocket."""
    return frame(Opcode.CLOSE, code.to_bytes(2, "big"), masked=masked)
