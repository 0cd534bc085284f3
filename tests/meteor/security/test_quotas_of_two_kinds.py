"""Data and an interest of one id, posted at once: which one is there, and only that, counts."""

from __future__ import annotations

import pytest

from arms import INTEREST
from meteor import parse_policy
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE
from tests.meteor.security.test_policy_overlay import QUOTAS, refused_rule

CELL = "type=light temperature=20 humidity=50"


@pytest.mark.parametrize("seed", range(5))
def test_who_posts_data_and_an_interest_at_once_has_no_more_interests(seed: int) -> None:
    """Her quota allows one interest."""
    overlay = Overlay(peers=3, space=SPACE, seed=seed, policy=QUOTAS)
    alice = overlay.client(identity=ALICE)

    async def store(name: str) -> None:
        await alice.store(CELL, b"1", id=name)

    async def notify(name: str) -> None:
        await alice.notify_data(CELL, id=name)

    async def both(name: str) -> None:
        for task in [alice._runtime.spawn(post(name)) for post in (store, notify)]:
            await task

    overlay.run(both("a"))
    assert refused_rule(overlay, both("b")) == "few"
    kept = {
        record.id
        for peer in overlay.living
        for record in peer.core.shelf.store.records()
        if record is not None and record.kind == INTEREST
    }
    assert len(kept) == 1


@pytest.mark.parametrize("limit", ["interests", "profiles"])
def test_what_is_not_limited_gives_back_what_it_replaces(limit: str) -> None:
    """What had its id was gone, and counted until its ttl ran out: nothing could be deleted."""
    policy = parse_policy(
        f'default = "allow"\n[[quotas]]\nname = "few"\nwho = ["anyone"]\n{limit} = 1'
    )
    overlay = Overlay(peers=3, space=SPACE, seed=1, policy=policy)
    alice = overlay.client(identity=ALICE)

    async def notify(name: str) -> None:
        interest = await alice.notify_data(CELL, id=name)
        await interest.detach()

    async def store(name: str) -> None:
        await alice.store(CELL, b"1", id=name)

    limited, other = (notify, store) if limit == "interests" else (store, notify)
    overlay.run(limited("a"))
    assert refused_rule(overlay, limited("b")) == "few"
    overlay.run(other("a"))
    overlay.run(limited("b"))
    assert refused_rule(overlay, limited("c")) == "few"
