"""The body of a request: read up to a limit, within a time, in a form that the route takes.

Law of this file: nothing is believed; a length that is announced too large is refused before a byte
of it is read, one that is not announced as soon as it is too large.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import aiohttp
from aiohttp import web

from meteor.errors import LimitExceeded
from meteor.rest.answers import Refusal
from meteor.rest.config import RestConfig
from meteor.rest.negotiation import JSON, SYNONYMS, XML

FORM_TYPE: Final = "application/x-www-form-urlencoded"
"""What curl says of a body whose sender said nothing."""
UNSAID: Final = ("", FORM_TYPE, "application/octet-stream")
"""Content types that say nothing about a document: its first character does."""


async def read_body(request: web.Request, config: RestConfig) -> bytes:
    """The body; raises `LimitExceeded`, and `Refusal` (400, 408, 415)."""
    check_announced(request, config)
    limit = config.body_bytes_max
    body = bytearray()
    try:
        async with asyncio.timeout(config.body_timeout_s):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > limit:
                    raise LimitExceeded("body bytes", f"more than {limit}", limit)
    except TimeoutError:
        raise Refusal(
            408,
            "SlowBody",
            f"the body did not arrive within {config.body_timeout_s:g} s: {len(body)} bytes came",
            {"value": len(body), "limit": config.body_timeout_s},
            {"Connection": "close"},
        ) from None
    except (aiohttp.ClientPayloadError, web.RequestPayloadError, ConnectionError) as error:
        raise Refusal(400, "BrokenBody", f"the body ended early: {error}") from None
    return bytes(body)


def check_announced(request: web.Request, config: RestConfig) -> None:
    """What the headers say of the body; raises `LimitExceeded`, `Refusal` (415)."""
    announced = request.content_length
    if announced is not None and announced > config.body_bytes_max:
        raise LimitExceeded("body bytes", announced, config.body_bytes_max)
    coding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise Refusal(
            415,
            "UnsupportedCoding",
            f"Content-Encoding {coding[:40]!r}: send the body as it is",
            {"value": coding[:40]},
            {"Accept-Encoding": "identity"},
        )


def announced_type(request: web.Request) -> str:
    """The whole Content-Type, with its parameters; raises `Refusal` (415) for what is no text."""
    said = request.headers.get("Content-Type", "")
    try:
        said.encode()
    except UnicodeEncodeError:
        shown = said[:100].encode(errors="replace").decode()
        raise Refusal(
            415,
            "UnsupportedMediaType",
            f"Content-Type {shown!r} has bytes that are no UTF-8: name the type in ASCII",
            {"value": shown},
        ) from None
    return said


def document_form(request: web.Request, body: bytes, taken: Sequence[str]) -> str:
    """In which of the forms a document is; raises `Refusal` (415) for any other."""
    said = request.content_type if "Content-Type" in request.headers else ""
    form = SYNONYMS.get(said, said)
    if said in UNSAID:
        form = JSON if body.lstrip()[:1] in (b"{", b"[") else XML
    if form in taken:
        return form
    raise Refusal(
        415,
        "UnsupportedMediaType",
        f"Content-Type {said[:100]!r}: send {' or '.join(taken)}",
        {"value": said[:100]},
        {"Accept-Post": ", ".join(taken)},
    )
