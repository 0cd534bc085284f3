"""A picture of the ring costs every peer of it two questions, and anybody may ask for one: so many
at once that nothing else finds room on the links are refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from chord import CallError, Contact, RemoteFault
from chord.exchange import CALLS_PER_LINK
from meteor.rendezvous.introspection import WALKS_MAX
from meteor.wire.codec import wire_codec
from meteor.wire.messages import RingPicture, RingQuestion
from sim.overlay import Overlay
from sim.runtime import SimRuntime
from tests.meteor.building import SPACE


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=5, space=SPACE, seed=3)


@pytest.fixture
def asker(overlay: Overlay) -> SimRuntime:
    runtime = SimRuntime(overlay.kernel, overlay.network, Contact(99, ""))
    runtime.serve(lambda *_: None, lambda _: None)
    return runtime


async def ask(asker: SimRuntime, peer: Contact, told: list[object]) -> None:
    try:
        told.append(await asker.call(peer, RingQuestion(100), 30.0))
    except CallError as error:
        told.append(error)


def test_more_than_some_at_once_are_told_to_come_again(overlay: Overlay, asker: SimRuntime) -> None:
    peer, told = overlay.peers[0].contact, list[Any]()
    for _ in range(2 * WALKS_MAX):
        asker.spawn(ask(asker, peer, told))
    overlay.run_for(3.0)
    faults = [one for one in told if isinstance(one, RemoteFault)]
    assert Counter(map(type, told)) == {RingPicture: WALKS_MAX, RemoteFault: WALKS_MAX}
    assert {fault.kind for fault in faults} == {"Busy"}
    asker.spawn(ask(asker, peer, told))
    overlay.run_for(3.0)
    assert len(told[-1].peers) == 5, "the walks are over"


def test_who_waits_for_no_answer_is_no_exception(overlay: Overlay, asker: SimRuntime) -> None:
    peer, walks = overlay.peers[0].contact, 0
    carry = overlay.network.carry

    def counted(end: Any, kind: Any, number: int, duration_s: float, message: object) -> None:
        nonlocal walks
        walks += type(message).__name__ == "GetNeighbours"
        carry(end, kind, number, duration_s, message)

    overlay.network.carry = counted  # type: ignore[method-assign]
    for _ in range(2 * CALLS_PER_LINK):
        asker.send(peer, RingQuestion(100))
    overlay.run_for(3.0)
    assert walks <= 4 * WALKS_MAX, "four others in the ring"
