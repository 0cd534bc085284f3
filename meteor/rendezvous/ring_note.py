"""The ring as a peer last saw it, kept in its journal: what it comes back by after a restart.

Law of this file: one record, written behind the ring's changes and never waited for: an older note
is as good, as some of those that it names will live.  DESIGN section 2.
"""

from __future__ import annotations

from chord import MeteorError, RingState, Runtime
from meteor.journal.journal import Entry, Journal, JournalFailed
from meteor.wire import codec

RING_KEY = b"ring"


class RingNote:
    """One peer's note of its ring."""

    def __init__(self, journal: Journal, runtime: Runtime) -> None:
        self._journal, self._runtime = journal, runtime
        self._kept: RingState | None = None

    def keep(self, state: RingState) -> None:
        """Write the ring's state down, soon."""
        self._kept = state
        self._runtime.spawn(self._write())

    async def write_down(self) -> None:
        """Return when the last state is written down, or cannot be: what was begun for it ends with
        the peer."""
        if self._kept is not None:
            await self._write()

    def entries(self) -> list[Entry]:
        """What was written since this peer was started, or is about to be."""
        return [] if self._kept is None else [Entry(RING_KEY, codec.encode(self._kept))]

    async def _write(self) -> None:
        try:
            await self._journal.append(self.entries())
        except JournalFailed:
            return  # full, or closing: the next change is written again

    async def read(self) -> RingState | None:
        """The ring of the former life; None without one, or where the note cannot be read."""
        value = await self._journal.read(RING_KEY)
        return None if value is None else state_in(value)


def state_in(value: bytes) -> RingState | None:
    """The ring that a journal's value says; None where it cannot be read."""
    try:
        state = codec.decode(value)
    except MeteorError:
        return None
    return state if isinstance(state, RingState) else None
