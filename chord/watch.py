"""Asking other members, with time-outs from the measured link, and noting who does not answer.

Law of this file: a contact is given up on a refused dial, or after enough unanswered calls over
enough time, never for less; it is suspected, which only steers routing, for one.  A peer that is
late itself counts nothing against others and suspects nobody.  DESIGN section 2, failure detection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chord.errors import Busy, CallError, DialRefused, NotJoined, RemoteFault
from chord.link import SILENCE_FLOOR_S
from chord.messages import Ping
from chord.realms import Strangers
from chord.remembered import Remembered
from chord.suspicion import Departed, Silence

if TYPE_CHECKING:
    from collections.abc import Callable

    from chord.config import ChordConfig
    from chord.contact import Contact
    from chord.runtime import Runtime, Task


HASTY_MAX = 64
"""The largest multiple of the measured time-out."""
EXCUSED_TIMES = 4
"""A silence that is so many times as long as this peer's own loop was late is another's."""
EXCUSED_MAX = 256
MET_MAX = 16
"""Of those that look for a ring at the same time so many are enough to find it by."""


class Watch:
    """Calls to ring members.

    In the asker's turn, `missed()` is told that somebody did not answer, `lost(contact, is_news)`
    of one that is dead, `left(contact)` of one that lives but is no member any more, `remembers()`
    when somebody new is remembered."""

    __slots__ = (
        "_checks",
        "_config",
        "_excused",
        "_hasty",
        "_left",
        "_lost",
        "_remembers",
        "_runtime",
        "_silence",
        "_tell_missed",
        "departed",
        "met",
        "remembered",
        "strangers",
    )

    def __init__(
        self,
        runtime: Runtime,
        config: ChordConfig,
        missed: Callable[[], None],
        lost: Callable[[Contact, bool], None],
        left: Callable[[Contact], None],
        remembers: Callable[[], None],
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._tell_missed = missed
        self._lost = lost
        self._left = left
        self._remembers = remembers
        self._silence = Silence(config.misses_max, config.silence_s)
        self._hasty: dict[Contact, int] = {}
        """By how much more time than was measured these are to be given: replies came too late."""
        self._excused: dict[Contact, float] = {}
        """Since when these are silent, as far as this peer, which was late, has looked."""
        self._checks: dict[Contact, Task[None]] = {}
        self.met: dict[str, Contact] = {}
        """Who asked for a place in the ring while this peer was no member, by address."""
        self.departed = Departed(config.departed_max, config.departed_s)
        self.strangers = Strangers(config.realm, runtime.contact)
        self.remembered = Remembered(runtime.contact.id, config.remembered_max, config.remembered_s)

    def meet(self, contact: Contact) -> None:
        """Somebody looks for a ring, as this peer does: the first of them are kept."""
        if contact.known and contact.address and len(self.met) < MET_MAX:
            self.met.setdefault(contact.address, contact)

    def timeout_s(self, contact: Contact) -> float:
        """How long a call to the contact may take: srtt + 4·rttvar between floor and ceiling."""
        link, config = self._runtime.link(contact), self._config
        limit_s, srtt_s = config.call_timeout_s_initial, link.srtt_s
        if srtt_s > 0:
            limit_s, least_s = srtt_s + 4 * link.rttvar_s, config.call_timeout_s_min
            limit_s = max(limit_s, least_s)
        if self._hasty:
            limit_s *= self._hasty.get(contact, 1)
        most_s = config.call_timeout_s_max
        return min(most_s, limit_s)

    async def ask(self, contact: Contact, request: object, timeout_s: float | None = None) -> Any:
        """The contact's reply; raises `CallError` as the runtime does, having noted it."""
        asked_s = self._runtime.now()
        limit_s = self.timeout_s(contact) if timeout_s is None else timeout_s
        try:
            reply = await self._runtime.call(contact, request, limit_s)
        except DialRefused:
            self._give_up(contact)
            raise
        except Busy:
            if self._runtime.link(contact).last_heard_s >= asked_s:
                self.heard(contact)
            else:  # the request never left, as too much waits for the contact already
                self._missed(contact, asked_s)
            raise
        except RemoteFault as fault:
            self.heard(contact)
            if fault.kind == NotJoined.__name__ and contact.known:
                self._left(contact)
            raise
        except CallError:
            self._missed(contact, asked_s)
            raise
        self.heard(contact)
        if self._hasty:
            self._hasty.pop(contact, None)
        return reply

    def heard(self, contact: Contact) -> None:
        """A frame came from the contact: it is neither silent nor gone."""
        if self._silence.misses:
            self._silence.heard(contact)
        if self.departed.since:
            self.departed.discard(contact)

    def suspects(self, contact: Contact) -> bool:
        """Whether the contact is silent at this moment: a reason to go round it, and no more.

        Where this peer's own loop was late, the silence may be its own, unless it goes on for much
        longer than that: on a busy machine each lookup would find out anew who is dead."""
        if not self._runtime.suspects(contact):
            return False
        late_s, now = self._runtime.lateness(), self._runtime.now()
        if late_s < SILENCE_FLOOR_S:
            return True
        since_s = self._excused.get(contact, float("-inf"))
        if since_s <= self._runtime.link(contact).last_heard_s:
            since_s = self._excuse(contact, now)
        return now - since_s > EXCUSED_TIMES * late_s

    def _excuse(self, contact: Contact, now: float) -> float:
        self._excused.pop(contact, None)
        self._excused[contact] = now
        if len(self._excused) > EXCUSED_MAX:
            del self._excused[next(iter(self._excused))]
        return now

    def remember(self, contact: Contact) -> None:
        """The contact was lost without a good-bye; it may come back."""
        if self.remembered.add(contact, self._runtime.now()):
            self._remembers()

    def mark_departed(self, contact: Contact) -> None:
        """The contact is no member any more: older lists shall not bring it back."""
        self._silence.heard(contact)
        self.departed.add(contact, self._runtime.now())

    def expire(self) -> None:
        """Forget who has been gone for long."""
        self.departed.expire(self._runtime.now())

    def check(self, contact: Contact) -> Task[None]:
        """Ask the contact for a sign of life, once at a time."""
        task = self._checks.get(contact)
        if task is None:
            task = self._runtime.spawn(self._check(contact))
            self._checks[contact] = task
        return task

    async def _check(self, contact: Contact) -> None:
        try:
            await self.ask(contact, Ping(self._config.realm))
        except CallError:
            return  # `ask` has noted what it means
        finally:
            self._checks.pop(contact, None)

    def _missed(self, contact: Contact, asked_s: float) -> None:
        now = self._runtime.now()
        if self._runtime.lateness() > self._config.lateness_s_max:
            return
        heard_s = self._runtime.link(contact).last_heard_s
        if heard_s > asked_s:
            self._silence.heard(contact)
            # It lives, and answers slower than was measured: as late replies are not measured, only
            # more patience finds out.
            times = min(2 * self._hasty.pop(contact, 1), HASTY_MAX)
            self._hasty[contact] = times
            if len(self._hasty) > EXCUSED_MAX:
                del self._hasty[next(iter(self._hasty))]
            return
        self._tell_missed()
        if self._silence.missed(contact, asked_s, now, heard_s):
            self._give_up(contact)

    def _give_up(self, contact: Contact) -> None:
        if not contact.known:
            return
        self._hasty.pop(contact, None)
        is_news = contact not in self.departed
        self.mark_departed(contact)
        self.remember(contact)
        self._lost(contact, is_news)
