"""One peer's world in virtual time: the SimPy adapter of `chord.runtime.Runtime`.

Law of this file: no protocol, no randomness of its own, no clock but its machine's, which may run
fast or slow (`sim.clock`).  A peer here behaves as one on sockets does; the conformance suite runs
on both.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from chord import (
    NO_LINK,
    AnotherAnswers,
    CallError,
    Contact,
    DialRefused,
    Exchange,
    ExchangingRuntime,
    Link,
    LinkClosed,
    LinkEnd,
    WaitingLinks,
)
from sim.clock import MachineClock
from sim.kernel import Kernel
from sim.link import DIAL_TIMEOUT_S, Held, SimLinkEnd, link_key
from sim.network import Network
from sim.pausing import LATELY_S, PausableTurns
from sim.task import Pause, Task, Waiter

ResultT = TypeVar("ResultT")


class SimRuntime(ExchangingRuntime):
    """The runtime of one simulated peer, or of a client if `contact` has no address.

    It listens from the start; the peer is silent until `serve` (requests are answered busy).  Its
    `clock` is exact unless another is given."""

    def __init__(
        self,
        kernel: Kernel,
        network: Network,
        contact: Contact,
        clock: MachineClock | None = None,
    ) -> None:
        self._kernel, self._network, self._contact = kernel, network, contact
        self.clock = clock if clock is not None else MachineClock(kernel)
        self.now: Callable[[], float] = self.clock.reader
        """Seconds of this machine's clock."""
        self.waiter = Waiter
        """Makes something new to wait for."""
        self.name = str(contact)
        """How the trace names this peer."""
        self._random = kernel.random(f"peer {contact.id:x} {contact.address}")
        self._owned: dict[Task[Any], None] = {}
        self._turns = PausableTurns(kernel, self.failed)
        self.paused = False
        """Whether the process is held: its links stay open, it neither hears nor speaks."""
        self._paused_s, self._late_s, self._resumed_s = 0.0, 0.0, float("-inf")
        self.is_machine_failure: Callable[[BaseException], bool] = lambda _: False
        """Hears of failures first; whether one is no bug but the end of this process."""
        self.exchange = Exchange(self)
        self._sweeps: list[float] = []
        """By this machine's clock, when its deadlines will be looked at."""
        self._links: dict[object, LinkEnd] = {link_key(contact): self.exchange.own_link}
        self._waiting: WaitingLinks[SimLinkEnd] = WaitingLinks()
        network.enter(self)

    # ---- the verbs of chord.runtime.Runtime --------------------------------------------------

    @property
    def contact(self) -> Contact:
        """How others reach this peer."""
        return self._contact

    @property
    def random(self) -> random.Random:
        """Seeded from the run's seed and this peer's contact."""
        return self._random

    def lateness(self) -> float:
        """How long its last pause was, within a second behind it; else it is never late."""
        return self._late_s if self.now() - self._resumed_s < LATELY_S else 0.0

    def sleep(self, delay_s: float) -> Pause:
        """What suspends this conversation, for so long by its own clock."""
        return Pause(self._kernel.environment, delay_s / self.clock.rate)

    def spawn(self, conversation: Coroutine[Any, Any, ResultT]) -> Task[ResultT]:
        """Start a conversation owned by this peer."""
        task = Task(self._turns, conversation, self._owned)
        if self.exchange.closed:
            task.cancel()
        return task

    def begin(self, conversation: Coroutine[Any, Any, ResultT]) -> Task[ResultT]:
        """Start a conversation owned by this peer, and take its first step now."""
        if self.exchange.closed:
            return self.spawn(conversation)
        return Task(self._turns, conversation, self._owned, at_once=True)

    def at_home(self, callback: Callable[[], object]) -> None:
        """Call it: all is in one thread here."""
        callback()

    def close(self) -> None:
        """Cancel what this peer owns, in spawn order, and close its links."""
        if self.exchange.closed:
            return
        self.paused = False
        self._turns.resume()
        self.exchange.close()
        for task in list(self._owned):
            task.cancel()
        ends = self.ends
        for end in self._waiting:
            self._forget(end)
        self._links.clear()
        self._network.sever(self, ends)

    # ---- pauses ------------------------------------------------------------------------------

    def pause(self) -> None:
        """Hold the process, as SIGSTOP does: what comes waits, timers ring when it resumes."""
        if not self.paused and not self.exchange.closed:
            self._turns.pause()
            self.paused = True
            self._paused_s = self.now()
            self._kernel.trace.record(self._kernel.now(), "pause", self.name, "", "")

    def resume(self) -> None:
        """Let it go on: what waited happens now, in the order in which it came."""
        if self.paused:
            self._resumed_s = self.now()
            self._late_s = self._resumed_s - self._paused_s
            self.paused = False
            self._kernel.trace.record(self._kernel.now(), "resume", self.name, "", "")
            self._turns.resume()

    def when_resumed(self, callback: Callable[..., object], *args: Any) -> None:
        """Run `callback(*args)` when the pause is over."""
        self._turns.call_soon(callback, *args)

    @property
    def ends(self) -> list[SimLinkEnd]:
        """The near ends of its links, in the order in which they were opened."""
        return [end for end in self._links.values() if isinstance(end, SimLinkEnd)]

    def link(self, contact: Contact) -> Link:
        """What is known of the link to `contact`."""
        end = self._find(contact)
        if end is None:
            return NO_LINK
        end.settle(self.now())
        return end

    def drop(self, contact: Contact) -> None:
        """Close the link to `contact` now, if there is one."""
        end = self._find(contact)
        if isinstance(end, SimLinkEnd) and not contact.is_another(end.contact):
            self._network.hang_up(end)
            self.lose(end, "it is not wanted any more")

    def suspects(self, contact: Contact) -> bool:
        """Whether the link to `contact` is silent about a forwarded frame."""
        end = self._find(contact)
        if end is None or not end.suspected:
            return False
        end.settle(self.now())
        return end.suspected

    def _find(self, contact: Contact) -> LinkEnd | None:
        end = self._links.get(contact.address or contact)  # its `link_key`
        if isinstance(end, SimLinkEnd) and end.other is None:
            return self._waiting.of(end, contact)
        return end

    # ---- what the exchange and the network ask -----------------------------------------------

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        """Run `callback(*args)` in a later turn."""
        self._turns.call_soon(callback, *args)

    def sweep_at(self, when_s: float) -> None:
        """Look at deadlines when this machine's clock shows that time."""
        if when_s not in self._sweeps:
            self._sweeps.append(when_s)
            true_s = self.clock.true_time_of(when_s)
            self._kernel.environment.set_deadline(true_s, self._sweep, when_s, self._is_due)

    def _is_due(self, when_s: float) -> bool:
        if self.exchange.sweep_is_due(when_s):
            return True
        self._sweeps.remove(when_s)
        return False

    def _sweep(self, when_s: float) -> None:
        if self.paused:
            self._turns.call_soon(self._sweep, when_s)
            return
        self._sweeps.remove(when_s)
        self.exchange.sweep()

    def converse(
        self,
        conversation: Coroutine[Any, Any, object],
        concluded: Callable[[object, BaseException | None], None],
    ) -> None:
        """Run a conversation and hand its outcome to `concluded`."""
        Task(self._turns, conversation, self._owned).concluded = concluded

    def link_to(self, contact: Contact) -> LinkEnd:
        """The link to `contact`; a new one opens with its first frame, or waits where another
        peer is being dialled at the address."""
        end = self._links.get(contact.address or contact)
        if end is None:
            if not contact.address:
                raise LinkClosed(f"{contact} has no link to this peer")
            end = self._links[link_key(contact)] = SimLinkEnd(self._network, self, contact)
        elif end.contact is contact:
            return end
        elif end.contact.id != contact.id or end.contact.known is not contact.known:
            if isinstance(end, SimLinkEnd) and end.other is None:  # nobody has said who is there
                return self._waiting.of(end, contact) or self._behind(end, contact)
            if contact.is_another(end.contact):
                message = f"{end.contact} answers at the address of {contact}"
                raise AnotherAnswers(message, end.contact)
        return end

    def failed(self, error: BaseException) -> None:
        """A bug stops the simulation, unless the machine knows the failure for its own."""
        if not self.is_machine_failure(error):
            self._kernel.fail(error)

    def _behind(self, dialled: SimLinkEnd, contact: Contact) -> SimLinkEnd:
        """The link to `contact`, for which the dial to another at its address decides too."""
        end = SimLinkEnd(Held(self._network.codec), self, contact)
        self._waiting.add(dialled, end)
        # Of a dial nothing may be on its way any more, where a transport loses frames.
        self._network.expect_dial(dialled, DIAL_TIMEOUT_S)
        return end

    def accept(self, far: SimLinkEnd) -> SimLinkEnd:
        """The near end of a link that another peer opens by its end: of the one dialled at the
        same time, of one that waits for that dial and is for this peer, or new."""
        contact = far.owner.contact
        key = link_key(contact)
        present = self._links.get(key)
        if not isinstance(present, SimLinkEnd) or present.other is not None:
            if isinstance(present, SimLinkEnd):
                self._forget(present)
                self.exchange.link_lost(
                    present, "replaced by a newer link", tell=present.contact != contact
                )
            end = self._links[key] = SimLinkEnd(self._network, self, contact)
            end.join(far)
            return end
        meant, others = self._waiting.take_parted(present, contact)
        end = meant[0] if meant else SimLinkEnd(self._network, self, contact)
        self._links[key] = end
        end.contact = contact
        end.join(far)
        end.travel_by(self._network)
        self._merge(meant[1:], end)
        self._refuse(others, contact)
        return end

    def opened(self, end: SimLinkEnd) -> list[SimLinkEnd]:
        """A link that was dialled is open: what waited for its dial travels by it, and what is for
        others is returned."""
        meant, others = self._waiting.take_parted(end, end.contact)
        self._merge(meant[1:], end)
        return others

    def _merge(self, ends: Iterable[SimLinkEnd], into: SimLinkEnd) -> None:
        """What waited is for the peer to which another link opened: there it goes."""
        for end in ends:
            into.take_frames(end, self.exchange.link_merged(end, into))
            end.lost = True

    def lose(self, end: SimLinkEnd, reason: str) -> None:
        """A link is gone: forget it, then let the exchange fail and re-route what hung on it."""
        self._forget(end)
        self._dial_for(self._waiting.take(end))
        self.exchange.link_lost(end, reason)

    def refuse(self, end: SimLinkEnd, who: Contact | None) -> None:
        """Nobody took the dial, or `who` is there, another peer than was meant: that one is dialled
        if a link to it waits, and by a peer in any case, as on sockets it has the connection."""
        meant: list[SimLinkEnd] = []
        if who is None:
            others = [end, *self._waiting.take(end)]
        else:
            meant, others = self._waiting.take_parted(end, who)
        self._forget(end)
        if not meant and who is not None and self._keeps(who):
            meant = [SimLinkEnd(Held(self._network.codec), self, who)]
            meant[0].dial()
        self._dial_for(meant)
        self._refuse(others, who)

    def _keeps(self, who: Contact) -> bool:
        """Whether a link to whom was found in place of another is wanted, and is not there."""
        is_peer = bool(self._contact.address) and not self.exchange.closed
        return is_peer and link_key(who) not in self._links

    def give_up_dial(self, end: SimLinkEnd, reason: str) -> None:
        """Nobody answered the dial, which proves nothing."""
        self._fail([end, *self._waiting.take(end)], reason, LinkClosed)

    def _refuse(self, ends: Iterable[SimLinkEnd], who: Contact | None) -> None:
        if who is None:
            self._fail(ends, "nobody listens", DialRefused)
        else:
            self._fail(ends, f"{who} answers there", partial(AnotherAnswers, who=who))

    def _fail(
        self, ends: Iterable[SimLinkEnd], reason: str, kind: Callable[[str], CallError]
    ) -> None:
        """End links that never opened: all, before what is sent elsewhere for it dials anew."""
        ended = list(ends)
        for end in ended:
            self._forget(end)
        for end in ended:
            self.exchange.link_lost(end, reason, kind=kind, tell=False)

    def _dial_for(self, waiting: Sequence[SimLinkEnd]) -> None:
        """What waited for a dial that has ended without an answer for it needs one of its own."""
        for end in waiting[:1]:
            self._links[link_key(end.contact)] = end
            for other in waiting[1:]:
                self._waiting.add(end, other)
            end.travel_by(self._network)
            self._network.expect_dial(end, DIAL_TIMEOUT_S)

    def _forget(self, end: SimLinkEnd) -> None:
        end.lost = True
        self._waiting.remove(end)
        key = link_key(end.contact)
        if self._links.get(key) is end:
            del self._links[key]
