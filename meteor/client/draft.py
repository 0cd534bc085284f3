"""A post as its client prepares it: validated, typed by the space, encoded once.

Law of this file: pure.  Whatever is wrong with a post is found here, before anything is sent, and
raised as the caller's error: selector text, types, limits, lifetimes, actions, ids (SPEC sections
1, 2 and 4).  A draft never changes; a retry sends the same stem and version again, so a post that
arrives twice counts once.
"""

from __future__ import annotations

import json as json_text
import warnings
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from types import EllipsisType
from typing import Any, Final

from arms import ACTIONS, Profile, any_action
from chord import dataclass
from meteor.admission import CONTENT_TYPE_LENGTH_MAX, PAYLOAD_BYTES_MAX, place_packed
from meteor.client.config import ClientConfig
from meteor.errors import LimitExceeded, UnknownAction
from meteor.lifetimes import checked_ttl_s
from meteor.wire.document import (
    PROFILES_KEPT,
    decode_document,
    encode_document,
    pack_profile,
    unpack_profile,
)
from meteor.wire.messages import Document, Found
from meteor.wire.record_id import split_id
from meteor.wrong_values import SAID_MAX, checked_truth, said
from squid import Box, KeywordSpace, plain_text

ProfileLike = str | Profile | Mapping[str, Any]
"""What every verb takes as a profile: text, a `Profile`, or a mapping of plain values."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a post carries beside its profile and action."""

    data: bytes = b""
    content_type: str = ""
    context: tuple[tuple[str, str], ...] = ()
    with_data: bool = True
    """Of an interest: whether its notices are to bring what was posted, or only say that it is."""
    once: bool = False
    """Of an interest: whether it is over with the first notice."""
    visible_to: tuple[str, ...] = ()
    """Keys and groups that may know of it besides its owner; empty: everybody."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A validated post."""

    action: str
    profile: Profile
    document: bytes
    stem: str
    """The identity; with the region it makes the full id."""
    region: Box
    version: int
    ttl_s: float
    everywhere: bool = False
    mode: str = "within"
    dry_run: bool = False
    once: bool = False

    def __str__(self) -> str:
        text = str(self.profile)
        return f"{self.action} of ({text if len(text) <= 80 else text[:77] + '...'})"


def warn_unused(draft: Draft) -> None:
    """Say that a post was prepared and never carried out, as Python does of coroutines."""
    cure = "nothing was asked; await it, iterate over it or call all()"
    warnings.warn(f"the {draft} was never awaited: {cure}", RuntimeWarning, stacklevel=3)


@lru_cache(maxsize=PROFILES_KEPT)
def _parsed(text: str, space: KeywordSpace) -> Profile:
    """Texts are asked again and again; what cannot be read is not remembered."""
    return Profile.parse(text, space)


def typed_profile(profile: ProfileLike, space: KeywordSpace) -> Profile:
    """The profile with the types that the space declares.

    Raises `SelectorError`, `ProfileError`, `TypeMismatch` and `LimitExceeded`."""
    if isinstance(profile, str):
        return _parsed(profile, space)
    if isinstance(profile, Profile):
        return profile.typed(space)
    if not isinstance(profile, Mapping):
        raise TypeError(
            f"a profile is text, a meteor.Profile or a mapping, not {type(profile).__name__}"
        )
    return Profile.from_mapping(profile, space)


def _prepare(
    profile: ProfileLike, action: str, everywhere: bool, space: KeywordSpace
) -> tuple[Profile, Box, bytes]:
    """The profile with its types, where it lives, and as it travels; raises what is wrong."""
    typed = typed_profile(profile, space)
    packed = pack_profile(typed)
    return typed, place_packed(packed, action, space, everywhere=everywhere), packed


_prepared: Final = lru_cache(maxsize=PROFILES_KEPT)(_prepare)
"""The same of a text: a sensor posts one again and again."""


def checked_content(
    data: bytes | str,
    json: object,
    content_type: str | None,
    context: Mapping[str, str] | None,
    config: ClientConfig,
) -> Content:
    """The payload as bytes with its type: text is UTF-8, objects only by `json`.

    Raises `LimitExceeded` for too large a payload, `TypeError` for anything but bytes or text,
    and `ValueError` for both kinds at once, what JSON cannot say or a type that is none."""
    kind = checked_content_type(content_type)
    if not isinstance(json, EllipsisType):
        is_payload = isinstance(data, str | bytes | bytearray | memoryview)
        if data is not None and not (is_payload and len(data) == 0):
            raise ValueError("json: give either data or json, not both")
        raw = _as_json(json)
        kind = kind or "application/json"
    elif isinstance(data, str):
        raw, kind = _encoded("data", data), kind or "text/plain; charset=utf-8"
    elif isinstance(data, bytes | bytearray | memoryview):
        raw = bytes(data)
    else:
        raise TypeError(f"data is bytes or text, not {type(data).__name__}; give objects by json=")
    if len(raw) > PAYLOAD_BYTES_MAX:
        raise LimitExceeded("data bytes", len(raw), PAYLOAD_BYTES_MAX)
    return Content(raw, kind, () if context is None else _pairs(context, config))


def checked_content_type(content_type: str | None) -> str:
    """The type as plain text, empty for none; raises `TypeError`, `ValueError`, `LimitExceeded`."""
    if content_type is None:
        return ""
    if not isinstance(content_type, str):
        raise TypeError(f"content_type is text, not {said(content_type)}: image/png")
    if len(content_type) > CONTENT_TYPE_LENGTH_MAX:
        raise LimitExceeded("content_type characters", len(content_type), CONTENT_TYPE_LENGTH_MAX)
    _encoded("content_type", content_type)
    return plain_text(content_type)


def _as_json(json: object) -> bytes:
    try:
        text = json_text.dumps(json, ensure_ascii=False, allow_nan=False)
    except RecursionError:
        raise ValueError("json: it is nested too deeply; give less, or data=") from None
    except TypeError as error:
        raise TypeError(f"json: {error}") from error
    except ValueError as error:
        raise ValueError(f"json: {error}") from error
    return _encoded("json", text)


def _encoded(name: str, text: str) -> bytes:
    """The text in UTF-8; raises `ValueError` for half a character, which has no bytes."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        half = text[error.start : error.end]
        raise ValueError(f"{name}: {said(half)} is half a character; give whole ones") from None


def _pairs(context: Mapping[str, str], config: ClientConfig) -> tuple[tuple[str, str], ...]:
    if not isinstance(context, Mapping):
        raise TypeError(f"context is a mapping of text to text, not {type(context).__name__}")
    pairs = tuple((_as_text(name), _as_text(value)) for name, value in context.items())
    length = sum(len(name) + len(value) for name, value in pairs)
    if length > config.context_length_max:
        raise LimitExceeded("context characters", length, config.context_length_max)
    for text in chain.from_iterable(pairs):
        _encoded("context", text)
    return pairs


def _as_text(value: object) -> str:
    """Text of any kind as it reads, whatever else as it is written."""
    return plain_text(value) if isinstance(value, str) else str(value)


def checked_action(action: str) -> str:
    """The action's name as plain text; raises `UnknownAction`."""
    if not isinstance(action, str) or len(action) > SAID_MAX:
        raise UnknownAction(said(action), tuple(ACTIONS))
    any_action(action)
    return plain_text(action)


def make_draft(
    profile: ProfileLike,
    action: str,
    space: KeywordSpace,
    *,
    stem: str,
    version: int,
    content: Content,
    ttl: float | None,
    everywhere: bool = False,
    mode: str = "within",
    dry_run: bool = False,
) -> Draft:
    """The post, ready to be sent; raises what is wrong with it.

    Text and truth of a kind of its own, as numpy's, become plain ones: no other ones can travel,
    and of a post by the peer in which its client lives only that peer would find out."""
    action = checked_action(action)
    everywhere = checked_truth("everywhere", everywhere)
    if not (isinstance(mode, str) and mode in {"within", "overlap"}):
        raise ValueError(f"mode is 'within' or 'overlap', not {said(mode)}")
    lifetime_s = checked_ttl_s(action, ttl)
    if lifetime_s > 0 and action not in ACTIONS:
        raise ValueError(f"ttl: {action!r} is an application's action, run once and not kept")
    prepare = _prepared if isinstance(profile, str) else _prepare
    typed, region, packed = prepare(profile, action, everywhere, space)
    document = Document(
        action,
        packed,
        content.data,
        content.content_type,
        content.context,
        with_data=content.with_data,
        once=content.once,
        visible_to=content.visible_to,
    )
    return Draft(
        action=action,
        profile=typed,
        document=encode_document(document),
        stem=plain_text(stem),
        region=region,
        version=version,
        ttl_s=lifetime_s,
        everywhere=everywhere,
        mode=plain_text(mode),
        dry_run=checked_truth("dry_run", dry_run),
        once=content.once,
    )


def with_profile(draft: Draft, profile: ProfileLike, space: KeywordSpace, version: int) -> Draft:
    """The next version of a draft: another profile, everything else as it was."""
    before = decode_document(draft.document)
    return make_draft(
        profile,
        draft.action,
        space,
        stem=draft.stem,
        version=version,
        content=Content(
            before.data,
            before.content_type,
            before.context,
            before.with_data,
            before.once,
            before.visible_to,
        ),
        ttl=draft.ttl_s,
        everywhere=draft.everywhere,
    )


def draft_found(found: Found, space: KeywordSpace, ttl: float | None, *, keep_alive: bool) -> Draft:
    """What was posted once, as the overlay keeps it: the same version, and at least the rest of its
    life; `ttl` seconds, or while it is to be kept alive the default, if that is more.

    Raises `ProfileError` for what no client of ours would have posted."""
    document = decode_document(found.blob)
    stem, region = split_id(found.id, space.curve)
    wanted_s = checked_ttl_s(document.action, ttl) if keep_alive or ttl is not None else 0.0
    return Draft(
        action=document.action,
        profile=unpack_profile(document.profile),
        document=found.blob,
        stem=stem,
        region=region,
        version=found.version,
        ttl_s=max(wanted_s, found.ttl_ms / 1000),
        everywhere=region.is_whole(space.curve),
        once=document.once,
    )
