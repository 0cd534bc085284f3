"""The doors of a peer: what reads bytes that strangers send, as far as one document goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from arms import LimitExceeded, MeteorError, Profile, ProfileIndex, parse_message
from meteor.admission import place, read_document
from meteor.rest.json_message import message_of_json
from meteor.wire.codec import wire_codec
from meteor.wire.document import unpack_profile
from squid import Choice, KeywordSpace, Number, Time, Word

SPACE: Final = KeywordSpace(
    "hostile",
    [
        Word("word"),
        Number("number", -10, 10),
        Choice("level", ("low", "middle", "high")),
        Word("wind/name", alphabet="abcxyz"),
        Number("wind/speed", 1, 64, scale="log"),
        Time("when", "2000-01-01T00:00:00Z", "2001-01-01T00:00:00Z"),
    ],
    bits=20,
    max_attributes=64,
)


def take(profile: Profile) -> None:
    """All that becomes of a profile at the peer that stores it: it is placed in both roles, kept
    in an index, and meets itself there."""
    typed = profile.typed(SPACE)
    for action in ("store", "retrieve"):
        try:
            place(typed, action, SPACE, everywhere=True)
        except MeteorError:
            continue
    index = ProfileIndex[int](scan_above=0)
    index.add(1, typed)
    index.match(typed)
    index.match_subject(typed)
    typed.contains_profile(typed, as_selector=True)
    typed.contains_profile(typed)
    typed.to_xml()


def text(data: bytes) -> None:
    """A selector text, as a client or a query string gives it."""
    take(Profile.parse(data.decode("utf-8", "surrogatepass"), SPACE))


def xml(data: bytes) -> None:
    """The report's message."""
    take(parse_message(data, space=SPACE).profile)


def document(data: bytes) -> None:
    """The document of a post."""
    if len(data) > DOCUMENT_BYTES_MAX:
        raise LimitExceeded("document bytes", len(data), DOCUMENT_BYTES_MAX)
    take(unpack_profile.__wrapped__(read_document(data).profile))


DOCUMENT_BYTES_MAX: Final = 4 * 1024 * 1024
"""No frame holds a larger one."""


def frames(data: bytes) -> None:
    """What comes over a link."""
    wire_codec().decode_frames(data)


def body(data: bytes) -> None:
    """A REST body in JSON."""
    take(message_of_json(data).profile.typed(SPACE))


DOORS: Final[dict[str, Callable[[bytes], None]]] = {
    "text": text,
    "xml": xml,
    "document": document,
    "frames": frames,
    "json": body,
}


def knock(door: str, data: bytes) -> str:
    """What comes of it: nothing, or the name of the typed error.  Any other exception is a bug."""
    try:
        DOORS[door](data)
    except UnicodeDecodeError:
        if door == "text":  # a text is decoded before it gets here
            return "UnicodeDecodeError"
        raise
    except MeteorError as error:
        str(error)
        return type(error).__name__
    return ""
