"""An interval of which every holder is gone: what may come back of it, and when.

Whoever had a part in it long ago comes back with content of then: it is kept, offered, and shown
to nobody before it is proven to be the last word.
"""

from __future__ import annotations

import random

import pytest

from chord import Contact
from meteor import Client
from meteor.keeping.chronicle import Chronicle
from meteor.wire.copy_messages import Learn
from meteor.wire.operations import Freeze, Frozen, Inherit, Pull, PulledPage, TakeOver
from meteor.wire.view import View
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer
from squid import covers
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    index_of,
    is_shown,
    primary_of,
    seeds,
    store_some,
    view_of,
)
from tests.meteor.test_copy_keeper import Stranger

GRACE_S = 8.0
"""After this an heir has taken as lost what nobody answers for."""


class Loss:
    """A record was deleted while one of its holders was down; then all the others fell."""

    def __init__(self, seed: int) -> None:
        self.overlay, self.drawn = build(seed, 9), random.Random(seed)
        self.stored = store_some(self.overlay, self.overlay.client(), self.drawn, 20)
        assert_whole_within(self.overlay)
        self.deleted = self.drawn.choice(self.stored)
        self.client: Client = client_away_from(self.overlay, self.deleted)
        self.ancient = self.drawn.choice(copies_of(self.overlay, self.deleted))
        self.ancient.crash()
        assert_whole_within(self.overlay)
        assert self.overlay.run(self.client.cancel(self.deleted)).matches == 1
        self.stored.remove(self.deleted)
        self.late = store_some(self.overlay, self.client, self.drawn, 3)
        primary = primary_of(self.overlay, self.deleted)
        self.fallen = [primary, *copies_of(self.overlay, self.deleted)]
        self.client = client_away_from(self.overlay, self.deleted)
        crash(*self.fallen)
        self.overlay.run_for(GRACE_S)
        assert covers(primary_of(self.overlay, self.deleted).core.holdings.lost, self.index)

    @property
    def index(self) -> int:
        return index_of(self.deleted)

    def assert_honest(self) -> None:
        """Nothing that was deleted is there, and what is absent is named."""
        assert_never_silently_partial(self.overlay, self.client, [*self.stored, *self.late])

    def ask_while(self, seconds: float) -> None:
        ends_s = self.overlay.kernel.now() + seconds
        while self.overlay.kernel.now() < ends_s:
            self.assert_honest()
            self.overlay.run_for(0.3)


@pytest.mark.parametrize("seed", seeds(2))
def test_what_was_deleted_since_does_not_come_back_with_an_ancient_copy(seed: int) -> None:
    """Its tombstone died with its holders."""
    loss = Loss(seed)
    again = loss.overlay.run(loss.overlay.restart(loss.ancient))
    loss.ask_while(6.0)
    assert covers(primary_of(loss.overlay, loss.deleted).core.holdings.lost, loss.index)
    others = [peer for peer in loss.overlay.living if peer is not again]
    assert not any(is_shown(peer, loss.deleted) for peer in others), "it spread"


@pytest.mark.parametrize("seed", seeds(2))
def test_all_of_the_past_comes_back_with_its_last_holders(seed: int) -> None:
    """The ancient copy is there before them, and is taken for what it is."""
    loss = Loss(seed)
    loss.overlay.run(loss.overlay.restart(loss.ancient))
    loss.ask_while(2.0)
    for peer in loss.fallen:
        loss.overlay.run(loss.overlay.restart(peer))
        loss.assert_honest()
    assert_whole_within(loss.overlay, 60)
    expected = {*loss.stored, *loss.late}
    assert ask(loss.overlay, loss.client) == (expected, True)
    loss.overlay.run_for(5.0)  # everybody has offered what it had
    assert not any(is_shown(peer, loss.deleted) for peer in loss.overlay.living)
    assert not any(len(peer.core.shelf.attic) for peer in loss.overlay.living)


@pytest.mark.parametrize("seed", seeds(2))
def test_the_attic_outlives_its_peer(seed: int) -> None:
    """Who holds ancient content, and what was posted since the loss, is restarted in between."""
    loss = Loss(seed)
    again = loss.overlay.run(loss.overlay.restart(loss.ancient))
    loss.overlay.run_for(3.0)
    since = store_some(loss.overlay, loss.client, loss.drawn, 6)
    loss.stored += since
    again.crash()
    loss.overlay.run_for(2.0)
    loss.overlay.run(loss.overlay.restart(again))
    loss.ask_while(3.0)
    for peer in loss.fallen:
        loss.overlay.run(loss.overlay.restart(peer))
    assert_whole_within(loss.overlay, 60)
    assert ask(loss.overlay, loss.client) == ({*loss.stored, *loss.late}, True)


# -- one step each


@pytest.fixture
def lost() -> tuple[Overlay, SimPeer, Stranger, tuple[int, int]]:
    """A peer that holds an interval as lost, and a stranger who says that it comes next."""
    overlay = build(4, 5, disk_s=0.001)
    assert_whole_within(overlay)
    peer = overlay.peers[2]
    interval = peer.core.holdings.held[0]
    overlay.run(_lose(peer, interval))
    overlay.run_for(0.5)
    assert peer.core.holdings.lost == (interval,)
    return overlay, peer, Stranger(overlay), interval


async def _lose(peer: SimPeer, interval: tuple[int, int]) -> None:
    """As if it had taken over what nobody knew the past of."""
    views, replication = peer.core.views, peer.core.replication
    peer.core.holdings.give((interval,), Contact(98, "10.9.9.8:1"))
    views.give((interval,))
    await replication.begin(replication.new_view((interval,), (), (interval,)), 0)


def test_a_past_that_was_found_while_it_was_frozen_is_not_given_as_lost(
    lost: tuple[Overlay, SimPeer, Stranger, tuple[int, int]],
) -> None:
    """The taker has pulled what there was before, and names the interval lost."""
    overlay, peer, stranger, interval = lost
    page = stranger.ask(peer, Pull(interval, 0))
    assert isinstance(page, PulledPage)
    frozen = stranger.ask(peer, Freeze(interval, page.cursor))
    assert isinstance(frozen, Frozen)
    assert frozen.lost == (interval,)
    (view,) = peer.core.views.touching((interval,))
    assert overlay.run(peer.core.replication.found(view.number, (interval,)))
    later = View(stranger.contact, 7, view.epoch + (9 << 20), (interval,), (), (interval,))
    fault = stranger.ask(peer, TakeOver(interval, frozen.grant, later))
    assert getattr(fault, "kind", "") == "Busy", fault
    assert peer.core.holdings.held == (interval,)


def test_an_offer_to_who_does_not_know_the_past_is_not_called_taken(
    lost: tuple[Overlay, SimPeer, Stranger, tuple[int, int]],
) -> None:
    """Its evidence would be forgotten there."""
    _, peer, stranger, interval = lost
    fault = stranger.ask(peer, Inherit(interval))
    assert getattr(fault, "kind", "") == "Moved", fault


def test_what_lay_here_before_a_loss_is_put_away_when_a_lost_view_is_learned() -> None:
    overlay = build(5, 6, disk_s=0.001)
    stored = store_some(overlay, overlay.client(), random.Random(5), 10)
    assert_whole_within(overlay)
    probe = stored[0]
    copy, interval = copies_of(overlay, probe)[0], (index_of(probe), index_of(probe))
    stranger = Stranger(overlay)
    view = View(stranger.contact, 7, 1 << 60, (interval,), (copy.contact,), (interval,))
    assert is_shown(copy, probe)
    stranger.ask(copy, Learn(view))
    assert not is_shown(copy, probe)
    (put_away,) = [one for one in copy.core.views.stored if covers(one.view.intervals, interval[0])]
    page = stranger.ask(copy, Pull(interval, 0, put_away.view.epoch))
    assert [one.id for one in page.carried] == [probe], "whoever proves it gets it"
    assert not stranger.ask(copy, Pull(interval, 0)).carried


@pytest.mark.parametrize("seed", seeds(2))
def test_an_ancient_copy_that_was_never_told_does_not_step_up(seed: int) -> None:
    """All other holders of its view are long gone, as those who could have told it; its neighbours
    know of a later view (storm, seed 2)."""
    overlay = build(seed, 6)
    stored = store_some(overlay, overlay.client(), random.Random(seed), 10)
    assert_whole_within(overlay)
    probe = stored[0]
    holders = [primary_of(overlay, probe), *copies_of(overlay, probe)]
    (ancient, *_) = [peer for peer in overlay.living if peer not in holders]
    index = (index_of(probe), index_of(probe))
    view = View(Contact(98, "10.9.9.8:1"), 1, 1, (index,), (ancient.contact,))
    ancient.core.views.put(view)
    overlay.run(ancient.core._handoff.step_up(view))
    assert not covers(ancient.core.holdings.held, index[0])
    assert ask(overlay, overlay.client()) == (set(stored), True)
    # which it may not have been, having joined since
    ancient.core.views.chronicle.note(view_of(overlay, probe))
    for peer in overlay.living:
        if peer is not ancient:
            peer.crash()
    overlay.run(ancient.core._handoff.step_up(view))
    assert not covers(ancient.core.holdings.held, index[0]), "it was told itself what began"
    ancient.core.views.chronicle = Chronicle()  # nobody knows better: one survivor is enough
    overlay.run(ancient.core._handoff.step_up(view))
    assert covers(ancient.core.holdings.held, index[0])


def test_an_heir_hears_whose_journal_has_lost_something() -> None:
    """Its own memory included: what such a one does not know says nothing."""
    overlay = build(1)
    (probe,) = store_some(overlay, overlay.client(), random.Random(1), 1)
    assert_whole_within(overlay)
    copies = copies_of(overlay, probe)
    primary_of(overlay, probe).crash()
    heir = next(peer for peer in overlay.living if peer not in copies)
    copy = copies[0]
    for peer in (copy, heir):
        peer.core.views.damaged = peer.core.views.forgetful = True
    interval = index_of(probe), index_of(probe)
    found = overlay.run(heir.core._handoff.heirs.ask(interval, [copy.contact]))
    assert found.forgetful == {copy.contact.id, heir.contact.id}
