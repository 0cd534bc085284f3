"""Messages and frames as bytes: msgpack by msgspec, behind one version byte.

Law of this file: whatever bytes come in, out comes a valid message or a `MalformedFrame` or
`VersionMismatch`, nothing else; unknown message names are refused before their body is looked at.
The body of a message stays as it is until its frame's turn comes.  What may stand in a message:
`meteor.wire.packers`.

    codec = Codec((*chord.MESSAGES, *squid.MESSAGES))
    codec.decode(codec.encode(message)) == message
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any, Final

import msgspec

import chord
import squid
from chord import FrameKind, MeteorError, dataclass
from meteor.errors import LimitExceeded, VersionMismatch
from meteor.wire import action_messages, copy_messages, entropy_messages, link_messages
from meteor.wire import messages as client_messages
from meteor.wire import operations as peer_messages
from meteor.wire.packers import PackerTable

WIRE_VERSION: Final = 1
"""The first byte of whatever travels; raised when older peers could misread newer frames."""
FRAME_BYTES_MAX: Final = 4 * 1024 * 1024
"""One encoded frame; a sender refuses a larger one before it leaves."""
FRAMES_MAX: Final = 128
"""Frames that travel as one: they are taken in within one turn."""

_NIL: Final = b"\xc0"
_VERSION: Final = bytes((WIRE_VERSION,))
_ONE: Final = bytes((WIRE_VERSION, 0x91))
"""Before a frame that travels alone, as most do."""
US: Final = 1_000_000
"""Durations travel in microseconds ..."""
MS: Final = 1000
"""... and ages in milliseconds."""
_REQUEST: Final = FrameKind.REQUEST
_ARRAY_16, _ARRAY_32 = 16, 65_536


_UNREADABLE: Final = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


class MalformedFrame(MeteorError):
    """Bytes that are no frame of ours: truncated, of the wrong types, too deep, unknown names."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: the arguments of `chord.Exchange.receive`."""

    kind: FrameKind
    number: int
    duration_s: float
    message: object
    age_s: float | None = None
    """Of a request: how old its sender's end of the link was; one of before did not say so."""


class _Envelope(msgspec.Struct, array_like=True, frozen=True, gc=False):
    kind: FrameKind
    number: Annotated[int, msgspec.Meta(ge=0)]
    duration_us: Annotated[int, msgspec.Meta(ge=0)]
    name: Annotated[str, msgspec.Meta(max_length=64)] = ""
    body: msgspec.Raw = msgspec.Raw(_NIL)
    age_ms: Annotated[int, msgspec.Meta(ge=0)] | None = None

    @property
    def age_s(self) -> float | None:
        """How old the sender's end of the link was, if it says so."""
        return None if self.age_ms is None else self.age_ms / MS


class _Bare(msgspec.Struct, array_like=True, frozen=True, gc=False):
    name: Annotated[str, msgspec.Meta(max_length=64)]
    body: msgspec.Raw


_Envelopes = Annotated[list[_Envelope], msgspec.Meta(max_length=FRAMES_MAX)]


class Codec:
    """Encodes and decodes the messages of the given classes, told apart by their names.

    Values of the `lasting` ones among them are written again and again.  Raises `ValueError` if
    two classes have one name, `TypeError` when a class with a field that cannot travel is first
    used."""

    def __init__(self, types: Sequence[type], lasting: Sequence[type] = ()) -> None:
        self._kinds: dict[str, type] = {}
        for kind in types:
            if self._kinds.setdefault(kind.__name__, kind) is not kind:
                raise ValueError(f"two messages are called {kind.__name__}")
        self.table = PackerTable(lasting)
        self._packs: dict[type, tuple[str, Callable[[Any], Any] | None]] = {}
        self._unpacks: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {}
        self._latest: tuple[object, Any] = None, None
        """What was packed last, and its form: copies are sent one and the same message, one after
        the other.  Set in one step, as loops of several threads may share a codec."""
        self._encode = msgspec.msgpack.Encoder().encode
        self._bare = msgspec.msgpack.Decoder(_Bare).decode
        self._envelopes = msgspec.msgpack.Decoder(_Envelopes).decode

    @property
    def types(self) -> tuple[type, ...]:
        """The classes that this codec knows."""
        return tuple(self._kinds.values())

    # ---- single messages ---------------------------------------------------------------------

    def encode(self, message: object) -> bytes:
        """One message behind the version byte; raises as `encode_frame`."""
        return _VERSION + self._pack_up((), message)

    def decode(self, data: bytes) -> Any:
        """The message; raises `MalformedFrame` or `VersionMismatch`."""
        if data[:1] != _VERSION:
            _check_version(data)
        read = self._bare
        try:
            bare = read(memoryview(data)[1:])
        except _UNREADABLE as error:
            raise MalformedFrame(f"no frame of ours: {error}") from error
        return self.read(bare.name, bare.body)

    # ---- frames ------------------------------------------------------------------------------

    def encode_frame(
        self,
        kind: FrameKind,
        number: int,
        duration_s: float,
        message: object,
        age_s: float = 0.0,
    ) -> bytes:
        """One frame, to be put together by `join`; a request has the age of its sender's end.

        Raises `LimitExceeded` above `FRAME_BYTES_MAX`, `TypeError` for a class that is no message
        or a value that does not fit its hint's form."""
        duration_us = int(duration_s * US) if duration_s > 0 else 0
        if message is None:
            return self._encode((kind, number, duration_us))
        tail = (int(age_s * MS),) if kind is _REQUEST else ()
        return self._pack_up((kind, number, duration_us), message, tail)

    @staticmethod
    def join(frames: Sequence[bytes]) -> bytes:
        """Frames that travel as one, in order; at most `FRAMES_MAX`."""
        count = len(frames)
        if count == 1:
            return _ONE + frames[0]
        if count < _ARRAY_16:
            head = bytes((WIRE_VERSION, 0x90 | count))
        elif count < _ARRAY_32:
            head = b"%c\xdc%b" % (WIRE_VERSION, count.to_bytes(2, "big"))
        else:
            raise LimitExceeded("frames that travel as one", count, FRAMES_MAX)
        return b"".join((head, *frames))

    def split(self, data: bytes) -> list[_Envelope]:
        """The envelopes of what travelled as one; raises `MalformedFrame` or `VersionMismatch`."""
        if data[:1] != _VERSION:
            _check_version(data)
        read = self._envelopes
        try:
            envelopes: list[_Envelope] = read(memoryview(data)[1:])
        except _UNREADABLE as error:
            raise MalformedFrame(f"no frame of ours: {error}") from error
        return envelopes

    def open(self, envelope: _Envelope) -> Frame:
        """The frame in an envelope; raises `MalformedFrame`."""
        message = self.read(envelope.name, envelope.body) if envelope.name else None
        duration_s = envelope.duration_us / US
        return Frame(envelope.kind, envelope.number, duration_s, message, envelope.age_s)

    def read(self, name: str, body: msgspec.Raw) -> Any:
        """What is in an envelope that is not empty, which has no name; raises `MalformedFrame`."""
        try:
            decode, unpack = self._unpacks[name]
        except KeyError:
            decode, unpack = self._reader_of(name)
        try:
            mirror = decode(body)
        except _UNREADABLE as error:
            raise MalformedFrame(f"no frame of ours: {error}") from error
        try:
            return unpack(mirror)
        except (TypeError, ValueError) as error:
            raise MalformedFrame(f"{name}: {error}") from error

    def decode_frames(self, data: bytes) -> list[Frame]:
        """All frames at once; raises `MalformedFrame` or `VersionMismatch`."""
        return [self.open(envelope) for envelope in self.split(data)]

    # ---- parts -------------------------------------------------------------------------------

    def _pack_of(self, kind: type) -> tuple[str, Callable[[Any], Any] | None]:
        if self._kinds.get(kind.__name__) is not kind:
            raise TypeError(f"{kind.__name__} is not a message of this codec")
        found = self._packs[kind] = (kind.__name__, self.table.of_class(kind).pack)
        return found

    def _pack_up(
        self, head: tuple[Any, ...], message: object, tail: tuple[Any, ...] = ()
    ) -> bytes:
        kind = type(message)
        try:
            name, pack = self._packs[kind]
        except KeyError:
            name, pack = self._pack_of(kind)
        try:
            packed: Any = message
            if pack is not None:
                latest = self._latest
                if latest[0] is not message:
                    latest = self._latest = message, pack(message)
                packed = latest[1]
            data = self._encode((*head, name, packed, *tail))
        except (OverflowError, AttributeError, ValueError) as error:
            raise TypeError(f"{name} holds a value that cannot travel: {error}") from error
        if len(data) > FRAME_BYTES_MAX:
            raise LimitExceeded(f"bytes of a {name} frame", len(data), FRAME_BYTES_MAX)
        return data

    def _reader_of(self, name: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        kind = self._kinds.get(name)
        if kind is None:
            raise MalformedFrame(f"wire version {WIRE_VERSION} has no message called {name!r}")
        packer = self.table.of_class(kind)
        assert packer.unpack is not None
        decode = msgspec.msgpack.Decoder(packer.wire).decode
        found = self._unpacks[name] = (decode, packer.unpack)
        return found


def _check_version(data: bytes) -> None:
    if not data:
        raise MalformedFrame("an empty frame")
    if data[0] != WIRE_VERSION:
        raise VersionMismatch(
            f"the other side speaks wire version {data[0]}, this one {WIRE_VERSION}: "
            "upgrade the older of the two",
            ours=WIRE_VERSION,
            theirs=data[0],
        )


@cache
def wire_codec() -> Codec:
    """The codec of everything that Meteor's peers and clients say."""
    return Codec(
        (
            *chord.MESSAGES,
            *squid.MESSAGES,
            *client_messages.MESSAGES,
            *peer_messages.MESSAGES,
            *action_messages.MESSAGES,
            *copy_messages.MESSAGES,
            *entropy_messages.MESSAGES,
            *link_messages.MESSAGES,
        ),
        copy_messages.LASTING,
    )


def encode(message: object) -> bytes:
    """One message of Meteor's as bytes."""
    return wire_codec().encode(message)


def decode(data: bytes) -> Any:
    """One message of Meteor's from bytes; raises `MalformedFrame` or `VersionMismatch`."""
    return wire_codec().decode(data)
