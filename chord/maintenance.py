"""The conversations that keep the ring: stabilise, the second look at a nearer peer, fingers.

Law of this file: conversations only; each changes the pointers through one atomic step of
`RingPointers`, after reading them again behind every await.  A run is bounded in rounds, and one
runs at a time.  Zave's two-step stabilise and rectify; literature.md section 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chord.errors import CallError, DialRefused, LinkClosed
from chord.finger_table import LEVELS_MAX, Finger
from chord.identifiers import between
from chord.messages import FingerFound, GetFinger, Neighbours, Notify

if TYPE_CHECKING:
    from chord.config import ChordConfig
    from chord.contact import Contact
    from chord.pointers import RingPointers
    from chord.runtime import Runtime, Task
    from chord.watch import Watch

ROUNDS_MAX = 32
"""Rounds of one run of stabilise: it goes on while rounds change something, and with concurrent
joins in one arc each round finds one nearer peer."""


class Maintenance:
    """Stabilisation and finger refreshes of one member."""

    def __init__(
        self,
        runtime: Runtime,
        config: ChordConfig,
        pointers: RingPointers,
        watch: Watch,
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._pointers = pointers
        self._watch = watch
        self._loops: list[Task[None]] = []
        self._stabilising: Task[None] | None = None
        self._again = False
        self._refreshing: Task[None] | None = None
        self._finger_interval_s = config.finger_interval_s_min

    def start(self) -> None:
        """Run both loops until `stop`; harmless when they run."""
        if not self._loops:
            self._loops = [
                self._runtime.spawn(self._stabilise_loop()),
                self._runtime.spawn(self._finger_loop()),
            ]

    def stop(self) -> None:
        """End the loops; a run under way completes."""
        for loop in self._loops:
            loop.cancel()
        self._loops = []

    def stabilise(self) -> Task[None]:
        """Stabilise until a round changes nothing; joins the run under way if there is one."""
        if self._stabilising is None or self._stabilising.done():
            self._stabilising = self._runtime.spawn(self._stabilise())
        else:
            self._again = True
        return self._stabilising

    def refresh_fingers(self) -> Task[None]:
        """Ask for every finger once; joins the refresh under way if there is one."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = self._runtime.spawn(self._refresh())
        return self._refreshing

    def disturbed(self) -> None:
        """Something near changed: the next refresh of the fingers comes soon."""
        if self._finger_interval_s == self._config.finger_interval_s_min:
            return
        self._finger_interval_s = self._config.finger_interval_s_min
        if self._loops:
            self._loops.pop().cancel()  # it may be in a long sleep
            self._loops.append(self._runtime.spawn(self._finger_loop()))

    # Stabilise

    async def _stabilise(self) -> None:
        for _ in range(ROUNDS_MAX):
            self._again = False
            if not (await self._round() or self._again):
                return

    async def _round(self) -> bool:
        """Stabilise from the successor; whether another round may find more."""
        pointers = self._pointers
        head = pointers.successors.first
        if head is None:
            return False
        reply = await self._notify(head)
        if pointers.successors.first != head:
            return True
        if reply is None:
            return False
        changed = not reply.unchanged and pointers.adopt(head, reply.successors, reply.version)
        nearer = reply.predecessor
        if nearer is None or nearer in self._watch.departed:
            return changed
        if not pointers.improves_successor(nearer):
            return changed
        return await self.second_step(nearer) or changed

    async def second_step(self, nearer: Contact) -> bool:
        """Stabilise from the successor's predecessor: only once it has answered itself."""
        reply = await self._notify(nearer)
        if reply is None or not self._pointers.improves_successor(nearer):
            return False
        return self._pointers.adopt(nearer, reply.successors, reply.version)

    async def _notify(self, contact: Contact) -> Neighbours | None:
        """The contact's pointers, having told it that we take it for our successor."""
        request = Notify(self._pointers.successors.version_seen(contact))
        try:
            reply = await self._watch.ask(contact, request)
        except LinkClosed:
            self._again = True  # dial anew at once: a refused dial says more than a closed link
            return None
        except CallError:
            return None  # `ask` has noted what it means
        return reply if isinstance(reply, Neighbours) and self._pointers.joined else None

    async def _stabilise_loop(self) -> None:
        while True:
            await self._runtime.sleep(self._jittered(self._config.stabilise_interval_s))
            self._watch.expire()
            await self.stabilise()
            predecessor = self._pointers.predecessor
            if predecessor is None or predecessor in self._watch.departed:
                continue
            heard_s = self._runtime.link(predecessor).last_heard_s
            if self._runtime.now() - heard_s > 2 * self._config.stabilise_interval_s:
                self._watch.check(predecessor)

    # Fingers

    async def _refresh(self) -> None:
        if await self._refresh_levels():
            self.disturbed()
        else:
            doubled = 2 * self._finger_interval_s
            self._finger_interval_s = min(doubled, self._config.finger_interval_s_max)

    async def _refresh_levels(self) -> bool:
        """Fill the levels upwards, each from the finger below; whether any changed."""
        pointers, changed = self._pointers, False
        below = pointers.successors.first
        for level in range(1, LEVELS_MAX):
            if below is None:
                return pointers.cut_fingers(1) or changed
            try:
                reply = await self._watch.ask(below, GetFinger(level - 1))
            except DialRefused:
                return True  # the table lost it; the next refresh comes soon
            except CallError:
                return changed
            if not pointers.joined or not isinstance(reply, FingerFound):
                return changed
            pointers.note_finger_predecessor(level - 1, reply.own_predecessor_id)
            finger = reply.finger
            if finger is None:
                return True  # that peer does not know it yet
            if finger in self._watch.departed:
                return True  # nor that it is gone
            if not between(below.id, finger.id, pointers.own.id):
                return pointers.cut_fingers(level) or changed
            entry = Finger(finger, reply.finger_predecessor_id)
            changed = pointers.set_finger(level, entry) or changed
            below = finger
        return changed

    async def _finger_loop(self) -> None:
        while True:
            await self._runtime.sleep(self._jittered(self._finger_interval_s))
            await self.refresh_fingers()

    def _jittered(self, interval_s: float) -> float:
        return interval_s * self._runtime.random.uniform(0.75, 1.25)
