"""What holders say to whoever asks for an interval, where some of them have whole what never began.

Each world here is put together by hand, as a partition or a false suspicion leaves it behind; the
questions and answers are those of the peers.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from meteor.copies.takeover import Step
from meteor.wire.view import View
from sim.simulated_peer import SimPeer
from tests.meteor.test_letting_go import Lost


class Asked(Lost):
    """A peer that asks all others what they have, and has been patient for long."""

    def epoch(self, later: int) -> int:
        """One after all that the peers know, and after those that are less later."""
        return self.mine.epoch + (later << 20)

    def decided(self) -> Step:
        """What it makes of the answers."""
        heirs, now = self.peer.core._handoff.heirs, self.overlay.kernel.now()
        found = self.overlay.run(heirs.ask(self.interval, ()))
        heirs._open_since[self.interval] = now - heirs._config.grace_s - 1.0, now
        (step,) = heirs.plan(found)
        return step


class Fenced(Asked):
    """An heir had two copies refuse who was before: one took its fence, the other one refused."""

    def __init__(self, *, said: bool) -> None:
        super().__init__()
        self.took, self.has = self.copies
        contacts = self.took.contact, self.has.contact
        self.past = View(self.stranger.contact, 7, self.epoch(1), (self.interval,), contacts)
        heir = self.heir.core
        heir.views.see(self.past.epoch)
        refused, contacts = self.copy(), (self.copy().contact, self.took.contact)
        self.fence = heir.replication.new_view((self.interval,), contacts)
        refused.core.views.hear(self.fence)
        heir.views.learn(self.fence)
        for one in self.copies:
            one.core.views.put(self.past)
        self.took.core.views.put(self.fence)
        if said:
            heir.views.tried.note(self.fence)


@pytest.mark.parametrize("said", [False, True])
def test_who_took_a_fence_that_never_began_speaks_for_what_it_took_the_place_of(
    said: bool,
) -> None:
    """Its heir says so, and both copies have all (moving-apart, seed 99)."""
    world = Fenced(said=said)
    step = world.decided()
    assert step.kind == ("adopt" if said else "lost")
    if said:
        assert step.view == world.past
        assert set(step.sources) == {world.took.contact, world.has.contact}


@pytest.mark.parametrize("said", [False, True])
def test_a_fence_that_one_copy_took_does_not_hide_for_ever_what_both_had(said: bool) -> None:
    """The interval was lost meanwhile: what an heir would have taken over was not found again."""
    world = Fenced(said=said)
    world.lose(world.fence.epoch)
    world.overlay.run_for(4.0)
    assert world.peer.core.views.lost() == (() if said else (world.interval,))


class PassedOver(Asked):
    """A primary's next epoch, of which one recruit knows, is later than the heir's view that passed
    it over, and that ended as it was heard of."""

    def __init__(self, *, said: bool, shown: bool) -> None:
        super().__init__()
        both, recruit = self.copies
        others = [one for one in self.overlay.peers if one.contact in self.mine.copies]
        first, other = self.heir, others[0]
        before = View(first.contact, 2, self.epoch(1), (self.interval,),
                      (both.contact, other.contact))  # fmt: skip
        later = replace(before, epoch=self.epoch(3), copies=(*before.copies, recruit.contact))
        self.over = View(other.contact, 7, self.epoch(2), (self.interval,),
                         (both.contact, others[1].contact))  # fmt: skip
        self.tell(first, before, other, both, others[1], shown=shown)
        recruit.core.views.put(later)
        for one in (first, other, both, others[1]):  # all were asked to take it
            one.core.views.hear(later)
        if said:
            first.core.views.tried.note_next(later, before)

    def tell(
        self, first: SimPeer, before: View, other: SimPeer, *copies: SimPeer, shown: bool
    ) -> None:
        """Who was primary remembers it; the copies of the view that passed it over have that."""
        first.core.views.remember(before)
        other.core.views.remember(self.over)
        for one in copies:
            one.core.views.put(self.over)
            one.core.views.chronicle.note(self.over)
            if shown:
                one.core.views.taken_in.note(first.contact.id, before.epoch, before.intervals)


@pytest.mark.parametrize("shown", [False, True])
@pytest.mark.parametrize("said", [False, True])
def test_a_next_epoch_that_was_passed_over_hides_nothing_of_what_passed_it_over(
    said: bool, shown: bool
) -> None:
    """Only where its primary says so, and the copies can show what that one had (moving-apart, seed
    40)."""
    world = PassedOver(said=said, shown=shown)
    step = world.decided()
    assert step.kind == ("adopt" if said and shown else "lost")
    assert step.view == (world.over if said and shown else None)
