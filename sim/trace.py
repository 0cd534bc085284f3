"""The record of a simulated run, and its digest.

Law of this file: a trace holds only what the run did, in order, in plain values: no object
identities, no hash order, no wall clock.  Two runs of one seed have one digest, also in another
process under another hash seed.
"""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

import msgspec

CHUNK_EVENTS: Final = 1024
"""Events are digested in chunks: one hash call a message would cost as much as its delivery."""

_encode = msgspec.msgpack.Encoder().encode


class Event(NamedTuple):
    """One thing that happened."""

    at_s: float
    """Virtual time."""
    kind: str
    """`deliver`, `lost`, `unanswered`, `refuse`, `close`, `crash`, `pause` or `resume`."""
    source: str
    """The peer or client that it comes from or happens to, as `address#identifier`."""
    target: str
    """Whom it is for; empty where it is of one alone."""
    what: str
    """The message's type, or the reason."""


class Trace:
    """What happened, in order: counted and digested always, kept only on request."""

    def __init__(self, *, keep: bool = False) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self._chunk: list[tuple[float, str, str, str, str]] = []
        self._kept: list[Event] | None = [] if keep else None
        self._counted = 0

    def record(self, at_s: float, kind: str, source: str, target: str, what: str) -> None:
        """Add one event."""
        self._chunk.append((at_s, kind, source, target, what))
        if len(self._chunk) >= CHUNK_EVENTS:
            self._fold()

    def digest(self) -> str:
        """32 hexadecimal digits over everything recorded so far."""
        so_far = self._hash.copy()
        so_far.update(_encode(self._chunk))
        return so_far.hexdigest()

    @property
    def events(self) -> tuple[Event, ...]:
        """The kept events; empty unless the trace was told to keep them."""
        if self._kept is None:
            return ()
        return (*self._kept, *(Event(*event) for event in self._chunk))

    def __repr__(self) -> str:
        kept = "kept" if self._kept is not None else "not kept: see Kernel(keep_trace=True)"
        return f"<Trace of {len(self)} events, {kept}, digest {self.digest()}>"

    def __len__(self) -> int:
        return self._counted + len(self._chunk)

    def _fold(self) -> None:
        """Take in a whole chunk; chunks end after the same events in every run."""
        self._hash.update(_encode(self._chunk))
        if self._kept is not None:
            self._kept.extend(Event(*event) for event in self._chunk)
        self._counted += len(self._chunk)
        self._chunk.clear()
