"""Sentences on actions that stand nowhere else."""

from __future__ import annotations

import pytest

import meteor
from tests.meteor.building import SPACE


async def test_a_watch_describes_what_would_be_published() -> None:
    """An interest in what is open there meets it; one in what it does not have does not."""
    async with meteor.LocalOverlay(peers=4, space=SPACE) as overlay:
        client, others = await overlay.connect(), await overlay.connect(peer=2)
        watch = await client.notify_interest("type=lamp temperature=*")
        await others.notify_data("type=lamp humidity>=10")
        await others.notify_data("type=lock temperature>=10")
        assert not watch.active
        asked = await others.notify_data("type=l* temperature=10..20")
        appeared = await watch.recv(10)
        assert (appeared.kind, appeared.id.partition(".")[0]) == (
            "appeared", asked.id.partition(".")[0]
        )  # fmt: skip
        await asked.close()
        assert (await watch.recv(10)).kind == "gone"


async def test_data_without_a_dimension_is_told_the_nearest_name() -> None:
    async with meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        client = await overlay.connect()
        with pytest.raises(meteor.ProfileError) as refused:
            client.store("temprature=20", "warm")
    for said in ("temprature", "'temperature'", *(one.name for one in SPACE.dimensions)):
        assert said in str(refused.value)
