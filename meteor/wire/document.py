"""The document of a post: its immutable content, encoded once by the poster.

Law of this file: pure.  Peers keep and hand on the bytes; only who looks inside decodes them, and
whatever is malformed comes out as a `ProfileError` (DESIGN section 4).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from arms import Profile, ProfileError
from meteor.errors import LimitExceeded, MeteorError
from meteor.wire import codec
from meteor.wire.messages import Document

PROFILES_KEPT: Final = 1024
"""Profiles remembered in packed form: clients ask the same again and again, and every post is
looked at by several layers.  Profiles are immutable and at most a few KiB."""

PROFILE_BYTES_MAX: Final = 1 << 16
"""A packed profile; one of 4 KiB of text has less, whatever its characters become."""

REMEMBERED_BYTES_MAX: Final = 4096
"""Larger documents are read again each time: remembering them would keep their payloads."""


def pack_profile(profile: Profile) -> bytes:
    """A profile as it travels inside a document."""
    return msgspec.msgpack.encode(profile.pack())


@lru_cache(maxsize=PROFILES_KEPT)
def unpack_profile(packed: bytes) -> Profile:
    """The profile again; raises `ProfileError`, and `LimitExceeded` before looking into more than
    any profile takes."""
    if len(packed) > PROFILE_BYTES_MAX:
        raise LimitExceeded("profile bytes", len(packed), PROFILE_BYTES_MAX)
    try:
        return Profile.unpack(msgspec.msgpack.decode(packed))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ProfileError(f"a stored profile cannot be read: {error}") from error


def encode_document(document: Document) -> bytes:
    """The blob that is posted, stored and handed on."""
    return codec.encode(document)


class Wishes(NamedTuple):
    """How the poster of an interest wants to be told."""

    with_data: bool
    once: bool


def wishes_in(blob: bytes) -> Wishes:
    """What the document of an interest asks for; raises `ProfileError`."""
    return _wishes_remembered(blob) if len(blob) <= REMEMBERED_BYTES_MAX else _wishes(blob)


def _wishes(blob: bytes) -> Wishes:
    document = decode_document(blob)
    return Wishes(document.with_data, document.once)


_wishes_remembered: Final = lru_cache(maxsize=PROFILES_KEPT)(_wishes)


def without_data(blob: bytes) -> bytes:
    """The blob of the same document without its payload; raises `ProfileError`."""
    document = decode_document(blob)
    return encode_document(replace(document, data=b"")) if document.data else blob


def decode_document(blob: bytes) -> Document:
    """The content of a blob; raises `ProfileError` if it is none.

    The last few short ones are remembered: a post is looked at by its entry peer and where it is
    kept, and what several interests of a client are told of by each of them."""
    return _decoded_lately(blob) if len(blob) <= REMEMBERED_BYTES_MAX else _decode(blob)


def _decode(blob: bytes) -> Document:
    try:
        document = codec.decode(blob)
    except MeteorError as error:
        raise ProfileError(f"a stored document cannot be read: {error}") from error
    if not isinstance(document, Document):
        raise ProfileError(f"a stored document cannot be read: it is a {type(document).__name__}")
    return document


_decoded_lately: Final = lru_cache(maxsize=16)(_decode)
