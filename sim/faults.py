"""Faults of the simulated network: named, seeded, with units, off by default.

Law of this file: peers see of a fault what sockets would show them.  Links are reliable and
ordered, as TCP is, so on a link

- a *lost* frame comes late: by a retransmission time-out, doubled each time it is lost again, and
  what was sent behind it waits;
- a *duplicated* frame is discarded by the transport; what peers do see twice is a forwarded
  frame whose acknowledgement was lost, as its sender then forwards it by another link: so
  `duplication` is the share of acknowledgements that come a retransmission late;
- a *reordered* frame overtakes frames of other links, never of its own;
- a *partition* lets nothing through in its direction: frames wait for its end, dials go unanswered
  (a handshake needs both directions) and give up after `DIAL_TIMEOUT_S`, and links break once
  pings went unanswered for `LINK_SILENCE_S`, also where only one direction is cut;
- a *clog* is a short partition of two peers.

`raw` faults take the transport away for tests of the layers below acknowledged delivery: frames
vanish, arrive twice and overtake each other.

    faults = Faults(network)
    faults.frames = FrameFaults(loss=0.01, reordering=0.05)
    cut = faults.partition([peer.contact for peer in third])
    ...
    cut.heal()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from chord import Contact, FrameKind
from meteor import wrong_values
from sim.link import DIAL_TIMEOUT_S, SimLinkEnd, link_key
from sim.network import Network

LINK_SILENCE_S: Final = 22.5
"""A link whose pings go unanswered this long breaks: WebSocket heartbeats of 15 s and half."""
RETRANSMISSIONS_MAX: Final = 6
"""A frame is lost at most this often in a row."""
MAY_BE_ZERO: Final = {"loss", "retransmit_s", "duplication", "reordering", "reorder_s"}
"""Of what befalls frames, all that is a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameFaults:
    """What befalls single frames; shares are probabilities a frame, 0 to 1.

    Raises `TypeError` and `ValueError` for what is no such share or time, with the field's name."""

    loss: float = 0.0
    """Share of frames that are lost once, of those again, and so on."""
    retransmit_s: float = 0.2
    """Until a lost frame is sent again for the first time; Linux's least time-out is 0.2 s."""
    duplication: float = 0.0
    """Share of acknowledgements of forwarded frames that come `retransmit_s` late; raw: of frames
    that arrive twice."""
    reordering: float = 0.0
    """Share of frames that take longer by up to `reorder_s`."""
    reorder_s: float = 0.05
    """The most extra time of a reordered frame."""
    raw: bool = False
    """Whether there is no transport that repairs: lost frames vanish, late ones are overtaken."""

    def __post_init__(self) -> None:
        for name in ("loss", "duplication", "reordering"):
            share = getattr(self, name)
            if wrong_values.is_number(share) and not 0 <= share <= 1:
                raise ValueError(f"{name} is a share from 0 to 1, not {share}")
        wrong_values.check_numbers(self, MAY_BE_ZERO)
        wrong_values.checked_truth("raw", self.raw)


class Partition:
    """A cut between two sides: no frame of the cut directions arrives until `heal`."""

    def __init__(
        self,
        faults: Faults,
        side: Iterable[Contact],
        others: Iterable[Contact] | None,
        *,
        one_way: bool,
    ) -> None:
        self._faults = faults
        self._side = frozenset(link_key(contact) for contact in side)
        self._others = None if others is None else frozenset(link_key(other) for other in others)
        self._one_way = one_way

    def stops(self, source: object, target: object) -> bool:
        """Whether a frame from `source` to `target` (link keys) does not get through."""
        if self._leads_out(source, target):
            return True
        return not self._one_way and self._leads_out(target, source)

    def heal(self) -> None:
        """Let everything through again; harmless when repeated."""
        self._faults.lift(self)

    def _leads_out(self, source: object, target: object) -> bool:
        if source not in self._side or target in self._side:
            return False
        return self._others is None or target in self._others


class Faults:
    """The faults of one network; while there are none, frames travel as if it did not exist."""

    def __init__(self, network: Network) -> None:
        self._network, self._kernel = network, network.kernel
        self._stream = self._kernel.random("faults")
        self._frames: FrameFaults | None = None
        self._partitions: list[Partition] = []
        self._waiting: list[tuple[object, object, Callable[[], None]]] = []
        self.counts: dict[str, int] = {}
        """How often each fault struck, by name."""

    @property
    def frames(self) -> FrameFaults | None:
        """What befalls single frames now; settable, None is nothing."""
        return self._frames

    @frames.setter
    def frames(self, faults: FrameFaults | None) -> None:
        self._frames = faults
        self._attach()

    @property
    def active(self) -> bool:
        """Whether any fault is on."""
        return self._frames is not None or bool(self._partitions)

    # ---- partitions --------------------------------------------------------------------------

    def partition(
        self,
        side: Iterable[Contact],
        others: Iterable[Contact] | None = None,
        *,
        one_way: bool = False,
    ) -> Partition:
        """Cut `side` from `others`, or from everybody else, those who come later included.

        With `one_way` only frames from `side` are stopped; the others are still heard.  The clients
        of a peer are cut off from it unless their contacts (`Overlay.clients`) are on its side."""
        cut = Partition(self, side, others, one_way=one_way)
        self._partitions.append(cut)
        self._attach()
        self._count("partition")
        self._kernel.call_later(LINK_SILENCE_S, self._break_links, cut)
        return cut

    def clog(self, one: Contact, other: Contact, for_s: float) -> Partition:
        """Let nothing pass between two peers for `for_s` seconds; raises `TypeError` and
        `ValueError` for what is no such time."""
        for_s = wrong_values.checked_number("for_s", for_s)
        cut = self.partition([one], [other])
        self._kernel.call_later(for_s, cut.heal)
        return cut

    def vanish(self, contact: Contact) -> Partition:
        """Crash a peer together with its machine: no link closes, dials are never answered, until
        the partition that this returns is healed.

        Only the network knows: the overlay counts the peer among its `living`, and its `restart`
        takes it for alive, until its `crash()` is called, too."""
        cut = self.partition([contact])
        self._network.crash(contact)
        return cut

    def lift(self, cut: Partition) -> None:
        """End a partition: what waited travels on, in order."""
        if cut in self._partitions:
            self._partitions.remove(cut)
            self._release()
            self._attach()

    def clear(self) -> None:
        """End every fault."""
        self._frames = None
        self._partitions.clear()
        self._release()
        self._attach()

    def stops(self, source: object, target: object) -> bool:
        """Whether some partition stops frames from `source` to `target` (link keys)."""
        return any(cut.stops(source, target) for cut in self._partitions)

    # ---- what the network asks ---------------------------------------------------------------

    def carry(
        self, end: SimLinkEnd, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None:
        """Decide when, and whether, a frame that is sent now travels."""
        source, target = link_key(end.owner.contact), link_key(end.contact)
        dials = end.other is None
        if self.stops(source, target) or (dials and self.stops(target, source)):
            if dials:
                self._network.expect_dial(end, DIAL_TIMEOUT_S)
            self._count("held")
            self._wait(source, target, lambda: self._again(end, kind, number, duration_s, message))
            return
        launch = self._network.launch
        frames = self._frames
        if frames is None:
            launch(end, kind, number, duration_s, message)
            return
        if not frames.raw:
            launch(end, kind, number, duration_s, message, extra_s=self._late_s(frames))
            return
        for extra_s in self._raw_copies(frames):
            launch(end, kind, number, duration_s, message, extra_s=extra_s, ordered=False)

    def acknowledge_late_s(self) -> float:
        """How much later than usual an acknowledgement comes to whoever sent the frame."""
        frames = self._frames
        if frames is None or self._stream.random() >= frames.duplication:
            return 0.0
        self._count("duplication")
        return frames.retransmit_s

    def hold_back(self, end: SimLinkEnd, callback: Callable[[], None]) -> bool:
        """Keep something that travels to `end` until it may; False if nothing is in its way."""
        source, target = link_key(end.contact), link_key(end.owner.contact)
        if not self.stops(source, target):
            return False
        self._wait(source, target, callback)
        return True

    # ---- small parts -------------------------------------------------------------------------

    def _late_s(self, frames: FrameFaults) -> float:
        """The extra time of a frame on a reliable link."""
        late_s, timeout_s = 0.0, frames.retransmit_s
        for _ in range(RETRANSMISSIONS_MAX):
            if self._stream.random() >= frames.loss:
                break
            self._count("loss")
            late_s += timeout_s
            timeout_s *= 2
        if self._stream.random() < frames.reordering:
            self._count("reordering")
            late_s += self._stream.uniform(0, frames.reorder_s)
        return late_s

    def _raw_copies(self, frames: FrameFaults) -> list[float]:
        """The extra times of a frame without a transport: none if it is lost, or two."""
        if self._stream.random() < frames.loss:
            self._count("loss")
            return []
        count = 1
        if self._stream.random() < frames.duplication:
            self._count("duplication")
            count = 2
        late = []
        for _ in range(count):
            reordered = self._stream.random() < frames.reordering
            late.append(self._stream.uniform(0, frames.reorder_s) if reordered else 0.0)
        return late

    def _again(
        self, end: SimLinkEnd, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None:
        if not end.lost:
            self._network.carry(end, kind, number, duration_s, message)

    def _wait(self, source: object, target: object, callback: Callable[[], None]) -> None:
        self._waiting.append((source, target, callback))

    def _release(self) -> None:
        """Let go on what no partition stops any more; what one still stops waits again."""
        waiting, self._waiting = self._waiting, []
        for source, target, callback in waiting:
            if self.stops(source, target):
                self._wait(source, target, callback)
            else:
                callback()

    def _break_links(self, cut: Partition) -> None:
        """Pings were not answered: both ends of every link across the cut close it."""
        if cut not in self._partitions:
            return
        for end in self._network.ends():
            key, far = link_key(end.owner.contact), link_key(end.contact)
            across = cut.stops(key, far) or cut.stops(far, key)
            if across and end.other is not None and not end.lost:
                self._count("broken")
                end.owner.lose(end, f"no answer to pings for {LINK_SILENCE_S} s")

    def _count(self, fault: str) -> None:
        self.counts[fault] = self.counts.get(fault, 0) + 1

    def _attach(self) -> None:
        """The network asks only while something may go wrong."""
        self._network.faults = self if self.active or self._waiting else None
