"""A giver keeps what it had until the taker has begun, also where others are copies enough.

A peer was held until the next on the ring stood in for it, and gave all that it had as it was back.
Its two copies were to be the copies of the taker too, so that the giver itself was none: it kept
nothing, and told them to let go a moment later.  Where the taker fell before it began nobody had
anything any more, though one of eight had fallen (seed 987 of `test_small_rings_apart_at_once`,
where one of the copies fell before it was told).
"""

from __future__ import annotations

import pytest

from chord import Contact
from meteor.copies.giving import Giving
from meteor.wire.operations import Yours
from meteor.wire.view import View
from sim.overlay import SimPeer
from squid import Intervals
from tests.meteor.copies_world import ask, assert_whole_within, build, store_some

SEED = 12
"""In which the newcomer asks for what the held one has just as that one is back."""
HELD_S = 2.0


class Held:
    """A ring in which a peer comes before one that is held as soon as it has come."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.overlay = build(SEED, 7, disk_s=0.002)
        drawn = self.overlay.kernel.random("stored")
        self.stored = set(store_some(self.overlay, self.overlay.client(), drawn, 20))
        assert_whole_within(self.overlay)
        self.overlay.run_for(2.0)
        ring = sorted(self.overlay.living, key=lambda peer: peer.contact.id)
        self.held, self.after = ring[2], ring[3]
        self.given: View | None = None
        monkeypatch.setattr(Giving, "_commit", self._watched(Giving._commit))
        middle = (self.held.contact.id + self.after.contact.id) // 2
        self.taker: SimPeer = self.overlay.run(self.overlay.add_peer(middle))

    def _watched(self, commit: object) -> object:
        async def and_watch(giving: Giving, part: Intervals, taker: Contact, view: View) -> Yours:
            reply: Yours = await commit(giving, part, taker, view)  # type: ignore[operator]
            own = giving._runtime.contact
            if own == self.after.contact:
                self.held.pause()
            elif own == self.held.contact:
                self.given = view
                self.taker.crash()
            return reply

        return and_watch

    def give(self) -> View:
        """The held one is back, and gives what it has; the taker falls before it hears of it."""
        self.overlay.run_for(HELD_S)
        self.held.resume()
        while self.given is None:
            self.overlay.run_for(0.001)
        return self.given


def test_of_what_was_given_nothing_is_lost_with_the_taker(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = Held(monkeypatch)
    view = ring.give()
    assert len(view.copies) == ring.overlay.copies, "both copies of the giver's, and the giver"
    assert view.has_copy(ring.held.contact.id)
    assert_whole_within(ring.overlay)
    client = ring.overlay.client()
    assert ask(ring.overlay, client) == (ring.stored, True)
