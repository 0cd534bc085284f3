"""What the tests of small rings share: drawn falls, restarts, leaves, pauses, and cuts.

What is promised meanwhile, and what is changed, is each test's own.
"""

from __future__ import annotations

import random
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any

from chord import Task
from meteor import Client, MeteorError
from sim.faults import Partition
from sim.overlay import Overlay, SimPeer
from tests.meteor.copies_world import assert_whole_within, crash, restart_all
from tests.meteor.test_falling_one_by_one import start

PAUSES_S = (0, 0.1, 0.5, 2, 6)
CUT_PAUSES_S = (0, 0.5, 2, 6, 12)
"""Long enough for each side to go on by itself."""
PEERS_MAX = 12
FALLEN_S = 5.0


class FallingRing:
    """A ring to which something happens, as is drawn."""

    drawn: random.Random
    overlay: Overlay
    falls_below = 0.45
    held_below = 1.0
    """The draw below which all fall one by one, and below which one is held."""

    def change(self) -> None:
        """Change or ask something, at a drawn peer."""
        raise AssertionError("each test has its own")

    def play(self, events: range, changes: int, pauses_s: Sequence[float] = PAUSES_S) -> None:
        """As many events as are drawn, below so many changes after each, and a pause."""
        for _ in range(self.drawn.choice(events)):
            self.happen()
            for _ in range(self.drawn.randrange(0, changes)):
                self.change()
            self.overlay.run_for(self.drawn.choice(pauses_s))

    def bring_back(self) -> None:
        """All are there again, and everything is whole."""
        start(self.overlay, self.dead())
        start(self.overlay, self.dead())
        assert_whole_within(self.overlay, 90)

    def happen(self) -> None:
        """One drawn event."""
        drawn, event, living = self.drawn, self.drawn.random(), list(self.overlay.living)
        if event < 0.3 and living:
            crash(*drawn.sample(living, min(len(living), drawn.choice([1, 1, 2]))))
        elif event < self.falls_below and living:
            self.fall(living)
        elif event < 0.8:
            if dead := self.dead():
                restart_all(self.overlay, drawn.sample(dead, drawn.randrange(1, len(dead) + 1)))
        elif event < 0.88 and len(living) > 1:
            self.leave(drawn.choice(living))
        elif event < self.held_below and living:
            self.hold(drawn.choice(living))

    def leave(self, one: SimPeer) -> None:
        with suppress(MeteorError):
            self.overlay.run(one.leave())

    def hold(self, held: SimPeer) -> None:
        """For a drawn time, and let it go on."""
        held.pause()
        self.overlay.run_for(self.drawn.choice([0.5, 2, 5]))
        held.resume()

    def fall(self, living: list[SimPeer]) -> None:
        """One after the other: all, or all but one."""
        drawn, count = self.drawn, len(living)
        drawn.shuffle(living)
        for peer in living[: drawn.choice([count, count, count - 1])]:
            crash(peer)
            self.overlay.run_for(drawn.choice([0, 0.02, 0.3, 1]) * drawn.random())
            if drawn.random() < 0.3:
                self.change()

    def dead(self) -> list[SimPeer]:
        return [one for one in self.overlay.peers if not one.alive]

    def drawn_client(self) -> Client | None:
        """One at a drawn peer that is awake; None where nobody is, or has a ring yet."""
        able = [at for at, one in enumerate(self.overlay.living) if not one.runtime.paused]
        try:
            return self.client_of(self.drawn.choice(able)) if able else None
        except MeteorError:
            return None

    def client_of(self, peer: int) -> Client:
        """One of the peer of this number among those that live."""
        return self.overlay.client(peer=peer)


class CutAtTimes(FallingRing):
    """A ring that is cut in two besides, and is one again."""

    cut: Partition | None = None
    side: frozenset[str] = frozenset()
    """The addresses of one side."""

    def happen(self) -> None:
        if self.drawn.random() < 0.4:
            self.cut_or_heal()
        else:
            super().happen()

    def cut_or_heal(self) -> None:
        if self.cut is not None:
            self.heal()
            return
        peers = list(self.overlay.peers)
        self.drawn.shuffle(peers)
        count = self.drawn.randrange(1, len(peers))
        one, other = peers[:count], peers[count:]
        self.side = frozenset(peer.address for peer in one)
        self.cut = self.overlay.faults.partition(
            [peer.contact for peer in one], [peer.contact for peer in other]
        )

    def heal(self) -> None:
        if self.cut is not None:
            self.cut.heal()
        self.cut = None

    def living_with(self, address: str | None) -> list[SimPeer]:
        """Who lives on the side of an address, while there are two."""
        here = address in self.side
        living = self.overlay.living
        return [one for one in living if self.cut is None or (one.address in self.side) is here]


class GrowsAtTimes(FallingRing):
    """A ring that peers come to, two at once at times, and in which they move."""

    peers_max = PEERS_MAX

    def happen(self) -> None:
        """One drawn event."""
        event, count = self.drawn.random(), len(self.overlay.peers)
        if event < 0.3 and self.overlay.living and count < self.peers_max:
            self.beside(*(self.overlay.add_peer() for _ in range(self.drawn.choice([1, 1, 2]))))
        elif event < 0.45 and len(self.overlay.living) > 1:
            moving, place = self.drawn.choice(self.overlay.living), self.drawn.getrandbits(160)
            self.beside(self.overlay.move(moving, place))
        else:
            super().happen()

    def beside(self, *work: Coroutine[Any, Any, object]) -> None:
        """Changes, and a fall perhaps, while this is done."""
        drawn, kernel = self.drawn, self.overlay.kernel
        tasks: list[Task[None]] = [kernel.spawn(self.tried(one)) for one in work]
        self.overlay.run_for(drawn.choice([0, 0.01, 0.05, 0.2]) * drawn.random())
        for _ in range(drawn.randrange(0, 3)):
            self.change()
        fallen = None
        if drawn.random() < 0.4 and self.overlay.living:
            fallen = drawn.choice(self.overlay.living)
            crash(fallen)
        for task in tasks:
            if fallen is None or fallen.core.node.joined:
                kernel.run_until(task)
            else:  # it fell as it joined: nobody is there any more to say that it did not
                self.overlay.run_for(FALLEN_S)

    async def tried(self, work: Coroutine[Any, Any, object]) -> None:
        with suppress(MeteorError):
            await work
