"""A delete of what overlaps, while others post other versions of that: it comes before each of them
or after it, and takes nothing that it was not asked for."""

from __future__ import annotations

import random
from typing import Any, Literal

import pytest

from meteor import MeteorError
from meteor.rendezvous.amending import FINDINGS_MAX
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE

COUNT = 6


@pytest.mark.parametrize("mode", ["within", "overlap"])
@pytest.mark.parametrize("color", ["red", "blue"])
@pytest.mark.parametrize("seed", range(3))
def test_it_takes_what_the_selector_says_and_no_later_version(
    seed: int, color: str, mode: Literal["within", "overlap"]
) -> None:
    """What was found was deleted by its id, of whatever version it was by then, and wherever."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=seed)
    one, other, stream = overlay.client(peer=1), overlay.client(peer=4), random.Random(seed)
    ids: list[str] = []

    async def change(at: int) -> str:
        """What is to be found of it; nothing where it was refused."""
        await overlay.kernel.sleep(stream.uniform(0, 0.01))
        profile = f"type=lamp temperature={at * 9 + 50 * (at % 2)} color={color}"
        try:
            if at % 2:
                await other.replace(ids[at], profile, f"second {at}")
            else:
                await other.store(profile, f"second {at}", id=f"lamp{at}")
        except MeteorError:
            return ""
        return f"second {at}" if color == "blue" else ""

    async def scenario() -> None:
        for at in range(COUNT):
            first = f"type=lamp temperature={at * 9} color=red"
            ids.append((await other.store(first, f"first {at}", id=f"lamp{at}")).id)
        changing = [overlay.kernel.spawn(change(at)) for at in range(COUNT)]
        receipt = await one.delete_data("type=lamp color=red", mode=mode)
        expected = {text for one in changing if (text := await one)}
        assert {match.text for match in await one.retrieve("type=lamp")} == expected
        assert receipt.complete
        if color == "red":
            # a version that took the place of one that was taken before is taken as well
            assert receipt.matches >= COUNT

    overlay.run(scenario())


def test_it_ends_where_what_it_finds_changes_on_and_on(monkeypatch: pytest.MonkeyPatch) -> None:
    overlay = Overlay(codec=wire_codec(), peers=3, space=SPACE, seed=1)
    client, other = overlay.client(peer=1), overlay.client(peer=2)
    amending = overlay.peers[1].core.entry._amending
    once, asked = amending.once, list[str]()

    async def after_another(sender: Any, amend: Any, admitted: Any, *, mode: str) -> Any:
        asked.append(mode)
        await other.store("type=lamp temperature=20", "another", id="lamp")
        return await once(sender, amend, admitted, mode=mode)

    monkeypatch.setattr(amending, "once", after_another)

    async def scenario() -> None:
        await other.store("type=lamp temperature=20", "1", id="lamp")
        receipt = await client.delete_data("type=lamp", mode="overlap", allow_partial=True)
        assert (len(asked), receipt.matches, receipt.complete) == (FINDINGS_MAX, 0, False)
        monkeypatch.undo()
        assert (await client.delete_data("type=lamp", mode="overlap")).matches == 1

    overlay.run(scenario())
