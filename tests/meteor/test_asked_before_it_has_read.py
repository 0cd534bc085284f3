"""A peer that is asked before it has read its journal says that it cannot tell, never "nothing".

Heirs take the silence of a memory for a fact: a primary that is back and does not remember a view
never began it, a holder that does not know it has moved on (`meteor.copies.takeover`).
"""

from __future__ import annotations

import random

import pytest

from chord import RemoteFault
from meteor.wire.copy_messages import Instate, Learn, Stands, Touch
from meteor.wire.operations import Claim, ClaimAnswer
from sim.overlay import Overlay
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    crash,
    index_of,
    primary_of,
    store_some,
)
from tests.meteor.test_copy_keeper import Stranger


class Starting:
    """A primary that is back, listens, and has not read its journal yet."""

    def __init__(self) -> None:
        self.overlay = build(3, 6, disk_s=0.001)
        (record,) = store_some(self.overlay, self.overlay.client(), random.Random(1), 1)
        assert_whole_within(self.overlay)
        self.at = ((index_of(record),) * 2,)
        fallen = primary_of(self.overlay, record)
        self.stranger = Stranger(self.overlay)
        crash(fallen)
        self.peer = self.overlay.reincarnate(fallen)

    def finish(self) -> Overlay:
        self.overlay.run(self.overlay.rejoin(self.peer))
        return self.overlay


@pytest.fixture
def starting() -> Starting:
    return Starting()


def test_it_does_not_say_what_it_remembers(starting: Starting) -> None:
    (interval,) = starting.at
    answer = starting.stranger.ask(starting.peer, Claim(interval))
    assert isinstance(answer, RemoteFault)
    assert answer.kind == "Starting"
    starting.finish()
    answer = starting.stranger.ask(starting.peer, Claim(interval))
    assert isinstance(answer, ClaimAnswer)
    assert answer.held or answer.former or answer.copies


def test_it_takes_no_view_that_would_be_noted_in_the_place_of_its_memory(
    starting: Starting,
) -> None:
    view = starting.stranger.view(starting.at, 1 << 60, copies=(starting.peer.contact,))
    for request in (Learn(view), Instate(view), Stands(1), Touch(1, starting.at)):
        answer = starting.stranger.ask(starting.peer, request)
        assert isinstance(answer, RemoteFault), request
    overlay = starting.finish()
    assert starting.peer.core.views.remembered() or starting.peer.core.views.own
    assert_whole_within(overlay)
