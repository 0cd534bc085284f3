"""Two runs at one peer at once: each is given what its own post selects, and may know of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from chord import Contact
from meteor import ActionContext, Client, Match
from meteor.client.posting import draft_post
from meteor.rendezvous.reactions import AT_ONCE, SURE_AT_ONCE
from meteor.wire.action_messages import Perform
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE

EVERYTHING = ((0, SPACE.curve.size - 1),)


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=1, space=SPACE, seed=31, copies=1)


async def side_by_side(
    overlay: Overlay, client: Client, *asked: tuple[str, str]
) -> list[tuple[str, int]]:
    """Owner and number of matches of each run, of selectors asked for by owners in one turn."""
    peer, given = overlay.peers[0], list[tuple[str, int]]()

    def count(_: ActionContext, message: Match, matches: Sequence[Match]) -> None:
        given.append((message.owner, len(matches)))

    peer.core.actions.add("count", count)
    runs = []
    for owner, selector in asked:
        draft = draft_post(client._session, selector, "count")
        request = Perform(draft.document, draft.stem, draft.version, owner, EVERYTHING)
        answer: Any = peer.core._handlers[Perform](Contact(2, "b:1"), request, 5.0)
        runs.append(overlay.kernel.spawn(answer.conversation))
    for run in runs:
        await run
    return sorted(given, reverse=True)


def test_a_run_is_not_given_what_another_asked_for(overlay: Overlay) -> None:
    """So many match the first that it goes on in later turns; the second, whose region begins at
    the same index, was taken for another try of the first, and given its matches."""
    client = overlay.client()

    async def scenario() -> None:
        for number in range(SURE_AT_ONCE + 10):
            degrees = -40 if number < 3 else 20
            await client.store(f"type=t temperature={degrees} humidity=0", id=f"r{number}")
        asked = ("", "temperature<=100"), ("", "temperature<=-30")
        given = await side_by_side(overlay, client, *asked)
        assert given == [("", SURE_AT_ONCE + 10), ("", 3)]

    overlay.run(scenario())


def test_a_run_is_not_given_what_another_alone_may_see(overlay: Overlay) -> None:
    client = overlay.client(identity=ALICE)

    async def scenario() -> None:
        for number in range(SURE_AT_ONCE + AT_ONCE):
            await client.store("type=t temperature=1", id=f"r{number}", visible_to=[])
        asked = (ALICE.key, "temperature<=100"), ("", "temperature<=100")
        given = await side_by_side(overlay, client, *asked)
        assert given == [(ALICE.key, SURE_AT_ONCE + AT_ONCE), ("", 0)]

    overlay.run(scenario())
