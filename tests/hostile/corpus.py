"""Documents made to be dear: the worst that was found for every door, by name.

Whoever finds a worse one adds it here; the tests count what each costs, the benchmark times it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from arms import Profile
from chord import Contact, FrameKind
from meteor.wire.codec import FRAME_BYTES_MAX, wire_codec
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Acknowledge, Document, Farewell, Post
from tests.hostile.doors import SPACE

MARKS = "\u0301\u0327"
"""Combining marks of two classes: to be sorted by normalisation."""


def nested(levels: int, name: str, inner: str) -> str:
    for _ in range(levels):
        inner = f"{name}({inner})"
    return inner


def texts() -> Iterator[tuple[str, str]]:
    yield "many names", " ".join(["zz"] * 1300)
    yield "many comparisons of one name", " ".join(["a>1"] * 1000)
    yield "many comparisons", " ".join(f"a{at}>1" for at in range(600))
    yield "many steps of one name", " ".join(f"a/b{at}=1" for at in range(400))
    yield "many bars", "|".join(["a=1"] * 1000)
    yield "opening parentheses", "(" * 4096
    yield "slashes", "a/" * 2040 + "a"
    yield "stars", "a=" + "*" * 4000
    yield "dots", "a=" + "1." * 2040
    yield "hyphens", "a=" + "1-" * 2040 + "1"
    yield "exponents", "a=" + "1e" * 2040
    yield "units", "a=1" + "b1" * 1000 + "/" + "c" * 1000 + "-"
    yield "digits", "number=" + "9" * 4000
    yield "a huge exponent", "number=1e999999999"
    yield "marks", f'word="{MARKS * 1000}"'
    yield "marks in a name", f"a{MARKS * 1000}=1"
    yield "characters that fold to three", 'word="' + "\u0390" * 2000 + '"'
    yield "words that name no dimension", 'a="' + "b " * 2000 + '"'
    yield "names near to dimensions", " ".join(f"numbr{at}" for at in range(64))
    yield "a tuple", "(" + ",".join(["a"] * 2000) + ")"
    yield "a time", "when=2000-01-01T" + "0" * 4000
    yield "alternatives", " ".join("(x=1 | y=2)" for _ in range(21))
    yield "alternatives anywhere", " ".join("(//x=1 | //y=2)" for _ in range(21))
    yield "256 alternatives", " ".join("(x=1 | x=2 | x=3 | x=4)" for _ in range(4)) + " x=1..9" * 40
    yield "one of many", " | ".join(f"x={at}" for at in range(64))
    yield "as many as may be", " ".join(f"x{at}={at}" for at in range(64))
    yield "as many anywhere", " ".join(f"//x{at}=9" for at in range(64))
    yield "a chain anywhere", "//" + "//".join(["x"] * 15) + "=1"
    yield "bushes", " ".join(f"x(x(x(x={at})))" for at in range(16))
    yield "bushes anywhere", " ".join(f"//x(//x(//x(//x={100 + at})))" for at in range(16))
    yield "deep", nested(14, "x", " ".join(f"(x={at})" for at in range(20)))


def _message(
    profile: bytes = b'<word value="a"/>', behind: bytes = b"", data: bytes = b""
) -> bytes:
    return (
        b"<message><header><profile>" + profile + b"</profile>" + behind
        + b"</header><action>store</action>" + data + b"</message>"
    )  # fmt: skip


def xmls() -> Iterator[tuple[str, bytes]]:
    room = 65_000
    for name, text in texts():
        try:
            profile = Profile.parse(text).to_xml()
        except ValueError:
            continue
        yield name, _message(profile[len(b"<profile>") : -len(b"</profile>")])
    yield "elements", _message(b"<a/>" * 980)
    yield "attributes", _message(b'<a value="1" operator="=" type="word"/>' * 300)
    yield (
        "claims",
        _message(
            behind=b"<credentials " + b" ".join(b'a%d="x"' % at for at in range(1900)) + b"/>"
        ),
    )
    yield "a context", _message(behind=b"<context>" + b"<a>b</a>" * 900 + b"</context>")
    yield "a value", _message(b'<a value="' + b"1-" * (room // 2) + b'"/>')
    yield "marks in a value", _message(b'<word min="' + (MARKS * (room // 4)).encode() + b'"/>')
    yield "a name", _message(b"<" + b"a." * (room // 4) + b"/>")
    yield "blanks in an action", _message().replace(b"store", b"a" + b" " * room + b"x")
    yield "comments", _message(data=b"<!-- -->" * (room // 9))
    yield "instructions", _message(data=b"<?a b?>" * (room // 8))
    yield "a payload of elements", _message(data=b"<payload>" + b"<a/>" * 900 + b"</payload>")
    yield (
        "namespaces",
        _message(
            data=b"<payload>"
            + b"".join(b'<a xmlns:n%d="u"/>' % at for at in range(900))
            + b"</payload>"
        ),
    )
    yield "base64", _message(data=b'<payload encoding="base64">' + b"QUFB" * 15_000 + b"</payload>")
    yield (
        "no base64",
        _message(data=b'<payload encoding="base64">' + b"= " * 30_000 + b"</payload>"),
    )
    yield "unclosed", b"<a>" * (room // 3)
    yield "one attribute again and again", b"<message " + b'a="1" ' * 9000 + b"/>"


def documents() -> Iterator[tuple[str, bytes]]:
    plain = pack_profile(Profile.parse("word=a number=1", SPACE))
    pairs = tuple((str(at), "x") for at in range(60_000))
    for name, text in texts():
        try:
            packed = pack_profile(Profile.parse(text, SPACE))
        except ValueError:
            continue
        yield name, encode_document(Document("store", packed))
    yield (
        "context and claims",
        encode_document(
            Document("store", plain, context=pairs, claims=pairs, visible_to=tuple("k" * 60_000))
        ),
    )
    yield "an action", encode_document(Document("store" * 200_000, plain))
    yield "an action near to ours", encode_document(Document("notify_dat" + "a" * 54, plain))
    yield "a payload", encode_document(Document("store", plain, data=b"x" * 1_000_000))
    branches = [["a", 0]] * 300_000
    for size in (5_000, 300_000):
        packed = msgspec.msgpack.encode(["x", b"", ["", 0, branches[:size]]])
        yield f"a profile of {size} elements", encode_document(Document("store", packed))
    nothing = msgspec.msgpack.encode(["x", b"", ["", 0, [["x", 4]]]])
    yield "a choice of nothing", encode_document(Document("store", nothing))
    yield "a deep profile", encode_document(Document("store", b"\x91" * 60_000))


def frames() -> Iterator[tuple[str, bytes]]:
    codec, first = wire_codec(), next(iter(FrameKind))
    head = bytes((1, 0x91, 0x95, 1, 1, 1)) + b"\xa8Farewell"

    def one(message: object) -> bytes:
        return codec.encode_frame(first, 1, 0.0, message)

    small = encode_document(Document("store", pack_profile(Profile.parse("word=a", SPACE)), b"x"))
    yield "a small post", codec.join([one(Post(1, small, "s", 1, 1.0, 1.0)), one(Farewell("x"))])
    yield "many", codec.join([one(Farewell("x"))] * 4095)
    yield "many of nothing", bytes((1, 0xDD, 0, 0x0F, 0xFF, 0xFF)) + b"\x90" * 4_000_000
    yield "nested", b"\x01" + b"\x91" * 4_000_000
    yield "a map", head + b"\x91\xdf\x00\x0f\xff\xff" + b"\x01\x01" * 1_048_575
    yield "an array", head + b"\xdd\x00\x3f\x00\x00" + b"\x01" * 0x3F0000
    yield (
        "acknowledgements",
        codec.join([one(Acknowledge("i", tuple(map(str, range(60_000))), Contact(1, "a:1")))]),
    )
    yield "a post", codec.join([one(Post(1, b"x" * 1_000_000, "s", 1, 1.0, 1.0))])
    assert FRAME_BYTES_MAX >= 4_000_000


def bodies() -> Iterator[tuple[str, bytes]]:
    room = 1_050_000
    for name, text in texts():
        yield name, msgspec.json.encode({"profile": text})
    yield "fields", b"{" + b",".join(b'"%d":1' % at for at in range(90_000)) + b"}"
    yield "one field again and again", b"{" + b",".join([b'"id":""'] * 130_000) + b"}"
    yield "brackets", b"[" * room
    yield "zeros", b"[" + b"0," * (room // 2) + b"0]"
    context = b",".join(b'"%d":""' % at for at in range(80_000))
    yield "a context", b'{"profile":"word=a","context":{' + context + b"}}"
    yield "lists", b'{"profile":"word=a","context":[' + b"[]," * (room // 3) + b"0]}"
    yield "digits", b'{"ttl":' + b"9" * room + b"}"
    yield "escapes", b'{"profile":"' + b"\\u0041" * (room // 6) + b'"}'
    yield "base64", b'{"profile":"word=a","data_base64":"' + b"QUFB" * (room // 4) + b'"}'
    small = b'{"profile":"word=a","context":{' + context[:60_000].rpartition(b",")[0] + b"}}"
    yield "a context just below the limit", small


def everything() -> list[tuple[str, str, bytes]]:
    """Door, name and document."""
    found = [("text", name, text.encode()) for name, text in texts()]
    found += [("xml", name, data) for name, data in xmls()]
    found += [("document", name, data) for name, data in documents()]
    found += [("frames", name, data) for name, data in frames()]
    return found + [("json", name, data) for name, data in bodies()]
