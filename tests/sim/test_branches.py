"""A branch beside a primary that goes on: it goes down with its own last copy, and no sooner."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from chord import replace
from meteor.wire.view import Rival, View
from sim import Overlay
from sim.copy_watch import CopyWatch
from sim.history import History
from sim.places import SPACE
from sim.simulated_peer import SimPeer


@dataclass
class Split:
    """Of one interval a primary and the heir that passed it over, which does not know of that."""

    overlay: Overlay
    watch: CopyWatch
    history: History
    primary: SimPeer
    heir: SimPeer
    view: View
    """The heir's."""

    def begins(self, peer: SimPeer, epoch: int, *rivals: Rival) -> View:
        """A peer takes the interval over."""
        view = View(peer.contact, epoch, epoch, self.view.intervals, (), (), rivals)
        peer.core.views.own[epoch] = view
        peer.core.holdings.gain(view.intervals)
        return view


@pytest.fixture
def split() -> Split:
    overlay = Overlay(6, space=SPACE, seed=2)
    overlay.run_for(5.0)
    history = History()
    watch = CopyWatch(overlay, history)
    primary = overlay.peers[3]
    (before,) = primary.core.views.own.values()
    for peer in overlay.peers:  # nobody else has it
        peer.core.views.lay_down(before.intervals)
        peer.core.views.forget_former(before.intervals)
    heir = next(peer for peer in overlay.peers if peer is not primary)
    split = Split(overlay, watch, history, primary, heir, before)
    split.view = split.begins(heir, before.epoch + 1)
    return split


def test_what_the_heir_acknowledged_is_gone_with_it_though_the_primary_has_a_later_epoch(
    split: Split,
) -> None:
    """That was never told of it: `meteor-sim scenario storm --seed 2`."""
    (own,) = split.primary.core.views.own.values()
    later = replace(own, epoch=split.view.epoch + 1, copies=())
    split.primary.core.views.own[own.number] = later
    split.watch.went_down(split.heir)
    assert split.history.wounds == split.view.intervals


def test_what_the_primary_had_before_is_with_its_heir(split: Split) -> None:
    split.watch.went_down(split.primary)
    assert split.history.wounds == ()


def test_so_it_is_with_whoever_took_the_interval_over_since(split: Split) -> None:
    third = split.overlay.peers[5]
    split.begins(third, split.view.epoch + 1)
    split.watch.went_down(split.heir)
    assert split.history.wounds == ()


def test_unless_that_one_names_it_as_a_rival(split: Split) -> None:
    view, third = split.view, split.overlay.peers[5]
    split.begins(third, view.epoch + 1, Rival(view.intervals, view.epoch, (split.heir.contact,)))
    split.watch.went_down(split.heir)
    assert split.history.wounds == view.intervals


def test_nor_is_it_with_a_later_epoch_that_lost_it(split: Split) -> None:
    view, third = split.view, split.overlay.peers[5]
    lost = replace(split.begins(third, view.epoch + 1), lost=view.intervals)
    third.core.views.own[lost.number] = lost
    split.watch.went_down(split.heir)
    assert split.history.wounds == view.intervals


def test_a_copy_of_the_heir_is_enough(split: Split) -> None:
    third = split.overlay.peers[5]
    third.core.views.put(split.view)
    split.watch.went_down(split.heir)
    assert split.history.wounds == ()
    split.watch.went_down(split.heir, third)
    assert split.history.wounds == split.view.intervals


def test_whoever_is_just_about_to_answer_for_it_has_it(split: Split) -> None:
    """Its view is noted before the interval is held."""
    third, epoch = split.overlay.peers[5], split.view.epoch + 1
    third.core.views.own[epoch] = replace(
        split.view, primary=third.contact, number=epoch, epoch=epoch
    )
    split.watch.went_down(split.heir)
    assert split.history.wounds == ()


def stood_down(split: Split, *remember: SimPeer) -> Rival:
    """The heir had two copies; it and these peers keep nothing of its branch any more, and remember
    it; a third one names it as its rival, and goes on."""
    fourth, fifth = split.overlay.peers[4], split.overlay.peers[1]
    had = replace(split.view, copies=(fourth.contact, fifth.contact))
    split.heir.core.views.own.clear()
    for peer in (split.heir, *remember):
        peer.core.views.remember(had)
    rival = Rival(had.intervals, had.epoch, (*had.copies, split.heir.contact))
    split.begins(split.overlay.peers[5], had.epoch + 1, rival)
    return rival


def test_of_a_branch_that_stood_down_two_who_remember_it_are_enough(split: Split) -> None:
    stood_down(split, split.overlay.peers[4], split.overlay.peers[1])
    split.watch.went_down(split.heir)
    assert split.history.wounds == ()


def test_of_a_branch_that_stood_down_one_alone_cannot_know_the_last_word(split: Split) -> None:
    """`replace(SCENARIOS["storm"], storm_s=8.0)`, seed 3: two of the three who had it crashed
    within half a second, as its primary stood down, and the answers named it for good."""
    rival = stood_down(split, split.overlay.peers[4])
    split.watch.went_down(split.heir)
    assert split.history.wounds == rival.intervals


def test_whoever_had_nothing_of_a_branch_takes_nothing_of_it_along(split: Split) -> None:
    stood_down(split)
    split.watch.went_down(split.overlay.peers[2])
    assert split.history.wounds == ()


def test_whoever_heard_of_a_branch_and_had_nothing_of_it_does_not_count(split: Split) -> None:
    rival = stood_down(split, split.overlay.peers[4], split.overlay.peers[2])
    split.watch.went_down(split.heir)
    assert split.history.wounds == rival.intervals
