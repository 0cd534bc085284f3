"""An action that some peer has is not unknown: what hinders it there is what its poster is told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import meteor
from meteor import ActionContext, Match
from meteor.rendezvous.performing import TROUBLES_MAX
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE


def broken(_: ActionContext, __: Match, ___: Sequence[Match]) -> bytes:
    raise ValueError("no such sensor")


def test_an_action_that_fails_where_it_is_known_is_not_said_to_be_unknown() -> None:
    overlay = Overlay(codec=wire_codec(), peers=3, space=SPACE, seed=31)

    overlay.peers[1].core.actions.add("average", broken)

    async def scenario() -> None:
        client = overlay.client(peer=2)
        with pytest.raises(meteor.Incomplete, match="no such sensor"):
            await client.perform("average", "temperature>=-40")

    overlay.run(scenario())


def test_what_hindered_a_run_is_said_before_who_has_no_such_action() -> None:
    """Of many peers only some sentences travel: these would be of those that lack it."""
    overlay = Overlay(codec=wire_codec(), peers=TROUBLES_MAX + 4, space=SPACE, seed=31)
    for peer in overlay.peers[-2:]:
        peer.core.actions.add("average", broken)

    async def scenario() -> None:
        answer = overlay.client(peer=2).perform("average", "temperature>=-40", allow_partial=True)
        assert await answer.all() == []
        assert answer.receipt is not None
        troubles = answer.receipt.troubles
        assert len(troubles) == TROUBLES_MAX
        assert ["no such sensor" in one for one in troubles[:3]] == [True, True, False]

    overlay.run(scenario())
