"""Small rings as in `test_small_rings_that_move`, whose records live for seconds, by clocks that
differ.

What is within its time is there, or named as missing; what is past it, by the slowest clock and
what lay on a link, is in no answer; an acknowledged renewal counts, and what was deleted is not
back.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from arms import DATA, Profile
from meteor import Client, Incomplete, MeteorError, Receipt, profile
from meteor.wire.record_id import stem_of
from sim.clock import ClockPlan
from sim.overlay import SimPeer
from squid import covers, merge
from tests.meteor import copies_world
from tests.meteor.building import draw_data
from tests.meteor.copies_world import assert_whole_within, build, index_of
from tests.meteor.small_ring_world import FallingRing

DRIFT = 0.005
"""Either way: two clocks differ by a hundredth at most, as `meteor.keeping.outlived` has it."""
LATE_S = 3.0
"""What was on its way as a peer was held, or a link came back, may live so much longer."""
PENDING_S = 45.0
"""A replace that was incomplete is gone on with for half a minute."""
LIVES_S = (5, 8, 15, 30, 60)
PAUSES_S = (0, 0.1, 0.5, 2, 6, 15)
TIMEOUTS_S = (0.4, 2, 6)
NEVER = float("inf")
WIDE = (
    "type=lamp temperature=-40..120",
    "type=* temperature=10..60",
    "type=l* temperature=-40..-39",
)
"""What lies at several peers, of which each counts the time for itself."""


@dataclass
class Life:
    """What was promised of one record."""

    id: str
    """Its last acknowledged one, or one that may be its; empty where none was told."""
    surely_s: float = 0.0
    """Until then it lives."""
    latest_s: float = 0.0
    """After that it does not."""
    places: set[str] = field(default_factory=set)
    anywhere: bool = False
    """Whether it may be at a place that nobody told of."""
    is_gone: bool = False
    is_unknown: bool = False
    """Whether fewer than three know of some of it, and others delete it without."""
    shortest_s: float = NEVER
    """By what may still be carried out it ends no earlier than this ..."""
    longest_s: float = 0.0
    """... and no later than this ..."""
    pending_until_s: float = 0.0
    """... which may be until then."""
    is_under_way: bool = False
    """Whether something is asked for just now."""

    def sure(self, surely_s: float, latest_s: float, began_s: float) -> None:
        """It is acknowledged that it lives for so long."""
        if began_s > self.pending_until_s:
            self.shortest_s, self.longest_s = NEVER, 0.0
        self.surely_s = min(surely_s, self.shortest_s)
        self.latest_s = max(latest_s, self.longest_s)

    def unsure(self, surely_s: float, latest_s: float, until_s: float) -> None:
        """That may be so, or it is as before; or is so at last, by then."""
        self.surely_s = min(self.surely_s, surely_s)
        self.latest_s = max(self.latest_s, latest_s)
        self.shortest_s = min(self.shortest_s, surely_s)
        self.longest_s = max(self.longest_s, latest_s)
        self.pending_until_s = max(self.pending_until_s, until_s)


class FleetingRing(FallingRing):
    """A ring, and what was promised of its records."""

    sizes: tuple[int, ...] = (3, 3, 4, 4, 5, 5, 6)
    client: Client | None = None
    late_s = LATE_S
    """So late may come what its client waits for no more."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.drawn = random.Random(seed * 17 + 9)
        self.size = self.drawn.choice(self.sizes)
        self.copies = min(self.size, 3)
        monkeypatch.setattr(copies_world, "COPIES", self.copies)
        disk_s = self.drawn.choice([0.001, 0.002, 0.004])
        clocks = ClockPlan(drift_max=DRIFT, wall_error_s_max=self.drawn.choice([0.0, 60.0, 3600.0]))
        self.overlay = build(seed, self.size, disk_s=disk_s, clocks=clocks)
        self.lives: dict[str, Life] = {}
        assert_whole_within(self.overlay, 30)
        for _ in range(6):
            with suppress(MeteorError):
                self.store(self.client_of(0), 6)

    @property
    def now_s(self) -> float:
        return self.overlay.kernel.now()

    def client_of(self, peer: int) -> Client:
        """Its author's clock is right: which of several counts is another question."""
        first = int(self.overlay.wall_clock() * 1_000_000)
        return self.overlay.client(peer=peer, first_version=first)

    def change(self) -> None:
        """At a drawn peer, with a drawn time."""
        client = self.drawn_client()
        if client is None:
            return
        self.client = client
        what, timeout_s = self.drawn.random(), self.drawn.choice(TIMEOUTS_S)
        with suppress(MeteorError):
            if what < 0.2:
                self.store(client, timeout_s)
            elif what < 0.5:
                self.renew(client, timeout_s)
            elif what < 0.65:
                self.replace(client, timeout_s)
            elif what < 0.85:
                self.cancel(client, timeout_s)
            else:
                self.ask(client, 4.0)

    def store(self, client: Client, timeout_s: float) -> None:
        stem, ttl_s = f"r{len(self.lives)}", self.draw_life_s()
        life = self.lives[stem] = Life("")
        data = self.draw_profile()
        asked = client.store(data, b"y", id=stem, ttl=ttl_s, timeout=timeout_s)
        self.carry_out(life, asked, ttl_s, self.late_s)

    def renew(self, client: Client, timeout_s: float) -> None:
        if (life := self.draw_life()) is None:
            return
        ttl_s, began_s = self.draw_life_s(), self.now_s
        asked = client.renew(life.id, ttl=ttl_s, timeout=timeout_s)
        receipt = self.carry_out(life, asked, ttl_s, self.late_s, is_renewal=True)
        if not receipt.matches:
            lives = life.surely_s > self.now_s and not life.is_gone
            lives = lives and self.is_alone_with(life)
            assert not lives, f"a renewal of {began_s} found nothing: {life}"

    def replace(self, client: Client, timeout_s: float) -> None:
        if (life := self.draw_life()) is None:
            return
        data, ttl_s = self.draw_profile(), self.draw_life_s()
        asked = client.replace(life.id, data, b"z", ttl=ttl_s, timeout=timeout_s)
        self.carry_out(life, asked, ttl_s, PENDING_S + self.late_s)

    def carry_out(
        self,
        life: Life,
        asked: Awaitable[Receipt],
        ttl_s: float,
        pending_s: float,
        *,
        is_renewal: bool = False,
    ) -> Receipt:
        """Ask for it, and note what is promised by then."""
        began_s, counts = self.now_s, self.counts()
        surely_s = began_s + ttl_s / (1 + DRIFT)
        life.is_under_way = True
        try:
            receipt = self.overlay.run(asked)
        except MeteorError as error:
            until_s = self.now_s + pending_s
            life.unsure(surely_s, until_s + ttl_s / (1 - DRIFT) + LATE_S, until_s)
            life.is_unknown = life.is_unknown or not counts
            came = error.receipt if isinstance(error, Incomplete) else None
            if came is None:
                life.anywhere = True
            else:
                life.places.add(came.id)
                life.id = life.id or came.id
            raise
        finally:
            life.is_under_way = False
        latest_s = self.now_s + ttl_s / (1 - DRIFT) + LATE_S
        if is_renewal and not receipt.matches:
            return receipt
        life.places.add(receipt.id)
        if counts and self.counts() and self.is_alone_with(life):
            life.id = receipt.id
            life.sure(surely_s, latest_s, began_s)
        else:
            life.id = life.id or receipt.id
            life.unsure(surely_s, latest_s, NEVER)
            life.is_unknown = life.is_unknown or not (counts and self.counts())
        return receipt

    def is_alone_with(self, _: Life) -> bool:
        """Whether nobody can have changed it elsewhere."""
        return True

    def cancel(self, client: Client, timeout_s: float) -> None:
        if (life := self.draw_life()) is None:
            return
        life.surely_s = 0.0
        life.shortest_s, life.pending_until_s = 0.0, NEVER
        receipt = self.overlay.run(client.cancel(life.id, timeout=timeout_s))
        if receipt.complete and receipt.matches and self.counts() and not life.is_unknown:
            life.is_gone = True

    def draw_profile(self) -> Profile | str:
        """Of one place, or of several."""
        if self.drawn.random() < 0.3:
            return self.drawn.choice(WIDE)
        return profile(draw_data(self.drawn))

    def draw_life_s(self) -> float:
        return self.drawn.choice(LIVES_S)

    def draw_life(self) -> Life | None:
        able = [one for one in self.lives.values() if one.id and not one.is_gone]
        able = [one for one in able if one.latest_s > self.now_s]
        if not able or self.drawn.random() < 0.6:  # one to which much happens
            return able[0] if able else None
        return self.drawn.choice(able)

    def counts(self) -> bool:
        """Whether what was acknowledged just now is known to more than the last two."""
        return len(self.overlay.living) >= 3

    def ask(self, client: Client, timeout_s: float) -> None:
        began_s = self.now_s
        answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=timeout_s)
        found = [stem_of(match.id) for match in self.overlay.run(answer.all())]
        assert len(found) == len(set(found)), f"told twice: {sorted(found)}"
        for stem, life in self.lives.items():
            missing = any(covers(answer.missing, index_of(place)) for place in life.places)
            missing = missing or (life.anywhere and not answer.complete)
            if stem in found:
                assert not life.is_gone, f"deleted, and there: {stem} {life}"
                assert began_s <= life.latest_s, f"over, and there at {began_s}: {stem} {life}"
            elif not life.is_gone:
                lives = life.surely_s > self.now_s + 0.1
                assert missing or not lives, f"silently absent at {began_s}: {stem} {life}"

    def assert_ends(self) -> None:
        """Everybody who has a record has it for its time: whoever takes over goes by that."""
        for peer in self.overlay.living:
            shelf, views = peer.core.shelf, peer.core.views
            had = merge((*views.held(), *views.copied()))
            for stem, life in self.lives.items():
                placed = shelf.find(("", stem))
                if placed is None or placed.carried.kind != DATA:
                    continue
                left_s = (placed.carried.ttl_ms - shelf.wall_ms()) / 1000
                if left_s <= 0 or not shelf.meets(placed.carried, had):
                    continue
                ends_s = self.now_s + left_s / peer.runtime.clock.rate
                assert not life.is_gone, f"{peer.address} has {stem} {life}"
                is_right = life.surely_s - 1 <= ends_s <= life.latest_s
                assert is_right, f"{peer.address} has {stem} until {ends_s}: {life}"

    def hold(self, held: SimPeer) -> None:
        held.pause()
        self.overlay.run_for(self.drawn.choice([0.5, 2, 5]))
        for _ in range(self.drawn.randrange(0, 3)):
            self.change()
        held.resume()


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = FleetingRing(seed, monkeypatch)
    print(f"{ring.size} peers, {ring.copies} copies")
    ring.play(range(4, 12), 5, PAUSES_S)
    ring.bring_back()
    ring.assert_ends()
    for pause_s in (0.0, 2.0, 6.0, 12.0, 20.0, 40.0, 60.0):
        ring.overlay.run_for(pause_s)
        ring.ask(ring.client_of(ring.drawn.randrange(ring.size)), 8.0)
    assert_whole_within(ring.overlay, 60)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_what_lives_is_there_and_what_is_over_is_not(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_all_holds(seed, monkeypatch)
