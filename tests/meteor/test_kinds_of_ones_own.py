"""Text, bytes and truth of a kind of the application's own, as numpy's, count as what they say.

No other than plain ones can travel.  Where its client lives in a peer, only that peer found out,
and took it for a bug of its own: it stopped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import meteor
from meteor import ActionContext, Match
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.asking import HOT
from tests.meteor.building import SPACE


class Contradictory(bytes):
    def __bool__(self) -> bool:
        raise ValueError

    def __len__(self) -> int:
        raise ValueError

    def __bytes__(self) -> bytes:
        return Contradictory(b"another")


class Name(str):
    __slots__ = ()


@pytest.mark.parametrize("given", [np.bytes_(b"21.5"), Contradictory(b"21.5")])
@pytest.mark.parametrize("peers", [1, 2])
def test_what_an_action_gives(peers: int, given: bytes) -> None:
    overlay = Overlay(codec=wire_codec(), peers=peers, space=SPACE, seed=31)

    def average(_: ActionContext, __: Match, ___: Sequence[Match]) -> bytes:
        return given

    overlay.peers[-1].core.actions.add("average", average)

    async def scenario() -> None:
        answer = overlay.client().perform("average", "temperature>=-40", allow_partial=True)
        assert [result.data for result in await answer.all()] == [b"21.5"]

    overlay.run(scenario())


@pytest.mark.parametrize("kind", [np.str_, Name])
async def test_an_id(kind: type[str]) -> None:
    async with meteor.Peer(space=SPACE) as peer:
        receipt = await peer.store(HOT, "1", id=kind("sensor"))
        (found,) = await peer.retrieve(HOT, id=kind("question"))
        assert found.text == "1"
        moved = await peer.replace(kind(receipt.id), "type=t temperature=98", "2")
        assert (await peer.renew(kind(moved.id), ttl=60)).matches == 1
        assert (await peer.cancel(kind(moved.id))).matches == 1
        left = await (await peer.notify_data("temperature>=80")).detach()
        assert (await peer.attach(kind(left))).state == "active"
        assert peer.failure is None


async def test_how_to_delete() -> None:
    async with meteor.Peer(space=SPACE) as peer:
        await peer.store(HOT)
        counted: Any = np.True_
        overlap: Any = Name("overlap")
        looked = await peer.delete_data("temperature>=80", dry_run=counted)
        taken = await peer.delete_data("temperature>=80", mode=overlap)
        assert (looked.matches, taken.matches) == (1, 1)
        assert peer.failure is None
