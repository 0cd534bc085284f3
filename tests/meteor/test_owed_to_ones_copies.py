"""A record lies at several primaries; the last of them is a copy of the one before it, and hears of
a change by that alone, as its own share never comes.  Its own copies are others: they get the
change before anything about it is acknowledged, and soon if nobody asks."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import DATA
from chord import Contact, Fault, replace
from meteor import Incomplete
from meteor.copies.copying import Superseded
from meteor.copies.paying import Paying
from meteor.keeping.owed import Owed
from meteor.keeping.placement import GONE, Key, key_of
from meteor.keeping.standing import is_later
from meteor.wire.operations import Carried
from sim.simulated_peer import SimPeer
from squid import HandOn
from tests.meteor.building import SPACE
from tests.meteor.copies_world import assert_whole_within, build
from tests.meteor.test_deleted_beside_another_holder import KEY, WIDE, keepers


class Ring:
    """A wide record at its holders, of which the last one takes no shares for now."""

    def __init__(self, seed: int) -> None:
        self.overlay = build(seed, 9, disk_s=0.001)
        assert_whole_within(self.overlay)
        self.drawn = random.Random(seed)
        self.client = self.overlay.client(peer=self.drawn.randrange(9))
        self.id = self.overlay.run(self.client.store(WIDE, id="lamp", ttl=7200)).id
        self.holders = [peer for peer in self.overlay.living if self.answers(peer)]
        ids = {peer.contact.id for peer in self.holders}
        # a copy of another holder, whose own copies have the record from nobody else
        self.last = next(
            peer for peer in self.holders
            if any(view.view.primary.id in ids for view in peer.core.views.copies.values())
            and self.only_from(peer, ids)
        )  # fmt: skip

    @staticmethod
    def answers(peer: SimPeer) -> bool:
        placed = peer.core.shelf.find(KEY)
        return placed is not None and peer.core.shelf.meets(
            placed.carried, peer.core.holdings.held
        )

    def only_from(self, peer: SimPeer, holders: set[int]) -> bool:
        (view,) = peer.core.views.own.values()
        for copy in view.copies:
            if copy.id in holders:
                continue
            keeper = next(one for one in self.overlay.living if one.contact.id == copy.id)
            others = {kept.view.primary.id for kept in keeper.core.views.copies.values()}
            if others & holders == {peer.contact.id}:
                return True
        return False

    def deaf(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The last holder takes no shares."""

        def busy(_: Contact, __: object, ___: float) -> object:
            raise Fault("Busy", "not now")

        monkeypatch.setitem(self.last.core._handlers, HandOn, busy)
        monkeypatch.setattr(self.last.core.router, "_do_or_begin", lambda *_: None)

    def delete_in_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The last holder takes no part in it, and pays nothing of what it owes."""
        monkeypatch.setattr(Paying, "look", lambda self: None)
        with monkeypatch.context() as patched:
            self.deaf(patched)
            with pytest.raises(Incomplete):
                self.overlay.run(
                    self.client.delete_data("type=lamp", mode="within", timeout=0.2)
                )


SEEDS = [1, 2, 4, 5, 8]
"""Of the first ten those with such a holder."""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_delete_that_is_tried_again_is_with_all_copies(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = Ring(seed)
    ring.delete_in_part(monkeypatch)
    placed = ring.last.core.shelf.find(KEY)
    assert placed is not None
    assert placed.carried.kind == GONE, "it has the tombstone of the holder before it"
    assert keepers(ring.overlay, "lamp"), "and its copies have none"
    again = ring.overlay.run(ring.client.delete_data("type=lamp", mode="within"))
    assert again.complete
    ring.overlay.run_for(0.01)
    assert keepers(ring.overlay, "lamp") == []
    assert not ring.last.core.shelf.owed


@pytest.mark.parametrize("seed", SEEDS)
def test_what_nobody_asks_about_comes_there_as_well(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = Ring(seed)
    with monkeypatch.context() as patched:
        ring.deaf(patched)
        with pytest.raises(Incomplete):
            ring.overlay.run(ring.client.delete_data("type=lamp", mode="within", timeout=2))
        ring.overlay.run_for(2.0)
        assert keepers(ring.overlay, "lamp") == []
        assert not ring.last.core.shelf.owed


def test_at_rest_nobody_owes_anything() -> None:
    ring = Ring(SEEDS[0])
    ring.overlay.run_for(2.0)
    verbs: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: ring.client.renew(ring.id, ttl=3600),
        lambda: ring.client.replace(ring.id, "type=lamp temperature=-40..119", ttl=7200),
        lambda: ring.client.delete_data("type=lamp", mode="within"),
    )
    for verb in verbs:
        ring.overlay.run(verb())
        ring.overlay.run_for(0.5)
        assert [len(peer.core.shelf.owed) for peer in ring.overlay.living] == [0] * 9


def change(stem: str, version: int = 1, renewed: int = 0, kind: str = DATA) -> Carried:
    return Carried(
        kind=kind, id=f"{stem}.x", owner="", version=version, action="store", ttl_ms=1, blob=b"",
        number=1, acknowledged=0, route=None, renewed=renewed,
    )  # fmt: skip


CHANGES = st.builds(
    change,
    st.sampled_from("abc"), st.integers(1, 3), st.integers(0, 2), st.sampled_from([DATA, GONE]),
)  # fmt: skip


@given(st.lists(st.tuples(st.booleans(), CHANGES), max_size=20))
def test_what_is_owed_is_what_was_not_paid_since(steps: list[tuple[bool, Carried]]) -> None:
    owed, twin = Owed(), dict[Key, Carried]()
    for is_paid, one in steps:
        if is_paid:
            owed.paid([one])
            if key_of(one) in twin and not is_later(twin[key_of(one)], one):
                del twin[key_of(one)]
        else:
            owed.note(one)
            twin.pop(key_of(one), None)
            twin[key_of(one)] = one
        assert list(owed) == list(twin)
        assert len(owed) == len(twin)


def test_what_was_written_here_alone_as_a_part_was_given_up_is_owed() -> None:
    """A change of two parts, of which one is another peer's in that very moment, is not done; it
    shows here, though, and whoever tries again in the other part finds it so."""
    overlay = build(3, 9, disk_s=0.001)
    assert_whole_within(overlay)
    client = overlay.client()
    overlay.run(client.store("type=lamp temperature=3 humidity=7", id="lamp", ttl=7200))
    peer = next(one for one in overlay.living if Ring.answers(one))
    stone = replace(peer.core.shelf.table[KEY].carried, kind=GONE, blob=b"")
    everything = ((0, SPACE.curve.size - 1),)
    with pytest.raises(Superseded):
        overlay.run(peer.core.replication.keep([stone], everything, overlay.kernel.now() + 1.0))
    overlay.run_for(0.01)
    assert len(keepers(overlay, "lamp")) >= 2, "its copies know nothing of it"
    again = overlay.run(client.delete_data("type=lamp", mode="within"))
    assert again.complete
    overlay.run_for(0.01)
    assert keepers(overlay, "lamp") == []
