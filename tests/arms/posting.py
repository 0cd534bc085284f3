"""Records, for tests of what is done with them."""

from __future__ import annotations

from dataclasses import replace

from arms import DATA, INTEREST, WATCH, Profile, Record

KIND_OF = {"store": DATA, "retrieve": INTEREST, "notify_data": INTEREST, "notify_interest": WATCH}


def post(
    stem: str, action: str, text: str = "p1=a p2=b", ttl: float = 100.0, **fields: object
) -> Record:
    made = Record(KIND_OF[action], stem, "", 1, stem, action, Profile.parse(text), b"", ttl)  # type: ignore[arg-type]
    return replace(made, **fields)  # type: ignore[arg-type]
