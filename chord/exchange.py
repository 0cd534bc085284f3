"""What one peer asks of others and is asked by them: calls, forwarded frames, expectations.

Law of this file: the half of a runtime that does not depend on it.  Nothing here knows sockets,
virtual time or tasks; the adapter gives a `World` (a clock, later turns, waits, links) and hands
in what arrives.  Nothing is delivered inside the caller's own turn, the first outcome wins, and
whatever comes too late is dropped and counted (contract: `chord.runtime`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from chord.contact import Contact
from chord.deadline_table import DeadlineTable
from chord.errors import Busy, CallError, Fault, LinkClosed, RemoteFault, RequestTimeout
from chord.expectations import Expectation, Expectations
from chord.frozen import replace
from chord.link import SILENCE, FaultReport, Forwarded, FrameKind, LinkEnd, LoopBack, RoundTrip
from chord.pending_call import PendingCall, calls_over
from chord.runtime import Deferred, Handler, Unhurried
from chord.sweep import Sweep
from chord.world import Counters, Waiter, World

CALLS_PER_LINK: Final = 1024
"""Calls that may wait for one link's replies; more raise `Busy` at the caller."""
SERVING_PER_LINK: Final = 512
"""Deferred conversations that one link may keep running; more are answered `Busy`, and as many that
its one-way messages began; while there are so many, further ones vanish."""

_REQUEST, _REPLY, _FAULT = FrameKind.REQUEST, FrameKind.REPLY, FrameKind.FAULT
_BUSY, _SEND = FrameKind.BUSY, FrameKind.SEND
_FORWARD, _ACKNOWLEDGE = FrameKind.FORWARD, FrameKind.ACKNOWLEDGE

_Entry = PendingCall | Expectation | LinkEnd


class Exchange:
    """The calls, forwarded messages and expectations of one peer."""

    request_late_s = 0.0
    """How much longer than usual what is being answered was on its way."""

    def __init__(self, world: World) -> None:
        self._world, self._now, self._waiter = world, world.now, world.waiter
        self._handler: Handler | None = None
        self._link_closed: Callable[[Contact], None] = lambda _: None
        self._pending: DeadlineTable[_Entry] = DeadlineTable()
        self._sweep = Sweep(self._pending, world.sweep_at)
        self._expected = Expectations()
        self._round_trip = RoundTrip()
        self.own_link = LoopBack(world.contact, world.call_soon, self.receive)
        self.counters = Counters()
        self.closed = False

    def serve(self, handler: Handler, link_closed: Callable[[Contact], None]) -> None:
        """Name who takes messages and who hears of lost links."""
        self._handler, self._link_closed = handler, link_closed

    # ---- asking ----------------------------------------------------------------------------

    def call(self, contact: Contact, request: object, timeout_s: float) -> Waiter:
        """Send a request; the waiter brings its reply or a `CallError`."""
        now, make_waiter = self._now, self._waiter
        waiter = make_waiter()
        try:
            link = self._link_to(contact)
            if link.asking >= CALLS_PER_LINK:
                raise Busy(f"{type(request).__name__}: {link.asking} calls wait for {contact}")
            now_s = now()
            pending = PendingCall(waiter, link, type(request), now_s, timeout_s)
            number = self._sweep.add(now_s + timeout_s, pending)
            try:
                link.transmit(_REQUEST, number, timeout_s, request)
                link.asking += 1
            except (CallError, TypeError):
                self._pending.take(number)
                raise
        except CallError as error:
            waiter.fail(error)
        return waiter

    def send(self, contact: Contact, message: object) -> None:
        """Send one way, best effort."""
        try:
            self._link_to(contact).transmit(_SEND, 0, 0.0, message)
        except CallError:
            self.counters.unsent += 1

    def _link_to(self, contact: Contact) -> LinkEnd:
        if self.closed:
            raise LinkClosed(f"no link to {contact}: this peer is closed")
        link = self._world.link_to(contact)
        link.round_trip.elsewhere = self._round_trip
        return link

    def forward(
        self,
        candidates: Sequence[Contact],
        message: object,
        undelivered: Callable[[object, str], None],
    ) -> None:
        """Send one way, tracked, to the first candidate that acknowledges it."""
        if not self.closed:
            self._advance(Forwarded(message, tuple(candidates), undelivered), "no candidate")

    def _advance(self, forwarded: Forwarded, reason: str) -> None:
        """Try the next candidate; after the last, report in a later turn."""
        while (contact := forwarded.next_candidate()) is not None:
            try:
                self._transmit_tracked(self._link_to(contact), forwarded)
            except CallError as error:
                reason = str(error)
            else:
                return
        self._world.call_soon(self._guarded, forwarded.undelivered, forwarded.message, reason)

    def _transmit_tracked(self, link: LinkEnd, forwarded: Forwarded) -> None:
        """Send over one link and watch it; raises what the link raises."""
        if link is self.own_link:
            link.transmit(_SEND, 0, 0.0, forwarded.message)
            return
        number = link.track(forwarded, self._now())
        try:
            link.transmit(_FORWARD, number, 0.0, forwarded.message)
        except (CallError, TypeError):
            link.untrack()
            raise
        self._watch(link)

    def _watch(self, link: LinkEnd) -> None:
        """See to it that silence about the oldest unacknowledged frame is noticed."""
        silent_s = link.silent_at_s()
        if silent_s is not None and not link.watched:
            link.watched = True
            self._sweep.add(silent_s, link)

    # ---- expecting -------------------------------------------------------------------------

    def expect(self, token: object, timeout_s: float | None) -> Waiter:
        """Register for `token`; the waiter brings the first value delivered for it."""
        waiter = self._world.waiter()
        if self.closed:
            waiter.fail(RequestTimeout(f"nothing is delivered to a closed peer: {token!r}"))
            return waiter
        expectation = Expectation(token, waiter, timeout_s)
        if timeout_s is not None:
            expectation.number = self._sweep.add(self._now() + timeout_s, expectation)
        self._expected.add(expectation)
        return waiter

    def deliver(self, token: object, value: object) -> bool:
        """Hand `value` to all who expect `token` now; False when nobody does."""
        taken = False
        for expectation in self._expected.take(token):
            self._pending.take(expectation.number)
            taken = taken or not expectation.waiter.abandoned
            expectation.waiter.resolve(value)
        return taken

    # ---- arriving --------------------------------------------------------------------------

    def receive(
        self, link: LinkEnd, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None:
        """Take in one frame; the adapter calls this in a turn of its own."""
        if self.closed:
            return
        now_s = link.heard(self._now())
        if kind is _REQUEST:
            self._answer(link, number, duration_s, message)
        elif kind is _REPLY:
            call = self._concluded(link, number, duration_s, now_s)
            if call is not None:
                call.waiter.resolve(message)
        elif kind is _FORWARD or kind is _SEND:
            self._take_in(link, message)
        elif kind is _ACKNOWLEDGE:
            link.acknowledge(number, duration_s, now_s)
        else:
            call = self._concluded(link, number, duration_s, now_s)
            if call is not None:
                call.refused(kind, message)

    def _answer(self, link: LinkEnd, number: int, remaining_s: float, request: object) -> None:
        handler = self._handler
        if handler is None or link.serving >= SERVING_PER_LINK:
            self._transmit(link, _BUSY, number, 0.0, None)
            return
        self.request_late_s = link.late_s
        try:
            reply = handler(link.contact, request, remaining_s)
        except Fault as fault:
            self._report(link, number, 0.0, fault)
        except Exception as error:
            self._report(link, number, 0.0, _internal(error))
            self._world.failed(error)
        else:
            if type(reply) is Deferred:  # of a struct, what is none costs isinstance ten times this
                self._answer_later(link, number, reply)
            elif type(reply) is Unhurried:
                link.accompany(number, reply.reply)
            else:
                self._transmit(link, _REPLY, number, 0.0, reply)

    def _answer_later(self, link: LinkEnd, number: int, deferred: Deferred) -> None:
        link.serving += 1
        began_s = self._now()

        def concluded(reply: object, error: BaseException | None) -> None:
            link.serving -= 1
            held_s = self._now() - began_s
            if error is None:
                self._transmit(link, _REPLY, number, held_s, reply)
            elif isinstance(error, Fault):
                self._report(link, number, held_s, error)
            elif isinstance(error, Exception):
                self._report(link, number, held_s, _internal(error))
                self._world.failed(error)

        self._world.converse(deferred.conversation, concluded)

    def _take_in(self, link: LinkEnd, message: object) -> None:
        """Handle a one-way message; its outcome goes nowhere."""
        if self._handler is None or link.begun >= SERVING_PER_LINK:
            self.counters.unasked += 1
            return
        try:
            outcome = self._handler(link.contact, message, 0.0)
        except Fault:
            self.counters.unasked += 1
        except Exception as error:
            self._world.failed(error)
        else:
            if type(outcome) is Deferred:
                link.begun += 1
                self._world.converse(outcome.conversation, partial(self._ended, link))

    def _ended(self, link: LinkEnd, _: object, error: BaseException | None) -> None:
        link.begun -= 1
        if isinstance(error, Fault):
            self.counters.unasked += 1
        elif isinstance(error, Exception):
            self._world.failed(error)

    def _concluded(
        self, link: LinkEnd, number: int, held_s: float, now_s: float
    ) -> PendingCall | None:
        """The call that now has its outcome; only the link that was asked may answer."""
        find = self._pending.get
        entry = find(number)
        if type(entry) is not PendingCall or entry.link is not link:
            self.counters.late_replies += 1
            return None
        self._pending.take(number)
        link.asking -= 1
        if entry.sent_s >= link.opened_s:
            link.round_trip.sample(now_s - entry.sent_s - held_s)
        return entry

    # ---- ending ----------------------------------------------------------------------------

    def link_lost(
        self,
        link: LinkEnd,
        reason: str,
        *,
        kind: Callable[[str], CallError] = LinkClosed,
        tell: bool = True,
    ) -> None:
        """Fail and re-route what depends on a link that is gone: `kind` makes the error of its
        calls; with `tell` the peer hears that it closed."""
        if self.closed:
            return
        link.settle(self._now())
        for number, call in calls_over(self._pending, link):
            self._pending.take(number)
            call.waiter.fail(kind(f"{call.request} to {link.contact}: {reason}"))
        link.asking = 0
        self._reroute(link, reason)
        if tell:
            self._guarded(self._link_closed, link.contact)

    def link_merged(self, link: LinkEnd, into: LinkEnd) -> int:
        """What depends on a link that never opened goes over another one to the same peer, behind
        what does already; returns by how much the numbers of its forwarded frames grow."""
        for number, call in calls_over(self._pending, link):
            self._pending.put(number, replace(call, link=into))
        more = into.take_over(link)
        self._watch(into)
        return more

    def _reroute(self, link: LinkEnd, reason: str) -> None:
        for forwarded in link.take_unacknowledged():
            self.counters.rerouted += 1
            self._advance(forwarded, reason)

    def sweep_is_due(self, when_s: float) -> bool:
        """Whether something waits for the sweep that was asked for at `when_s`; if not, it is
        called off.  A world whose timers cannot be cancelled asks before it sets one."""
        return self._sweep.is_due(when_s)

    def sweep(self) -> None:
        """Give up what its deadline has passed for; the world calls it at the time asked for."""
        if not self.closed:
            self._sweep.look(self._now(), self._give_up)

    def _give_up(self, entry: _Entry, now_s: float) -> None:
        if isinstance(entry, PendingCall):
            entry.give_up(now_s)
        elif isinstance(entry, Expectation):
            self._expected.drop(entry)
            entry.waiter.fail(
                RequestTimeout(f"{entry.token!r} was not delivered in {entry.timeout_s} s")
            )
        else:
            self._look_at(entry, now_s)

    def _look_at(self, link: LinkEnd, now_s: float) -> None:
        """Re-route what a link has been silent about for too long."""
        link.watched = False
        link.settle(now_s)
        silent_s = link.silent_at_s()
        if silent_s is not None and silent_s <= now_s:
            link.suspect()
            self._reroute(link, SILENCE)
        self._watch(link)

    def close(self) -> None:
        """End everything: calls raise `LinkClosed`, sends vanish."""
        if self.closed:
            return
        self.closed = True
        for number, entry in self._pending.items():
            self._pending.take(number)
            if isinstance(entry, PendingCall):
                entry.waiter.fail(LinkClosed(f"{entry.request} to {entry.link.contact}: closed"))
        self._expected.clear()

    # ---- small parts -----------------------------------------------------------------------

    def _transmit(
        self, link: LinkEnd, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None:
        """Send what nobody waits for here; a reply that cannot travel becomes a fault."""
        try:
            link.transmit(kind, number, duration_s, message)
        except RemoteFault as error:
            self._report(link, number, duration_s, Fault(error.kind, error.message))
        except CallError:
            self.counters.unsent += 1
        except TypeError as error:
            self._report(link, number, duration_s, _internal(error))
            self._world.failed(error)

    def _guarded(self, callback: Callable[..., None], *args: object) -> None:
        """Call back into the peer; an exception of it is a bug (contract rule 5)."""
        try:
            callback(*args)
        except Exception as error:
            self._world.failed(error)

    def _report(self, link: LinkEnd, number: int, held_s: float, fault: Fault) -> None:
        report = FaultReport(fault.kind, fault.message, fault.details)
        self._transmit(link, _FAULT, number, held_s, report)


def _internal(error: Exception) -> Fault:
    return Fault("internal", type(error).__name__)
