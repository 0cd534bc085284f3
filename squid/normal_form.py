"""The one form in which keywords are compared, by the matcher and by the coder alike.

Law of this file: pure; the text as written is kept elsewhere, for display.
"""

from __future__ import annotations

from unicodedata import normalize


def normal_form(text: str) -> str:
    """Canonically composed (NFC), case folded, runs of blanks one space, none at the ends; marks
    are kept.  Applying it twice changes nothing."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = normalize("NFC", normalize("NFD", text).casefold())
    return " ".join(folded.split())
