"""A message in JSON, as `POST /messages` takes it: the beside of the report's XML.

Law of this file: pure; hostile input in, typed errors out.  Unknown fields are refused, so that a
misspelt one is not silently ignored, and `null` is: who meant an audience and has none must not
post to everybody.  Seconds, never milliseconds (SPEC section 3).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

import msgspec

from arms import Message, Profile, ProfileError, parse_call
from meteor.errors import LimitExceeded
from meteor.lifetimes import TTL_S_MAX, DurationRefused

FIELDS: Final = (
    "id", "action", "profile", "ttl", "data", "data_base64", "content_type", "owner", "context",
    "visible_to",
)  # fmt: skip
_LARGE: Final = ("data", "data_base64")
FIELD_BYTES_MAX: Final = 1 << 16
"""Any other field of a message."""
_ABSENT: Final = msgspec.Raw(b"")


def message_of_json(document: bytes) -> Message:
    """The message of a document; raises `ProfileError`, `SelectorError` and `LimitExceeded`."""
    form = _object_of(document)
    unknown = sorted(form.keys() - set(FIELDS))
    if unknown:
        raise ProfileError(f"unknown field {unknown[0][:60]!r}: known are {', '.join(FIELDS)}")
    if "profile" not in form:
        raise ProfileError('a message needs a "profile": "type=temperature temperature=21.5"')
    action, reply_to = parse_call(_text(form, "action", "store"))
    return Message(
        id=_text(form, "id"),
        action=action,
        profile=Profile.parse(_text(form, "profile")),
        data=_data(form),
        content_type=_text(form, "content_type"),
        ttl_s=_ttl_s(form),
        owner=_text(form, "owner"),
        context=_context(form.get("context", {})),
        reply_to=reply_to,
        visible_to=_audience(form["visible_to"]) if "visible_to" in form else None,
    )


class _Form(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of a message, none of them looked into."""

    id: msgspec.Raw = _ABSENT
    action: msgspec.Raw = _ABSENT
    profile: msgspec.Raw = _ABSENT
    ttl: msgspec.Raw = _ABSENT
    data: msgspec.Raw = _ABSENT
    data_base64: msgspec.Raw = _ABSENT
    content_type: msgspec.Raw = _ABSENT
    owner: msgspec.Raw = _ABSENT
    context: msgspec.Raw = _ABSENT
    visible_to: msgspec.Raw = _ABSENT


_FORM: Final = msgspec.json.Decoder(_Form)


def _check_sizes(document: bytes) -> None:
    """Refuse a hundred thousand fields, or a field of as many items, before anything is built."""
    try:
        form = _FORM.decode(document)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ProfileError(f"not JSON, or no message: {error}"[:300]) from None
    for name in FIELDS:
        size = len(bytes(getattr(form, name)))
        if name not in _LARGE and size > FIELD_BYTES_MAX:
            raise LimitExceeded(f"{name} bytes", size, FIELD_BYTES_MAX)


def _object_of(document: bytes) -> Mapping[str, Any]:
    if len(document) > FIELD_BYTES_MAX:
        _check_sizes(document)
    try:
        form = json.loads(document, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"not JSON: {error}"[:300]) from None
    if not isinstance(form, dict):
        raise ProfileError(f"a message is an object, not {type(form).__name__}")
    return form


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _text(form: Mapping[str, Any], name: str, default: str = "") -> str:
    value = form.get(name, default)
    if not isinstance(value, str):
        raise ProfileError(f"{name} is text, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ProfileError(f"{name} has half of a surrogate pair, which is no character") from None
    return value


def _data(form: Mapping[str, Any]) -> bytes:
    if "data" in form and "data_base64" in form:
        raise ProfileError("data and data_base64 in one message: write one")
    if "data_base64" not in form:
        return _text(form, "data").encode()
    try:
        return base64.b64decode(_text(form, "data_base64"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ProfileError(f"data_base64 is no base64: {error}") from None


def _ttl_s(form: Mapping[str, Any]) -> float | None:
    if "ttl" not in form:
        return None
    value = form["ttl"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ProfileError(f"ttl is a number of seconds, not {type(value).__name__}")
    try:
        seconds = float(value)
    except OverflowError:
        seconds = float("inf")
    if not isfinite(seconds) or seconds < 0:
        raise DurationRefused("ttl", str(value)[:40], round(TTL_S_MAX))
    return seconds


def _audience(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ProfileError("visible_to is a list of texts: keys, and group:<name>")
    return tuple(value)


def _context(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ProfileError(f"context is an object of texts, not {type(value).__name__}")
    return tuple((_text({"name": name}, "name"), _text(value, name)) for name in value)
