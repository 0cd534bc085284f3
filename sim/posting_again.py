"""Clients of a scenario that post the same thing again: at two peers at once, or some time later.

Law of this file: as `sim.workload`.  What is posted twice in one moment has one version: it counts
once, and who is interested is told of it once.  What is posted again later is another version of
the same record, which whoever is interested may be told of anew; of what was deleted it is refused.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Final

from chord import MeteorError
from meteor import Client, Profile, Receipt, Refused
from sim.changing import LASTING_S
from sim.history import History, Write
from sim.overlay import Overlay

LATELY: Final = 20
"""Of so many of the last writes one is posted again."""


class PostingAgain:
    """What is posted again in one run."""

    def __init__(
        self,
        overlay: Overlay,
        history: History,
        stream: random.Random,
        *,
        described: dict[str, Profile],
        count: Callable[[str], None],
        timeout_s: float,
    ) -> None:
        self._overlay, self._history, self._stream = overlay, history, stream
        self._described, self._count, self._timeout_s = described, count, timeout_s
        self._twins: tuple[Client, Client] | None = None

    def connect(self, first_peer: int) -> None:
        """Two clients whose versions run alike, as they begin in one moment, at two peers."""
        one, other = (self._overlay.new_client(peer=first_peer + at) for at in range(2))
        self._overlay.run(one.open())
        self._overlay.run(other.open())
        self._twins = one, other

    async def twice(self, write: Write) -> None:
        """Store something by both twins in this moment; the first receipt counts."""
        assert self._twins is not None, "the twins are connected when a run begins"
        posts = [
            one.store(
                self._described[write.stem], write.stem, id=write.stem, ttl=write.ttl_s,
                timeout=self._timeout_s,
            )
            for one in self._twins
        ]  # fmt: skip
        self._count("store_twice")
        kernel = self._overlay.kernel
        both = [kernel.spawn(self._stored(write, post)) for post in posts]
        for task in both:
            await task

    async def again(self, client: Client) -> None:
        """Post something once more, of those that were stored lately; also what was deleted."""
        moved = {write.former for write in self._history.writes.values() if write.former}
        stored = [
            write
            for write in self._history.writes.values()
            if write.id and not write.former and write.stem not in moved and write.ttl_s > LASTING_S
        ]
        if not stored:
            return
        write = self._stream.choice(stored[-LATELY:])
        write.reposts += 1
        self._count("store_again")
        post = client.store(
            self._described[write.stem], write.stem, id=write.stem, ttl=write.ttl_s,
            timeout=self._timeout_s,
        )  # fmt: skip
        is_deleted = write.deleted_s is not None
        try:
            await post
        except MeteorError as error:
            refused = is_deleted and isinstance(error, Refused)
            what = "refused_as_gone" if refused else f"store_again: {type(error).__name__}"
            self._count(what)
        else:
            if is_deleted:
                self._count("store_again: what is gone was taken")

    async def _stored(self, write: Write, post: Awaitable[Receipt]) -> None:
        try:
            receipt = await post
        except MeteorError as error:
            self._count(f"store_twice: {type(error).__name__}")
            return
        write.id = receipt.id
        if write.acknowledged_s is None:
            write.acknowledged_s = self._overlay.kernel.now()
