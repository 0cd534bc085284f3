"""Finishing a replace that came halfway, where who answers for the new place refuses it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, cast

import pytest

from chord import Runtime
from meteor.errors import Refused
from meteor.rendezvous.finishing import Finishing
from meteor.wire.operations import Operation
from squid import Outcome, Wanted
from tests.meteor.test_halfway import Peer
from tests.meteor.test_shelf import EVERYTHING


class Turns:
    """Carries out at once what is spawned."""

    def now(self) -> float:
        return 10.0

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run(work)


@pytest.mark.parametrize(
    ("rule", "leaves"), [("older", True), ("deleted", True), ("owner", False), ("", False)]
)
def test_what_went_on_from_the_new_place_or_was_deleted_there_leaves_the_old_one(
    rule: str, leaves: bool
) -> None:
    """Others keep the new place, and this peer what it was, until word comes."""
    peer, ordered = Peer(1, EVERYTHING), list[Operation]()

    async def refuse(keep: Operation, old_id: str, timeout_s: float, wanted: Wanted) -> None:
        assert (keep.id, old_id) == (peer.new[0].id, peer.old[0].id)
        raise Refused("the new place knows better", rule)

    async def order(leave: Operation) -> Outcome:
        ordered.append(leave)
        return Outcome(complete=True, missing=(), summaries=(), peers=1, hops=0)

    async def bury(*_: object) -> None:
        raise AssertionError("nothing was deleted here")

    runtime = cast("Runtime", Turns())
    Finishing(runtime, peer.world.shelf, peer.halfway, refuse, bury, order).look()
    asked = [(one.verb, one.id, one.moved_to, one.version) for one in ordered]
    assert asked == [("cancel", peer.old[0].id, peer.new[0].id, 2)] * leaves
