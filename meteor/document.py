"""The document of a post: its immutable content, encoded once by the poster.

Law of this file: pure.  Peers keep and hand on the bytes; only who looks inside decodes them, and
whatever is malformed comes out as a `ProfileError` (DESIGN section 4).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec

from arms import Profile, ProfileError
from meteor import codec
from meteor.errors import MeteorError
from meteor.messages import Document

PROFILES_KEPT: Final = 1024
"""Profiles remembered in packed form: clients ask the same again and again, and every post is
looked at by several layers.  Profiles are immutable and at most a few KiB."""


def pack_profile(profile: Profile) -> bytes:
    """A profile as it travels inside a document."""
    return msgspec.msgpack.encode(profile.pack())


@lru_cache(maxsize=PROFILES_KEPT)
def unpack_profile(packed: bytes) -> Profile:
    """The profile again; raises `ProfileError`."""
    try:
        return Profile.unpack(msgspec.msgpack.decode(packed))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ProfileError(f"a stored profile cannot be read: {error}") from error


def encode_document(document: Document) -> bytes:
    """The blob that is posted, stored and handed on."""
    return codec.encode(document)


def decode_document(blob: bytes) -> Document:
    """The content of a blob; raises `ProfileError` if it is none."""
    try:
        document = codec.decode(blob)
    except MeteorError as error:
        raise ProfileError(f"a stored document cannot be read: {error}") from error
    if not isinstance(document, Document):
        raise ProfileError(f"a stored document cannot be read: it is a {type(document).__name__}")
    return document
