"""Frames of WebSockets: beside aiohttp's reader and writer, in any pieces, and hostile ones."""

from __future__ import annotations

import asyncio
import gc

import pytest
from aiohttp import WSMsgType
from aiohttp._websocket.reader import WebSocketDataQueue, WebSocketReader
from aiohttp.base_protocol import BaseProtocol
from hypothesis import given
from hypothesis import strategies as st

from meteor.links.websocket_frames import (
    CONTROL_BYTES_MAX,
    BrokenFrame,
    CloseCode,
    Message,
    MessageReader,
    Opcode,
    close_frame,
    frame,
    unmasked,
)

BYTES_MAX = 1 << 20
KEY = b"\x01\x80\xff\x00"

payloads = st.one_of(
    st.binary(max_size=300),
    st.integers(0, 70_000).map(bytes),
)
controls = st.tuples(
    st.sampled_from([Opcode.PING, Opcode.PONG, Opcode.CLOSE]), st.binary(max_size=CONTROL_BYTES_MAX)
)
messages = st.lists(
    st.one_of(st.tuples(st.sampled_from([Opcode.BINARY, Opcode.TEXT]), payloads), controls),
    max_size=6,
)


def in_parts(opcode: int, payload: bytes, count: int) -> bytes:
    """A message in so many frames, as nobody of ours sends it."""
    size = len(payload) // count + 1
    parts = [payload[at : at + size] for at in range(0, max(len(payload), 1), size)]
    data = b""
    for number, part in enumerate(parts):
        one = frame(opcode if number == 0 else Opcode.CONTINUATION, part, masked=False)
        last = number == len(parts) - 1
        data += one if last else bytes((one[0] & 0x7F,)) + one[1:]
    return data


def masked_with(key: bytes, opcode: int, payload: bytes) -> bytes:
    """A frame as a browser sends it."""
    bare = frame(opcode, payload, masked=True)
    head = bare[: len(bare) - len(payload) - 4]
    return head + key + bytes(byte ^ key[at % 4] for at, byte in enumerate(payload))


def read_all(data: bytes, cuts: list[int], bytes_max: int = BYTES_MAX) -> list[Message]:
    """What a reader makes of bytes that come in pieces."""
    reader, found, at = MessageReader(bytes_max), [], 0
    for cut in [*sorted({cut % (len(data) + 1) for cut in cuts}), len(data)]:
        alone = reader.alone(data[at:cut])
        if alone is not None:
            found.append(Message(Opcode.BINARY, alone))
        else:
            reader.feed(data[at:cut])
        at = cut
        while (message := reader.next()) is not None:
            found.append(message)
    assert reader.waiting == 0
    return found


heads = st.sampled_from([b"\x82", b"\x02", b"\x81", b"\x89", b"\xc2"])
lengths = st.sampled_from([
    b"\x03", b"\x7d", b"\x7e\x00\x03", b"\x7e\x01\x00", b"\x7f" + bytes(7) + b"\x03",
    b"\x83" + bytes(4), b"\x83abcd", b"\xfe\x00\x03" + bytes(4),
])  # fmt: skip


@given(heads, lengths, st.one_of(st.just(b"abc"), st.binary(max_size=300)), st.booleans())
def test_what_comes_alone_is_what_a_reader_makes_of_it(
    head: bytes, length: bytes, rest: bytes, within: bool
) -> None:
    data = head + length + rest
    before = b"\x02\x01a" if within else b""
    quick, slow = MessageReader(200), MessageReader(200)
    for reader in (quick, slow):
        reader.feed(before)
        assert reader.next() is None
    alone = quick.alone(data)
    if alone is not None:
        slow.feed(data)
        assert slow.next() == Message(Opcode.BINARY, alone)
        assert (slow.next(), slow.waiting) == (None, 0)


@given(payloads, st.booleans())
def test_a_message_that_comes_alone_is_seen_to(payload: bytes, masked: bool) -> None:
    whole = frame(Opcode.BINARY, payload, masked=masked)
    quick = MessageReader(BYTES_MAX).alone(whole)
    assert quick == (payload if len(payload) < 1 << 16 else None)


@given(messages, st.lists(st.integers(0, 1 << 20), max_size=5), st.data())
def test_what_is_written_in_whatever_form_is_read_in_whatever_pieces(
    sent: list[tuple[Opcode, bytes]], cuts: list[int], data: st.DataObject
) -> None:
    wire = b""
    for opcode, payload in sent:
        form = data.draw(st.sampled_from(["bare", "masked", "browser", "parts"]))
        if form == "parts" and opcode < Opcode.CLOSE:
            wire += in_parts(opcode, payload, data.draw(st.integers(1, 4)))
        elif form == "browser":
            wire += masked_with(KEY, opcode, payload)
        else:
            wire += frame(opcode, payload, masked=form == "masked")
    assert read_all(wire, cuts) == [Message(*one) for one in sent]


@given(st.lists(payloads, max_size=4), st.booleans())
def test_aiohttp_reads_what_is_written_here(sent: list[bytes], masked: bool) -> None:
    loop = asyncio.new_event_loop()
    try:
        queue = WebSocketDataQueue(BaseProtocol(loop), 1 << 22, loop=loop)
        reader = WebSocketReader(queue, BYTES_MAX, compress=False, decode_text=True)
        for payload in sent:
            reader.feed_data(frame(Opcode.BINARY, payload, masked=masked))
        reader.feed_data(close_frame(CloseCode.PROTOCOL_ERROR, masked=masked))
        found = [one[0] for one in queue._buffer]
    finally:
        loop.close()
    assert [message.data for message in found[:-1]] == sent
    assert (found[-1].type, found[-1].data) == (WSMsgType.CLOSE, CloseCode.PROTOCOL_ERROR)


@given(st.binary(max_size=2000), st.binary(min_size=4, max_size=4))
def test_a_mask_is_taken_off_byte_by_byte(payload: bytes, key: bytes) -> None:
    assert unmasked(payload, key) == bytes(b ^ key[at % 4] for at, b in enumerate(payload))


@pytest.mark.parametrize("bad", [
    b"\xc2\x00",                                # a reserved bit
    b"\x09\x00",                                # a ping in parts
    b"\x89\x7e\x00\x7e",                        # a ping that is too long
    b"\x80\x00",                                # the end of nothing
    b"\x02\x01a\x82\x01b",                      # a message within a message
    b"\x82\x7e\x04\x01",                        # too long, as it says before it has come
    b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x02\x7e\x02\x00" + bytes(512) + b"\x00\x7e\x02\x01",
])  # fmt: skip
def test_what_may_not_come_is_refused(bad: bytes) -> None:
    with pytest.raises(BrokenFrame):
        read_all(bad, [], bytes_max=1024)


def test_who_sends_too_much_is_told_so() -> None:
    with pytest.raises(BrokenFrame, match="longer than 1024 bytes") as caught:
        read_all(frame(Opcode.BINARY, bytes(1025), masked=False), [], bytes_max=1024)
    assert caught.value.code == CloseCode.TOO_LONG


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=3))
def test_whatever_bytes_come_nothing_else_is_raised_and_little_is_kept(
    noise: bytes, cuts: list[int]
) -> None:
    reader, at = MessageReader(100), 0
    for cut in [*sorted({cut % (len(noise) + 1) for cut in cuts}), len(noise)]:
        reader.feed(noise[at:cut])
        at = cut
        try:
            while (message := reader.next()) is not None:
                assert len(message.payload) <= max(100, CONTROL_BYTES_MAX)
        except BrokenFrame:
            return
    assert reader.waiting <= max(100, CONTROL_BYTES_MAX) + 14


def test_a_large_message_that_was_given_out_is_not_kept() -> None:
    """Each link kept the largest that had come by it, as what comes after is mostly small and
    alone: four megabytes a client, for as long as he stays."""
    reader, data = MessageReader(1 << 22), frame(Opcode.BINARY, bytes(1 << 20), masked=True)
    for start in range(0, len(data), 1 << 16):
        reader.feed(data[start : start + (1 << 16)])
    message = reader.next()
    assert message is not None
    assert len(message.payload) == 1 << 20
    assert reader.alone(frame(Opcode.BINARY, b"small", masked=True)) == b"small"
    kept = [one for one in gc.get_referents(reader) if isinstance(one, bytes | bytearray)]
    assert sum(map(len, kept)) == 0
