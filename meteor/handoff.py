"""Hand-offs: how an interval of the curve changes its holder without losing what was acknowledged.

Law of this file: conversations; which interval is whose is decided in `meteor.holdings`, what
travels in `meteor.shelf`.  The taker pulls pages, then asks the giver to freeze the interval, makes
the last changes durable and takes over; the commit point is the giver's durable note that it gave
(DESIGN section 5).  If either dies before, the giver's holding stands.  A leaving peer asks its
successor to pull: the same step the other way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from chord import (
    Arc,
    CallError,
    ChordNode,
    Contact,
    Deferred,
    DialRefused,
    Fault,
    Handler,
    RemoteFault,
    RequestTimeout,
    Runtime,
)
from meteor.giving import Giving, HandoffConfig, checked_interval
from meteor.holdings import Holdings, Intervals
from meteor.operations import (
    Claim,
    ClaimAnswer,
    Freeze,
    Frozen,
    Inherit,
    Inherited,
    Pull,
    PulledPage,
    TakeOver,
    Yours,
)
from meteor.placement import Admission
from meteor.shelf import Shelf
from squid import HilbertCurve, Interval, intersect, of_arc, subtract

CLAIMS_MAX = 32
"""Peers asked for one interval in one round: more than the successors of any concurrent joins."""

TAKE_OVER_TRIES = 5

LEAVE_ROUNDS, LEAVE_PAUSE_S = 3, 0.05
"""How often, and how far apart, a leaving peer asks who takes over what it holds while all that it
knows leave too, or are dead.  Others it asks until its time is up: a freeze ends."""

LEAVES = "Leaving"
"""The fault of a peer that takes nothing over, as it leaves itself."""

ReplyT = TypeVar("ReplyT")


class Handoff:
    """One peer's side of every hand-off."""

    def __init__(
        self,
        node: ChordNode,
        runtime: Runtime,
        curve: HilbertCurve,
        holdings: Holdings,
        shelf: Shelf,
        on_gained: Callable[[Intervals, Admission], None],
        *,
        id_bits: int = 160,
        config: HandoffConfig | None = None,
    ) -> None:
        self._node, self._runtime, self._curve = node, runtime, curve
        self._holdings, self._shelf, self._on_gained = holdings, shelf, on_gained
        self._id_bits = id_bits
        self._config = config or HandoffConfig()
        self._giving = Giving(
            node, runtime, curve, holdings, shelf, self._config, self.uncovered, self._given
        )
        self._open_since: dict[Interval, float] = {}
        self._dead: dict[int, None] = {}
        self._leaving = False

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {**self._giving.handlers, Inherit: self._on_inherit}

    # -- what the ring tells

    def arc_changed(self, before: Arc | None, now: Arc | None) -> None:
        """The ring gives this peer another arc: look at once."""
        del before, now
        self._runtime.deliver(self._wake_token, None)

    def contact_gone(self, contact: Contact) -> None:
        """A neighbour is dead: what it held without a copy is lost."""
        self._dead[contact.id] = None
        while len(self._dead) > CLAIMS_MAX:
            del self._dead[next(iter(self._dead))]
        self._runtime.deliver(self._wake_token, None)

    def _given(self) -> None:
        """Who waits for an index that is elsewhere now need not wait."""
        self._runtime.deliver(self._gained_token, None)

    @property
    def _wake_token(self) -> tuple[str, str]:
        return ("handoff", "wake")

    @property
    def _gained_token(self) -> tuple[str, str]:
        return ("handoff", "gained")

    # -- the peer's own course

    async def hold_everything(self) -> None:
        """The founder of a ring holds the whole curve; one that had a former life in a ring of
        several, or with a lost arc, knows the past of what it held then and of nothing else."""
        everything = ((0, self._curve.size - 1),)
        known = self._shelf.remembered(everything)
        lost = subtract(everything, known) if self._shelf.resumes else ()
        await self._gain(everything, lost=lost)

    async def watch_over(self) -> None:
        """Pull what the ring gives to this peer and another one holds, for ever."""
        while not self._leaving:
            for interval in self.uncovered():
                if not self._leaving:
                    await self._claim(interval)
            uncovered = self.uncovered()
            if not uncovered and self._node.arc is not None:
                self._shelf.settled()
            pause_s = self._config.pressing_s if uncovered else self._config.idle_s
            try:
                await self._runtime.expect(self._wake_token, pause_s)
            except RequestTimeout:
                continue

    def uncovered(self) -> Intervals:
        """The part of this peer's arc that it does not hold."""
        arc = self._node.arc
        if arc is None:
            return ()
        owned = of_arc(arc.after, arc.last, self._curve.index_bits, self._id_bits)
        return subtract(owned, self._holdings.held)

    async def settle(self, index: int, timeout_s: float) -> None:
        """Wait until `index` is held here or known to be elsewhere, or the time is up."""
        deadline = self._runtime.now() + timeout_s
        while not intersect(((index, index),), self._holdings.held):
            left_s = deadline - self._runtime.now()
            if left_s <= 0 or self._holdings.holder_of(index) is not None:
                return
            try:
                await self._runtime.expect(self._gained_token, min(left_s, self._config.idle_s))
            except RequestTimeout:
                continue

    async def give_all(self, timeout_s: float) -> Intervals:
        """Hand everything held to the successor before leaving, also what is just coming in;
        returns what nobody took."""
        self._leaving = True
        deadline = self._runtime.now() + timeout_s
        rounds_left = LEAVE_ROUNDS
        while rounds_left and self._runtime.now() < deadline:
            await self._arrived(deadline)
            for successor in self._node.successors:
                if await self._give_to(successor, deadline):
                    rounds_left = LEAVE_ROUNDS + 1
                if not self._holdings.held:
                    return ()
            rounds_left -= 1
            await self._runtime.sleep(LEAVE_PAUSE_S)
        return self._holdings.held

    async def _arrived(self, deadline: float) -> None:
        """Wait for a hand-off to this peer: what it brings is to be handed on."""
        while self._holdings.awaiting and self._runtime.now() < deadline:
            await self._runtime.sleep(LEAVE_PAUSE_S)

    async def _give_to(self, successor: Contact, deadline: float) -> bool:
        """Ask a successor to take all; whether there is reason to ask it again."""
        for interval in self._holdings.held:
            left_s = max(deadline - self._runtime.now(), 0.0)
            try:
                await self._runtime.call(successor, Inherit(interval), left_s)
            except RemoteFault as fault:
                return fault.kind != LEAVES
            except CallError:
                return False
        return False

    # -- taking

    async def _claim(self, interval: Interval) -> None:
        """Find who holds the interval and pull it; take it as lost when nobody does."""
        self._open_since.setdefault(interval, self._runtime.now())
        asked = {self._runtime.contact.id}
        queue = [*self._node.successors, *self._holdings.elsewhere()]
        if self._node.predecessor is not None:
            queue.append(self._node.predecessor)
        conclusive = True
        while queue and len(asked) <= CLAIMS_MAX:
            contact = queue.pop(0)
            if contact.id in asked:
                continue
            asked.add(contact.id)
            try:
                answer = await self._ask(contact, Claim(interval), ClaimAnswer)
            except DialRefused:  # it left, or died: nobody who is not there holds anything
                continue
            except CallError:
                conclusive = conclusive and contact.id in self._dead
                continue
            conclusive = conclusive and answer.settled
            held = subtract(intersect(answer.held, (interval,)), self._holdings.held)
            if held:
                for piece in held:
                    await self._pull(piece, contact)
                return
            queue += answer.elsewhere
        await self._give_up(interval, conclusive)

    async def _give_up(self, interval: Interval, conclusive: bool) -> None:
        """Nobody who answered holds it: lost if a dead peer owned it, or after the grace."""
        now = self._runtime.now()
        waited_s = now - self._open_since.get(interval, now)
        arc = self._node.arc
        orphaned = conclusive and arc is not None and any(dead in arc for dead in self._dead)
        if (orphaned or waited_s >= self._config.grace_s) and not self._leaving:
            still = intersect((interval,), self.uncovered())
            await self._gain(still, lost=still)

    async def _pull(self, interval: Interval, source: Contact) -> bool:
        """Take the interval over from `source`; whether it is held here now."""
        self._holdings.await_from(interval, source)
        admission = Admission()
        try:
            cursor = await self._pull_pages(interval, source, admission)
            asked_s = self._runtime.now()
            frozen = await self._ask(source, Freeze(interval, cursor), Frozen)
            await self._shelf.admit(frozen.page.carried, admission)
            thaws_s = asked_s + self._config.freeze_s
            if self._leaving:
                return False
            if not await self._take_over(TakeOver(interval, frozen.grant), source, thaws_s):
                return False
            await self._gain((interval,), lost=frozen.lost, admission=admission)
        except CallError:
            return False
        finally:
            self._holdings.awaited_no_more(interval)
        return True

    async def _pull_pages(self, interval: Interval, source: Contact, admission: Admission) -> int:
        cursor = 0
        more = True
        while more:
            page = await self._ask(source, Pull(interval, cursor), PulledPage)
            await self._shelf.admit(page.carried, admission)
            if page.more and page.cursor <= cursor:
                raise RemoteFault("ProtocolError", "a hand-off that does not go on")
            cursor, more = page.cursor, page.more
        return cursor

    async def _take_over(self, request: TakeOver, source: Contact, thaws_s: float) -> bool:
        """Ask until the giver's answer is known.  A giver that died frozen gave nothing more away,
        and all that it had is durable here; one that may have thawed took posts unknown here."""
        for _ in range(TAKE_OVER_TRIES):
            try:
                await self._ask(source, request, Yours)
            except RemoteFault:
                return False
            except DialRefused:
                return self._runtime.now() < thaws_s
            except CallError:
                continue
            return True
        return False

    async def _ask(self, contact: Contact, request: object, kind: type[ReplyT]) -> ReplyT:
        """A call whose reply is what it should be; raises `CallError`."""
        reply = await self._runtime.call(contact, request, self._config.call_s)
        if not isinstance(reply, kind):
            raise RemoteFault("ProtocolError", f"{contact} answered {type(reply).__name__}")
        return reply

    async def _gain(
        self, part: Intervals, *, lost: Intervals, admission: Admission | None = None
    ) -> None:
        """Hold `part` from now on, durably."""
        lost = subtract(lost, self._shelf.remembered(part))
        await self._shelf.note_gain(part, lost)
        new = self._holdings.gain(part, lost=lost)
        for interval in list(self._open_since):
            if not subtract((interval,), self._holdings.held):
                del self._open_since[interval]
        self._runtime.deliver(self._gained_token, None)
        self._on_gained(new, admission or Admission())

    # -- taking over from who leaves

    def _on_inherit(self, sender: Contact, message: object, _: float) -> Deferred:
        assert isinstance(message, Inherit)
        return Deferred(self._inherit(checked_interval(message.interval, self._curve), sender))

    async def _inherit(self, interval: Interval, source: Contact) -> Inherited:
        wanted = subtract((interval,), self._holdings.held)
        for piece in wanted:
            if self._leaving:
                raise Fault(LEAVES, "the successor leaves too")
            if not await self._pull(piece, source):
                raise Fault("Moved", "the successor could not take the interval over")
        return Inherited()
