"""What clients of a scenario do to what was stored: move it, renew it, delete a range of it.

Law of this file: as `sim.workload`.  A record that is replaced is another write under the same
identity, with a label of its own: the former is deleted by it, and at every moment one of both is
there (`sim.checkers.moves`).  What is not acknowledged may have been done, or not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

from chord import MeteorError
from meteor import Client, Profile, make_id, stem_of
from sim.history import History, Write
from sim.overlay import Overlay
from squid import Box, KeywordSpace

RENEWED_S: Final = 3600.0
"""For how long something is renewed: longer than any run."""
CLEARED: Final = 10.0
"""How wide the range of values is that is deleted at once."""
LASTING_S: Final = 60.0
"""What was stored for longer does not run out in a run."""

Draw = Callable[[], tuple[Profile, float]]
"""A profile, and its value."""


class Changing:
    """What is changed in one run."""

    def __init__(
        self,
        overlay: Overlay,
        history: History,
        stream: random.Random,
        space: KeywordSpace,
        *,
        draw: Draw,
        described: dict[str, Profile],
        count: Callable[[str], None],
        timeout_s: float,
    ) -> None:
        self._overlay, self._history, self._stream = overlay, history, stream
        self._space, self._draw, self._described = space, draw, described
        self._count, self._timeout_s = count, timeout_s
        self._clearings: list[tuple[float, float, float]] = []
        """The ranges that are being deleted, and since when; those too of which nobody heard how it
        ended: a share that waits for the end of a cut is carried out when its client has given up.
        """

    def begin(self, write: Write) -> None:
        """Something is about to be stored."""
        self._history.writes[write.stem] = write
        for low, high, began_s in self._clearings:
            if low <= write.value <= high:
                _cleared(write, began_s)

    def living(self) -> Iterator[Write]:
        """What was acknowledged, lasts, and nobody deletes."""
        for write in self._history.writes.values():
            acknowledged = write.acknowledged_s is not None and write.delete_began_s is None
            if acknowledged and write.ttl_s > LASTING_S:
                yield write

    async def move(self, client: Client) -> None:
        """Replace something by another content."""
        living = list(self.living())
        if not living:
            return
        former, (profile, value) = self._stream.choice(living), self._draw()
        terms = profile.typed(self._space).subject_terms(self._space)
        point = self._space.box(terms).low
        full_id = make_id(stem_of(former.id), Box(point, point), self._space.curve)
        if full_id == former.id or full_id in self._history.labels:
            return  # it was there before: one id would stand for two writes
        label, now = f"w{len(self._history.writes)}", self._overlay.kernel.now
        moved = Write(
            label, self._space.curve.encode(point), value, RENEWED_S, now(),
            drift=self._overlay.clocks.drift_max, former=former.stem,
        )  # fmt: skip
        self.begin(moved)
        self._history.labels[full_id] = label
        self._described[label] = profile
        former.delete_began_s = now()
        self._count("replace")
        try:
            receipt = await client.replace(
                former.id, profile, label, ttl=RENEWED_S, timeout=self._timeout_s
            )
        except MeteorError as error:
            self._count(f"replace: {type(error).__name__}")
            return
        moved.id, moved.acknowledged_s, former.deleted_s = receipt.id, now(), now()

    async def renew(self, client: Client) -> None:
        """Let something live on that would not."""
        short_lived = [
            write
            for write in self._history.writes.values()
            if write.acknowledged_s is not None
            and write.delete_began_s is None
            and write.renew_began_s is None
            and write.ttl_s <= LASTING_S
        ]
        if not short_lived:
            return
        write, now = self._stream.choice(short_lived[-3:]), self._overlay.kernel.now
        write.renew_began_s = now()
        self._count("renew")
        try:
            receipt = await client.renew(write.id, ttl=RENEWED_S, timeout=self._timeout_s)
        except MeteorError as error:
            self._count(f"renew: {type(error).__name__}")
            return
        if receipt.matches:
            write.renewed_s = now()
        else:
            self._count("renew: found nothing")

    async def clear(self, client: Client) -> None:
        """Delete all in a narrow range, in which there is something."""
        living = list(self.living())
        if not living:
            return
        low = round(self._stream.choice(living).value - CLEARED / 2, 1)
        high, began_s = round(low + CLEARED, 1), self._overlay.kernel.now()
        there = [write for write in self._history.writes.values() if low <= write.value <= high]
        known = [
            write
            for write in there
            if write.acknowledged_s is not None and write.delete_began_s is None
        ]
        for write in there:
            _cleared(write, began_s)
        self._clearings.append(clearing := (low, high, began_s))
        self._count("delete_data")
        try:
            await client.delete_data(f"value={low}..{high}", timeout=self._timeout_s)
        except MeteorError as error:
            self._count(f"delete_data: {type(error).__name__}")
            return
        self._clearings.remove(clearing)
        for write in known:
            write.deleted_s = self._overlay.kernel.now()


def _cleared(write: Write, began_s: float) -> None:
    write.cleared_s = (*write.cleared_s, began_s)
    if write.delete_began_s is None:
        write.delete_began_s = began_s
