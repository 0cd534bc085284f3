"""Whatever is a message comes through the codec unchanged; whatever is not is refused, typed."""

from __future__ import annotations

import dataclasses
import types
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chord import Contact, FrameKind, WideInt
from meteor.errors import LimitExceeded, VersionMismatch
from meteor.wire import codec as codec_module
from meteor.wire.codec import (
    FRAMES_MAX,
    WIRE_VERSION,
    Codec,
    MalformedFrame,
    decode,
    encode,
    wire_codec,
)
from meteor.wire.copy_messages import Ended, View, ViewsNote
from meteor.wire.packers import COUNT_MAX, WIDE_BYTES_MAX

ALL_MESSAGES = sorted(wire_codec().types, key=lambda kind: kind.__name__)


@dataclass(frozen=True, slots=True)
class Inner:
    number: int
    wide: WideInt


@dataclass(frozen=True, slots=True)
class Everything:
    """One field of every form that may travel."""

    flag: bool
    number: int
    real: float
    text: str
    raw: bytes
    wide: WideInt
    contact: Contact
    numbers: tuple[int, ...]
    inners: tuple[Inner, ...]
    pair: tuple[str, WideInt]
    maybe: int | None
    maybe_wide: WideInt | None
    maybe_inner: Inner | None
    nested: tuple[tuple[WideInt, WideInt], ...] = ()
    inner: Inner = Inner(1, 1 << 100)


@dataclass(frozen=True, slots=True)
class Empty:
    pass


@dataclass(frozen=True, slots=True)
class Single:
    only: tuple[Inner, ...]


@dataclass(frozen=True, slots=True)
class Positive:
    """A value whose own check refuses what msgspec lets through."""

    number: int

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError("must not be negative")


CODEC = Codec((Everything, Empty, Single, Positive))


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Legal values of a field's type, drawn from the type alone: the packers' dumb twin."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated and "few" in args[1:]:
        return values(args[0])
    if origin is Annotated:
        return st.integers(0, (1 << 8 * WIDE_BYTES_MAX) - 1)
    if dataclasses.is_dataclass(hint):
        return messages(hint)  # type: ignore[arg-type]
    if origin in (Union, types.UnionType):
        return st.one_of([values(arg) for arg in args])
    if origin is tuple and args[-1] is Ellipsis:
        return st.lists(values(args[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*[values(arg) for arg in args])
    return {
        bool: st.booleans(),
        int: st.integers(-(2**63), 2**63 - 1),
        float: st.floats(allow_nan=False),
        str: st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        bytes: st.binary(max_size=20),
        type(None): st.none(),
    }[hint]


def messages(kind: type) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind, include_extras=True)
    fields = [values(hints[field.name]) for field in dataclasses.fields(kind)]
    return st.builds(kind, *fields)


@given(st.one_of([messages(kind) for kind in ALL_MESSAGES]))
def test_every_message_of_meteor_comes_back_as_it_was(message: object) -> None:
    assert decode(encode(message)) == message


@pytest.mark.parametrize("kind", ALL_MESSAGES)
def test_every_message_class_has_only_fields_that_can_travel(kind: type) -> None:
    assert wire_codec().table.of_class(kind).wire is not None


@given(st.one_of(messages(Everything), messages(Single), st.just(Empty())))
def test_every_form_of_field_comes_back_as_it_was(message: object) -> None:
    back = CODEC.decode(CODEC.encode(message))
    assert back == message
    assert type(back) is type(message)


@settings(max_examples=10)  # what is drawn is large
@given(messages(ViewsNote))
def test_what_lasts_is_written_as_all_else(note: ViewsNote) -> None:
    plain = Codec((ViewsNote, View, Ended))
    for message in (note, *note.own, *note.taken_in):
        assert encode(message) == encode(message) == plain.encode(message)
    assert decode(encode(note)) == note


frames = st.tuples(
    st.sampled_from(FrameKind),
    st.integers(0, 2**62),
    st.floats(0, 1e6),
    st.one_of(st.none(), messages(Single), messages(Everything)),
    st.floats(0, 1e6),
)


@given(st.lists(frames, max_size=40))
def test_frames_travel_together_in_order(drawn: list[Any]) -> None:
    data = CODEC.join([CODEC.encode_frame(*frame) for frame in drawn])
    back = CODEC.decode_frames(data)
    assert [(f.kind, f.number, f.message) for f in back] == [(k, n, m) for k, n, _, m, _ in drawn]
    for frame, (kind, _, duration_s, message, age_s) in zip(back, drawn, strict=True):
        assert 0 <= duration_s - frame.duration_s < 2e-6 + duration_s * 1e-9
        if kind is FrameKind.REQUEST and message is not None:
            assert frame.age_s is not None
            assert 0 <= age_s - frame.age_s < 1.1e-3
        else:
            assert frame.age_s is None


def test_a_request_of_before_says_no_age() -> None:
    before = msgspec.msgpack.encode([(0, 7, 1_000_000, "Empty", [])])
    (frame,) = CODEC.decode_frames(bytes((WIRE_VERSION,)) + before)
    assert (frame.number, frame.message, frame.age_s) == (7, Empty(), None)


def test_many_frames_travel_together() -> None:
    frame = CODEC.encode_frame(FrameKind.SEND, 0, 0.0, Empty())
    assert len(CODEC.decode_frames(CODEC.join([frame] * FRAMES_MAX))) == FRAMES_MAX
    with pytest.raises(LimitExceeded):
        CODEC.join([frame] * 70_000)
    with pytest.raises(MalformedFrame):
        CODEC.decode_frames(CODEC.join([frame] * (FRAMES_MAX + 1)))


def only_typed_errors(data: bytes) -> None:
    for take in (CODEC.decode, CODEC.decode_frames, decode, wire_codec().decode_frames):
        try:
            take(data)
        except (MalformedFrame, VersionMismatch):
            continue


@given(st.binary(max_size=200))
@example(b"")
@example(b"\x01")
@example(b"\x01" + b"\x91" * 100_000)
@example(b"\x01" + b"\x81" * 100_000)
@example(b"\x01\xdd\xff\xff\xff\xff")
@example(b"\x01\xc6\xff\xff\xff\xff")
@example(b"\x01\x92\xa5Empty" + b"\x91" * 100_000)
@example(b"\x01\x91\x95\x00\x00\x00\xa5Empty" + b"\x91" * 100_000)
def test_random_bytes_bring_only_the_typed_errors(data: bytes) -> None:
    only_typed_errors(data)
    only_typed_errors(b"\x01" + data)


@given(messages(Everything), st.data())
def test_damaged_messages_bring_only_the_typed_errors(message: object, data: st.DataObject) -> None:
    good = bytearray(CODEC.join([CODEC.encode_frame(FrameKind.REQUEST, 1, 1.0, message)]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(good) - 1))
        if data.draw(st.booleans()):
            good[at] = data.draw(st.integers(0, 255))
        else:
            del good[at:]
            break
        if not good:
            break
    only_typed_errors(bytes(good))


def test_another_wire_version_is_named() -> None:
    data = b"\x07" + CODEC.encode(Empty())[1:]
    with pytest.raises(VersionMismatch, match="version 7") as caught:
        CODEC.decode(data)
    assert (caught.value.ours, caught.value.theirs) == (1, 7)


def test_an_unknown_name_is_refused_before_its_body_is_looked_at() -> None:
    data = b"\x01" + msgspec.msgpack.encode(["Nobody", msgspec.Raw(b"\xc1 no msgpack")])
    with pytest.raises(MalformedFrame):
        CODEC.decode(data)
    with pytest.raises(MalformedFrame, match="no message called 'Everything'"):
        decode(CODEC.encode(Everything(*_EVERYTHING)))


_EVERYTHING = (True, 1, 1.0, "", b"", 1, Contact(1, "a"), (), (), ("", 1), None, None, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (0, 1), (1, True), (1, "1"), (1, 1.5), (2, "1.0"), (3, b"bytes"), (4, "text"), (5, "wide"),
        (5, b"\x00" * (WIDE_BYTES_MAX + 1)), (6, [1, 2]), (6, None), (7, 3), (7, ["a"]),
        (7, [0] * (COUNT_MAX + 1)), (8, [[1]]), (9, ["a"]), (9, ["a", b"", b""]), (10, "1"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_size_or_count_is_refused(field: int, value: object) -> None:
    good = CODEC.encode(Everything(*_EVERYTHING))
    name, body = msgspec.msgpack.decode(good[1:])
    body[field] = value
    with pytest.raises(MalformedFrame):
        CODEC.decode(b"\x01" + msgspec.msgpack.encode([name, body]))


def test_newer_fields_are_passed_over_and_older_senders_get_defaults() -> None:
    message = Everything(*_EVERYTHING)
    name, body = msgspec.msgpack.decode(CODEC.encode(message)[1:])
    longer = b"\x01" + msgspec.msgpack.encode([name, [*body, "a field of tomorrow"]])
    shorter = b"\x01" + msgspec.msgpack.encode([name, body[:-2]])
    assert CODEC.decode(longer) == message
    assert CODEC.decode(shorter) == message
    with pytest.raises(MalformedFrame):
        CODEC.decode(b"\x01" + msgspec.msgpack.encode([name, body[:-3]]))


def test_what_a_message_itself_refuses_is_malformed() -> None:
    data = CODEC.encode(Positive(1)).replace(b"\x91\x01", b"\x91\xff")
    with pytest.raises(MalformedFrame, match="must not be negative"):
        CODEC.decode(data)


@pytest.mark.parametrize(
    "message",
    [
        Single((Inner(2**64, 1),)),
        Single((Inner(1, -1),)),
        Single((None,)),  # type: ignore[arg-type]
        Single((Inner(1, 1 << 8 * WIDE_BYTES_MAX),)),
        "no message",
        Inner(1, 1),
    ],
)
def test_what_cannot_travel_is_a_bug_of_the_sender(message: object) -> None:
    with pytest.raises(TypeError):
        CODEC.encode(message)


def test_a_frame_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec_module, "FRAME_BYTES_MAX", 100)
    with pytest.raises(LimitExceeded) as caught:
        CODEC.encode(Everything(*_EVERYTHING[:4], b"x" * 100, *_EVERYTHING[5:]))
    assert caught.value.limit == 100


def test_a_class_with_a_field_that_cannot_travel_is_named() -> None:
    @dataclass(frozen=True)
    class Wrong:
        mapping: dict  # type: ignore[type-arg]

    with pytest.raises(TypeError, match="Wrong"):
        Codec((Wrong,)).encode(Wrong({}))


def test_two_classes_of_one_name_are_refused() -> None:
    other = dataclasses.make_dataclass("Empty", [])
    with pytest.raises(ValueError, match="Empty"):
        Codec((Empty, other))
