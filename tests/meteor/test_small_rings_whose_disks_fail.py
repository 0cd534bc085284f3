"""Small rings as in `test_small_rings_that_move`, with bad disks.

Machines lose their power, and what was being written is lost, reached the disk, or is torn; bits
flip in journals, tails are cut off, a disk is gone; disks are full or slow for a while.  What is
damaged at one peer another one has, whose journal is whole: so the same is promised as ever.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from chord import MeteorError
from meteor.keeping.record_front import carried_in
from meteor.keeping.shelf_journal import LOSS_KEY, VIEWS_KEY
from meteor.wire.copy_messages import ViewsNote
from meteor.wire.operations import Carried
from meteor.wire.view import View
from sim.overlay import SimPeer
from squid import merge, subtract
from tests.meteor import copies_world
from tests.meteor.copies_world import assert_whole_within, crash
from tests.meteor.disks_of_their_own import BATCHES_MAX, DisksOfTheirOwn
from tests.meteor.test_falling_one_by_one import start
from tests.meteor.test_small_rings_that_move import MovingRing

FOUND = {
    75: "what began at a peer after its journal had lost something counted for nothing",
    269: "a primary that had lost a record was not believed that a view of its never began",
    287: "of two holders one had lost a record, and knew its views: named for good",
}
LEAVES_WITHIN_S = 30.0
SLOW_S = (0.02, 0.1, 0.4, 0.7)
"""What a write takes on a slow disk."""


class FailingDisks(MovingRing):
    """A ring, its disks, and what was promised of its records."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(copies_world, "SimDisk", DisksOfTheirOwn)
        super().__init__(seed, monkeypatch)
        assert isinstance(self.overlay.disk, DisksOfTheirOwn)
        self.disks = self.overlay.disk
        self.usual_s = self.disks.write_latency_s
        self.hurt_max = self.drawn.choice([1, 1, self.copies - 1])
        """So many journals may be damaged at once."""
        self.is_loose = self.drawn.random() < 0.5
        """Whether there may be less left of a view than proves that it was the last."""

    # -- what happens

    def happen(self) -> None:
        drawn, event = self.drawn, self.drawn.random()
        self.disks.unsynced = drawn.choice(["lost", "reach"])
        if event < 0.15:
            self.tear()
        elif event < 0.4:
            self.damage()
        elif event < 0.5:
            self.fill_or_make_room()
        elif event < 0.6:
            self.slow_down()
        else:
            super().happen()

    def tear(self) -> None:
        """One loses its power, and what it was writing is torn."""
        if self.overlay.living and self.may_hurt(one := self.drawn.choice(self.overlay.living)):
            self.change_in_the_middle()
            if one.alive:
                self.disks.unsynced = "torn"
                crash(one)

    def change_in_the_middle(self) -> None:
        """Something is being written."""
        living = [at for at, one in enumerate(self.overlay.living) if not one.runtime.paused]
        if living:
            with suppress(MeteorError):
                client = self.overlay.client(peer=self.drawn.choice(living))
                self.store(client, self.drawn.choice([0.003, 0.006, 0.01, 0.02]))

    def damage(self) -> None:
        """What a drawn peer has on its disk, which is down then, or goes down some time."""
        drawn = self.drawn
        able = [one for one in self.overlay.peers if self.may_hurt(one)]
        if not able:
            return
        one, how = drawn.choice(able), drawn.random()
        if how < 0.3:
            crash(one)
            self.cut_tail(one)
            return
        if how < 0.4:
            crash(one)
            self.wipe(one)
            return
        content = self.disks._content.get(one.address, {})
        keys = [key for key in content if self.is_elsewhere(one, key)]
        wanted = drawn.sample(keys, min(len(keys), drawn.choice([1, 1, 2, 5])))
        if how < 0.7 and VIEWS_KEY in content:
            wanted.append(VIEWS_KEY)
        for key in wanted:
            self.say(f"damaged {one.address} {key!r}")
            self.disks.damage(one.address, key)
        if one.alive and drawn.random() < 0.7:
            crash(one)

    def cut_tail(self, one: SimPeer) -> None:
        batches = self.disks.last_batches(one.address)
        count = self.drawn.randrange(1, BATCHES_MAX + 1)
        while count and not self.may_cut(one, batches[-count:]):
            count -= 1
        if count and len(batches) >= count:
            self.say(f"cut {count} batches of {one.address}")
            self.disks.cut_tail(one.address, count)

    def may_cut(self, one: SimPeer, batches: list[set[bytes]]) -> bool:
        """Whether somebody else has all that was written then."""
        content = self.disks._content.get(one.address, {})
        keys = {key for batch in batches for key in batch if key.startswith(b"r:")}
        return all(key not in content or self.is_elsewhere(one, key) for key in keys)

    def wipe(self, one: SimPeer) -> None:
        keys = [k for k in self.disks._content.get(one.address, {}) if k.startswith(b"r:")]
        if all(self.is_elsewhere(one, key) for key in keys):
            self.say(f"wiped {one.address}")
            self.disks.wipe(one.address)

    def fill_or_make_room(self) -> None:
        full = sorted(self.disks._filled)
        if full and self.drawn.random() < 0.6:
            self.disks.make_room(self.drawn.choice(full))
        else:
            one = self.drawn.choice(self.overlay.peers)
            self.say(f"full: {one.address}")
            self.disks.fill(one.address)

    def slow_down(self) -> None:
        for one in self.overlay.peers:
            takes_s = self.drawn.choice([self.usual_s, self.usual_s, *SLOW_S])
            self.disks.machine(one.address).write_latency_s = takes_s

    def leave(self, one: SimPeer) -> None:
        """Where its disk is full it ends meanwhile."""

        async def leaving() -> None:
            with suppress(MeteorError):
                await one.leave()

        task = self.overlay.kernel.spawn(leaving())
        until_s = self.overlay.kernel.now() + LEAVES_WITHIN_S
        while not task.done() and self.overlay.kernel.now() < until_s:
            self.overlay.run_for(0.1)
        one.crash()

    def bring_back(self) -> None:
        """The disks are as they should be."""
        for one in self.overlay.peers:
            self.disks.make_room(one.address)
            self.disks.machine(one.address).write_latency_s = self.usual_s
        start(self.overlay, self.dead())
        start(self.overlay, self.dead())
        if self.is_loose:
            self.overlay.run_for(40)
        else:
            assert_whole_within(self.overlay, 90)

    # -- what may be damaged

    def is_hurt(self, one: SimPeer) -> bool:
        """Whether a peer has lost something, and has not all again."""
        content = self.disks._content.get(one.address, {})
        lacks = self.disks.is_hurt(one.address) or LOSS_KEY in content or VIEWS_KEY not in content
        return lacks or one.core.views.damaged

    def may_hurt(self, one: SimPeer) -> bool:
        hurt = {other.address for other in self.overlay.peers if self.is_hurt(other)}
        few = len(hurt | {one.address}) <= self.hurt_max
        return few and (self.is_loose or self.is_proven_without(one))

    def is_proven_without(self, one: SimPeer) -> bool:
        """Whether the most of those who held what a peer did have whole journals that say so."""
        others = [self.noted(other) for other in self.overlay.peers
                  if other is not one and not self.is_hurt(other)]  # fmt: skip
        return all(self.is_proven_by(others, view) for view in self.noted(one))

    @staticmethod
    def is_proven_by(others: list[list[View]], view: View) -> bool:
        """Whether what these noted proves that a view was the last, or was not."""
        noted = [one for views in others for one in views]
        later = merge(*(one.intervals for one in noted if one.epoch > view.epoch))
        if not subtract(view.intervals, later):
            return True
        had = (view.key, view.epoch)
        alike = [1 for views in others if had in [(one.key, one.epoch) for one in views]]
        return 2 * len(alike) > len(view.holders)

    def noted(self, one: SimPeer) -> list[View]:
        """What a peer's journal says that it had a part in."""
        stored = self.disks._content.get(one.address, {}).get(VIEWS_KEY)
        if stored is None or not stored.is_whole:
            return []
        note = carried_in(stored.value)
        assert isinstance(note, ViewsNote)
        return [*note.own, *note.copies, *note.former, *(lot.view for lot in note.stored)]

    def is_elsewhere(self, one: SimPeer, key: bytes) -> bool:
        """Whether a journal that is whole says the same of a record."""
        if not key.startswith(b"r:"):
            return False
        mine = self.said(one, key)
        others = [other for other in self.overlay.peers if other is not one]
        return any(self.said(other, key) == mine for other in others if not self.is_hurt(other))

    def said(self, one: SimPeer, key: bytes) -> tuple[str, str, int] | None:
        stored = self.disks._content.get(one.address, {}).get(key)
        if stored is None or not stored.is_whole:
            return None
        carried = carried_in(stored.value)
        assert isinstance(carried, Carried)
        return carried.kind, carried.id, carried.version

    def say(self, what: str) -> None:
        print(f"{self.overlay.kernel.now():.3f} {what}")


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = FailingDisks(seed, monkeypatch)
    print(f"{ring.hurt_max} damaged at once,", "loose" if ring.is_loose else "strict")
    ring.to_the_end()


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_one_version_is_there(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
