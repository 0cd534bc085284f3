"""What was had in a former life is forgotten once its owner has it; not what this peer had until a
moment ago, which was not offered yet: it may be the last that is left of that."""

from __future__ import annotations

import pytest

from chord import Contact, Deferred
from meteor.wire.copy_messages import Stands
from meteor.wire.operations import Claim, ClaimAnswer
from meteor.wire.view import View
from sim.overlay import Overlay
from squid import Intervals
from tests.meteor.copies_world import assert_whole_within, build
from tests.meteor.test_copy_keeper import Stranger


class Silent(Stranger):
    """A primary that says nothing of who its copies are, and gives nothing that it holds."""

    held: Intervals = ()

    def _handle(self, sender: Contact, message: object, remaining_s: float) -> object:
        if isinstance(message, Stands):
            self.heard.append(message)
            return Deferred(self._silence())
        if isinstance(message, Claim):
            return ClaimAnswer(held=self.held, lost=(), elsewhere=(), settled=True)
        return super()._handle(sender, message, remaining_s)

    async def _silence(self) -> None:
        await self.runtime.sleep(3600.0)


@pytest.fixture
def overlay() -> Overlay:
    overlay = build(3, 6, disk_s=0.001)
    assert_whole_within(overlay)
    return overlay


def test_what_was_had_until_a_moment_ago_is_not_forgotten_with_it(overlay: Overlay) -> None:
    peer, stranger = overlay.peers[2], Silent(overlay)
    views = peer.core.views
    (mine,) = views.own.values()
    views.remember(View(stranger.contact, 7, 1, mine.intervals, (peer.contact,)))
    while not stranger.heard:
        overlay.run_for(0.01)
    stranger.held = mine.intervals
    later = stranger.view(mine.intervals, mine.epoch + (1 << 40))
    peer.core.replication.passed_over((later,))
    assert any(one.epoch == mine.epoch for one in views.remembered())
    while any(one.epoch == 1 for one in views.remembered()):
        overlay.run_for(0.01)
    assert any(one.epoch == mine.epoch for one in views.remembered())
