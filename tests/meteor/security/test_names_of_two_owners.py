"""Two owners have each something of one name; who replaces the other's by mistake is refused, and
his name is not dead by that."""

from __future__ import annotations

import random

import pytest

from meteor import Refused
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.copies_world import copies_of, primary_of
from tests.meteor.security.signers import ALICE, BOB

TYPES = ("ant", "bee", "cat", "dog", "hen", "kite", "light", "mole", "owl", "pig", "rat", "zebra")


@pytest.mark.parametrize("peers", [3, 8, 20])
@pytest.mark.parametrize("seed", range(1, 7))
def test_a_replace_that_is_refused_deletes_nothing_else(seed: int, peers: int) -> None:
    """The new content was deleted where it had been stored, and the name with it, wherever else it
    was: what he had was gone, and nothing could be posted under that name any more."""
    drawn = random.Random(seed)
    hers, his, new = drawn.sample(TYPES, 3)
    ids = [int((number + drawn.random() * 0.9) / peers * (1 << 160)) for number in range(peers)]
    overlay = Overlay(peers=peers, space=SPACE, seed=seed, ids=ids)
    overlay.run_for(10.0)  # else its arcs change hands yet
    alice, bob = overlay.client(identity=ALICE), overlay.client(peer=1, identity=BOB)
    full_id = overlay.run(alice.store(f"type={hers} temperature=10", b"hers", id="one")).id
    his_id = overlay.run(bob.store(f"type={his} temperature=10", b"his", id="one")).id
    with pytest.raises(Refused, match="somebody else's"):
        overlay.run(bob.replace(full_id, f"type={new} temperature=90", b"new"))
    overlay.run_for(10.0)

    def found(name: str) -> list[bytes]:
        return [match.data for match in overlay.run(bob.retrieve(f"type={name}").all())]

    assert (found(hers), found(new)) == ([b"hers"], [])
    is_left = bool(found(his))
    new_id = overlay.run(bob.store(f"type={new} temperature=90", b"again", id="one")).id
    assert found(new) == [b"again"]
    assert is_left or keepers(overlay, his_id) & keepers(overlay, new_id)


def keepers(overlay: Overlay, full_id: str) -> set[str]:
    """Who has a place: who has two of one name takes the later one for the next state of it."""
    return {one.address for one in (primary_of(overlay, full_id), *copies_of(overlay, full_id))}
