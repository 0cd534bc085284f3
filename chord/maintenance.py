"""The conversations that keep the ring: stabilise, the second look at a nearer peer, fingers.

Law of this file: conversations only; each changes the pointers through one atomic step of
`RingPointers`, after reading them again behind every await.  A run is bounded in rounds, and one
runs at a time.  Zave's two-step stabilise and rectify; literature.md section 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chord.errors import CallError, DialRefused, LinkClosed, RequestTimeout
from chord.finger_table import LEVELS_MAX, Finger
from chord.identifiers import between
from chord.making_way import make_way
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
UNHEARD: Final = 1.5
"""So many of our own intervals may pass without a word of the predecessor, whose looks are up to a
quarter farther apart than they are on the average."""
LOOP_IS_DONE: Final = ("maintenance", "loop")


class Maintenance:
    """Stabilisation and finger refreshes of one member."""

    __slots__ = (
        "_again",
        "_calm",
        "_config",
        "_draw",
        "_finger_interval_s",
        "_in_loop",
        "_interval_s",
        "_loops",
        "_pointers",
        "_refreshing",
        "_request",
        "_runtime",
        "_stabilising",
        "_twin",
        "_watch",
    )

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
        self._in_loop = False
        """Whether the loop is in a run of its own."""
        self._again = False
        self._twin: Contact | None = None
        """Who is at our place in the ring, as our successor says, at another address."""
        self._request = Notify(realm=config.realm)
        self._interval_s = config.stabilise_interval_s
        """Between two looks; it grows at rest."""
        self._calm = True
        """Whether nothing called for haste since the last look began."""
        self._refreshing: Task[None] | None = None
        self._finger_interval_s = config.finger_interval_s_min
        self._draw = runtime.random.random

    def start(self) -> None:
        """Run both loops until `stop`; harmless when they run."""
        if not self._loops:
            self._loops = [
                self._runtime.spawn(self._stabilise_loop()),
                self._runtime.spawn(self._finger_loop()),
            ]

    def stop(self) -> None:
        """End the loops, and a run that they have begun; any other completes."""
        for loop in self._loops:
            loop.cancel()
        self._loops = []

    def stabilise(self) -> Task[None]:
        """Stabilise until a round changes nothing; joins the run under way if there is one."""
        self._again = True  # for the run under way; a new one begins without
        if self._stabilising is None or self._stabilising.done():
            run = self._until_loop_is_done() if self._in_loop else self._stabilise()
            self._stabilising = self._runtime.spawn(run)
        return self._stabilising

    def refresh_fingers(self) -> Task[None]:
        """Ask for every finger once; joins the refresh under way if there is one."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = self._runtime.spawn(self._refresh())
        return self._refreshing

    def hasten(self) -> None:
        """Something near changed, or somebody is silent: the next looks come soon."""
        self._calm = False
        if self._interval_s == self._config.stabilise_interval_s:
            return
        self._interval_s = self._config.stabilise_interval_s
        if self._loops and not self._in_loop:
            self._loops[0].cancel()  # it may be in a long sleep
            self._loops[0] = self._runtime.spawn(self._stabilise_loop())

    def disturbed(self) -> None:
        """Something near changed: the next look and the next refresh of the fingers come soon."""
        self.hasten()
        self._refresh_soon()

    def _refresh_soon(self) -> None:
        if self._finger_interval_s == self._config.finger_interval_s_min:
            return
        self._finger_interval_s = self._config.finger_interval_s_min
        if self._loops:
            self._loops[1].cancel()  # it may be in a long sleep
            self._loops[1] = self._runtime.spawn(self._finger_loop())

    # Stabilise

    async def _stabilise(self) -> None:
        """Rounds until one changes nothing; at rest that is one, and one question."""
        pointers = self._pointers
        for _ in range(ROUNDS_MAX):
            self._again = False
            head = pointers.successors.first
            if head is None:
                return
            reply = await self._notify(head)
            self._twin = self._twin_in(reply)
            if pointers.successors.first is not head and pointers.successors.first != head:
                continue  # another one meanwhile
            if reply is None or self._is_at_rest(head, reply):
                changed = False
            else:
                changed = await self._follow(head, reply)
            if not (changed or self._again):
                return

    def _is_at_rest(self, head: Contact, reply: Neighbours) -> bool:
        """Whether the successor has nothing new to say, and takes us for its predecessor."""
        if not reply.unchanged or reply.predecessor is None:
            return False
        return reply.predecessor.id == self._pointers.own.id and not _is_later(reply.contact, head)

    def _twin_in(self, reply: Neighbours | None) -> Contact | None:
        own, named = self._pointers.own, None if reply is None else reply.predecessor
        is_twin = named is not None and named.id == own.id and named.address != own.address
        return named if is_twin else None

    async def _make_way(self, twin: Contact) -> None:
        realm = self._config.realm
        await make_way(self._pointers, self._watch, realm, twin, lambda: self._twin == twin)

    async def _follow(self, head: Contact, reply: Neighbours) -> bool:
        """Do what the successor's answer asks for; whether another round may find more."""
        pointers = self._pointers
        tail = pointers.successors.contacts[1:] if reply.unchanged else reply.successors
        if _is_later(reply.contact, head):  # nobody missed it as it was started again
            changed = pointers.adopt(reply.contact, tail, reply.version)
        else:
            changed = not reply.unchanged and pointers.adopt(head, tail, reply.version)
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
        request, seen = self._request, self._pointers.successors.version_seen(contact)
        if request.version_seen != seen:
            self._request = request = Notify(seen, self._config.realm)
        try:
            reply = await self._watch.ask(contact, request)
        except LinkClosed:
            self._again = True  # dial anew at once: a refused dial says more than a closed link
            return None
        except RequestTimeout:
            self._warn_behind(contact)
            return None
        except CallError:
            return None  # `ask` has noted what it means
        return reply if isinstance(reply, Neighbours) and self._pointers.joined else None

    def _warn_behind(self, silent: Contact) -> None:
        """Whoever comes behind a silent successor looks at it too, as it does when notified by a
        farther peer: only when both have found it dead has its arc an owner."""
        successors = self._pointers.successors.contacts
        if len(successors) > 1 and successors[0].id == silent.id:
            self._runtime.send(successors[1], Notify(realm=self._config.realm))

    async def _stabilise_loop(self) -> None:
        runtime, config, watch = self._runtime, self._config, self._watch
        while True:
            await runtime.sleep(self._jittered(self._interval_s))
            if watch.departed.since:
                watch.expire()
            self._calm = True
            if self._stabilising is not None and not self._stabilising.done():
                await self.stabilise()
            else:
                await self._run_here()
            if self._twin is not None:
                self._runtime.spawn(self._make_way(self._twin))  # whoever fails so, ends
            self._look_back()
            if self._calm and self._interval_s < config.stabilise_interval_s_max:
                self._interval_s = min(2 * self._interval_s, config.stabilise_interval_s_max)

    def _look_back(self) -> None:
        """A predecessor that has not notified us for longer than it should is asked."""
        predecessor = self._pointers.predecessor
        if predecessor is None or predecessor in self._watch.departed.since:
            return
        silent_s = self._runtime.now() - self._runtime.link(predecessor).last_heard_s
        if silent_s > UNHEARD * self._interval_s:
            self._watch.check(predecessor)

    async def _run_here(self) -> None:
        """Stabilise within the loop's own conversation: a task for it would cost as much again."""
        self._in_loop = True
        try:
            await self._stabilise()
        finally:
            self._in_loop = False
            if self._stabilising is not None:
                self._runtime.deliver(LOOP_IS_DONE, None)

    async def _until_loop_is_done(self) -> None:
        if self._in_loop:
            await self._runtime.expect(LOOP_IS_DONE, None)

    # Fingers

    async def _refresh(self) -> None:
        if await self._refresh_levels():
            self._refresh_soon()
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
                reply = await self._watch.ask(below, GetFinger(level - 1, self._config.realm))
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
            if not pointers.may_name(finger):
                return changed
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
        return interval_s * (0.75 + 0.5 * self._draw())


def _is_later(contact: Contact, known: Contact) -> bool:
    """Whether this is a later life of somebody known."""
    return known.ended_with(contact) and contact != known
