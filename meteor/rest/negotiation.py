"""Which form of an answer a caller wants: Accept with its q values (RFC 9110, section 12.5.1).

Law of this file: pure.  The most specific range decides a form's quality, the higher quality wins,
and of equals the one that the route names first; what nobody wants is `NotAcceptable`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

JSON: Final = "application/json"
XML: Final = "application/xml"
TOML: Final = "application/toml"
EVENTS: Final = "text/event-stream"
HTML: Final = "text/html"

SYNONYMS: Final = {"text/xml": XML, "text/json": JSON}
"""What older programs call the same forms."""

RANGES_MAX: Final = 32
_QUALITY: Final = re.compile(r"(0(\.[0-9]{0,3})?|1(\.0{0,3})?)", re.ASCII)
_RANGE: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)


class NotAcceptable(ValueError):
    """None of the forms of this route is one that the caller takes: `.offers`."""

    def __init__(self, accept: str, offers: Sequence[str]) -> None:
        super().__init__(
            f"Accept: {accept[:200]} names none of the forms of this route, "
            f"which are {', '.join(offers)}"
        )
        self.offers = tuple(offers)


def chosen_form(accept: str | None, offers: Sequence[str]) -> str:
    """The form to answer in; raises `NotAcceptable`."""
    if accept is None or not accept.strip():
        return offers[0]
    ranges = _ranges(accept)
    best, best_quality = "", 0.0
    for offer in offers:
        quality = _quality(offer, ranges)
        if quality > best_quality:
            best, best_quality = offer, quality
    if not best:
        raise NotAcceptable(accept, offers)
    return best


def _ranges(accept: str) -> list[tuple[str, float]]:
    """Media ranges with their quality; what is malformed asks for nothing."""
    found = []
    for part in accept.split(",")[:RANGES_MAX]:
        name, *parameters = (piece.strip() for piece in part.split(";"))
        if _RANGE.fullmatch(name) is None:
            continue
        quality = 1.0
        for parameter in parameters:
            key, _, value = parameter.partition("=")
            if key.strip().lower() == "q":
                value = value.strip()
                quality = float(value) if _QUALITY.fullmatch(value) else 0.0
        found.append((SYNONYMS.get(name.lower(), name.lower()), quality))
    return found


def _quality(offer: str, ranges: Sequence[tuple[str, float]]) -> float:
    """What the most specific range says of an offer; 0 where none does."""
    kind = offer.partition("/")[0]
    for pattern in (offer, f"{kind}/*", "*/*"):
        named = [quality for name, quality in ranges if name == pattern]
        if named:
            return max(named)
    return 0.0
