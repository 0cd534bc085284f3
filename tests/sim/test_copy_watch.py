"""Who counts as having a copy: the newest epoch's holders, and nobody who is down."""

from __future__ import annotations

from typing import Any

from sim import Overlay
from sim.copy_watch import CopyWatch, current_parts
from sim.history import History, Write
from sim.places import SPACE, index_of
from squid import merge

EVERYTHING = ((0, SPACE.curve.size - 1),)


def ring() -> tuple[Overlay, CopyWatch, History]:
    overlay = Overlay(6, space=SPACE, seed=2)
    overlay.run_for(5.0)
    history = History()
    return overlay, CopyWatch(overlay, history), history


def stored(overlay: Overlay, history: History, count: int) -> None:
    client = overlay.client()

    async def store() -> None:
        for number in range(count):
            index = index_of({"type": "light", "value": number})
            history.writes[f"w{number}"] = Write(f"w{number}", index, number, 60.0, 0.0)
            await client.store(f"type=light value={number}", b"x", id=f"w{number}")

    overlay.run(store())


def test_every_index_is_kept_three_times() -> None:
    overlay, watch, _ = ring()
    parts = current_parts(overlay.peers)
    size = sum(last - first + 1 for part in parts.values() for first, last in part)
    assert merge(*parts.values()) == EVERYTHING
    assert size == 3 * SPACE.curve.size
    assert watch.have_last_copies(overlay.peers) == []


def test_a_copy_of_an_older_epoch_does_not_count() -> None:
    overlay, watch, _ = ring()
    primary = overlay.peers[3]
    (view, *_) = primary.core.views.own.values()
    keepers = [peer for peer in overlay.peers if view.has_copy(peer.contact.id)]
    assert len(keepers) == 2
    alone: Any = type(view)(view.primary, view.number, view.epoch + 10**9, view.intervals, ())
    primary.core.views.own[view.number] = alone
    parts = current_parts(overlay.peers)
    assert all(merge(parts[one], view.intervals) != parts[one] for one in keepers)
    assert watch.have_last_copies(overlay.peers) == [primary]


def test_what_goes_down_with_its_last_copy_is_a_wound_and_a_loss() -> None:
    overlay, watch, history = ring()
    stored(overlay, history, 40)
    (view, *_) = max(overlay.peers, key=lambda one: one.core.state().data).core.views.own.values()
    ids = {view.primary.id, *(copy.id for copy in view.copies)}
    holders = [peer for peer in overlay.peers if peer.contact.id in ids]
    watch.went_down(holders[0])
    holders[0].crash()
    assert history.wounds == ()
    assert watch.ledger.losses == {}
    watch.went_down(*holders[1:])
    assert merge(history.wounds, view.intervals) == history.wounds
    assert {len(loss.copies) for loss in watch.ledger.losses.values()} == {3}
