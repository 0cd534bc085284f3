"""What clients of a scenario do to what was stored: move it, renew it, delete a range of it.

Law of this file: as `sim.workload`.  A record that is replaced is another write under the same
identity, with a label of its own: the former is deleted by it, and at every moment one of both is
there (`sim.checkers.moves`).  What is not acknowledged may have been done, or not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from chord import MeteorError
from meteor import Client, Profile, make_id, stem_of
from sim.history import MERGED_WITHIN_S, History, Write
from sim.overlay import Overlay
from sim.places import SPACE, Drawn

RENEWED_S: Final = 3600.0
"""For how long something is renewed: longer than any run."""
CLEARED: Final = 10.0
"""How wide the range of values is that is deleted at once."""
LASTING_S: Final = 60.0
"""What was stored for longer does not run out in a run."""

Draw = Callable[[], Drawn]
"""Something to be stored."""


class Changing:
    """What is changed in one run."""

    def __init__(
        self,
        overlay: Overlay,
        history: History,
        stream: random.Random,
        *,
        draw: Draw,
        described: dict[str, Profile],
        count: Callable[[str], None],
        timeout_s: float,
        overlaps: float = 0.0,
        cleared: float = CLEARED,
    ) -> None:
        self._overlay, self._history, self._stream = overlay, history, stream
        self._draw, self._described, self._count = draw, described, count
        self._timeout_s, self._overlaps, self._wide = timeout_s, overlaps, cleared
        self._clearings: list[tuple[Clearing, float]] = []
        """The ranges that are being deleted, and since when; those too of which nobody heard how it
        ended: a share that waits for the end of a cut is carried out when its client has given up.
        They are kept for as long as that may come (`_may_come_yet`)."""

    def begin(self, write: Write) -> None:
        """Something is about to be stored."""
        self._history.writes[write.stem] = write
        self._clearings = [one for one in self._clearings if self._may_come_yet(one[1])]
        for clearing, began_s in self._clearings:
            if clearing.takes(write):
                _cleared(write, began_s)

    def living(self) -> Iterator[Write]:
        """What was acknowledged, lasts, and nobody deletes."""
        for write in self._history.writes.values():
            acknowledged = write.acknowledged_s is not None and write.delete_began_s is None
            if acknowledged and write.ttl_s > LASTING_S:
                yield write

    async def move(self, client: Client) -> None:
        """Replace something by another content."""
        living = [write for write in self.living() if not write.reposts]
        if not living:
            return
        former, drawn = self._stream.choice(living), self._draw()
        full_id = make_id(stem_of(former.id), drawn.region, SPACE.curve)
        if full_id == former.id or full_id in self._history.labels:
            return  # it was there before: one id would stand for two writes
        label, now = f"w{len(self._history.writes)}", self._overlay.kernel.now
        moved = written(drawn, label, RENEWED_S, now(), self._overlay.clocks.drift_max)
        moved.former = former.stem
        self.begin(moved)
        self._history.labels[full_id] = label
        self._described[label] = drawn.profile
        former.delete_began_s = now()
        self._count("replace")
        try:
            receipt = await client.replace(
                former.id, drawn.profile, label, ttl=RENEWED_S, timeout=self._timeout_s
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
            write.not_renewed_s = now()

    async def clear(self, client: Client) -> float | None:
        """Delete all in a narrow range, in which there is something; a value within it, None where
        it is not known to have been done."""
        living = list(self.living())
        if not living:
            return None
        low = round(self._stream.choice(living).value - self._wide / 2, 1)
        high, began_s = round(low + self._wide, 1), self._overlay.kernel.now()
        mode = self._mode()
        clearing = Clearing(low, high, overlaps=mode == "overlap")
        there = [write for write in self._history.writes.values() if clearing.takes(write)]
        known = [
            write
            for write in there
            if write.acknowledged_s is not None and write.delete_began_s is None
        ]
        for write in there:
            _cleared(write, began_s)
        self._clearings.append(noted := (clearing, began_s))
        self._count("delete_data")
        try:
            await client.delete_data(f"value={low}..{high}", mode=mode, timeout=self._timeout_s)
        except MeteorError as error:
            self._count(f"delete_data: {type(error).__name__}")
            return None
        self._clearings.remove(noted)
        for write in known:
            write.deleted_s = self._overlay.kernel.now()
        return round((low + high) / 2, 1)

    def _may_come_yet(self, began_s: float) -> bool:
        """Whether a share of a range delete that began then may be carried out from now on: its
        time is over, and so is every cut that it may have waited for."""
        over_s = began_s + self._timeout_s + MERGED_WITHIN_S
        for cut in self._history.cuts:
            if cut.began_s <= over_s:
                over_s = max(over_s, cut.healed_s + MERGED_WITHIN_S)
        return self._overlay.kernel.now() <= over_s

    def _mode(self) -> Literal["within", "overlap"]:
        """Whether all goes that meets a range; nothing is drawn where that never is."""
        overlaps = self._overlaps > 0 and self._stream.random() < self._overlaps
        return "overlap" if overlaps else "within"


@dataclass(frozen=True, slots=True)
class Clearing:
    """A range of values that is deleted, of all types."""

    low: float
    high: float
    overlaps: bool = False
    """Whether what reaches out of the range is deleted, too."""

    def takes(self, write: Write) -> bool:
        """Whether the write goes."""
        if self.overlaps:
            return self.low <= write.top and write.value <= self.high
        return self.low <= write.value and write.top <= self.high


def written(drawn: Drawn, stem: str, ttl_s: float, began_s: float, drift: float) -> Write:
    """The write of something that is about to be stored."""
    region = None if drawn.region.low == drawn.region.high else drawn.region
    return Write(
        stem, drawn.index, drawn.value, ttl_s, began_s,
        drift=drift, high=drawn.high, word=drawn.word, region=region,
    )  # fmt: skip


def _cleared(write: Write, began_s: float) -> None:
    write.cleared_s = (*write.cleared_s, began_s)
    if write.delete_began_s is None:
        write.delete_began_s = began_s
