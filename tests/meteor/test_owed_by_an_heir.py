"""Who was a copy of two holders has the tombstone of one of them, and takes the place of the other,
which never had it: what is deleted there once more is with the copies of that place as well."""

from __future__ import annotations

import pytest

from tests.meteor.copies_world import crash
from tests.meteor.test_deleted_beside_another_holder import keepers
from tests.meteor.test_owed_to_ones_copies import SEEDS, Ring


@pytest.mark.parametrize("seed", SEEDS)
def test_a_delete_that_is_tried_again_at_an_heir_is_with_all_copies(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = Ring(seed)
    ring.delete_in_part(monkeypatch)
    assert keepers(ring.overlay, "lamp")
    crash(ring.last)
    client = ring.overlay.client(peer=ring.overlay.peers.index(ring.overlay.living[0]))
    again = ring.overlay.run(client.delete_data("type=lamp", mode="within", timeout=20))  # the heir
    assert again.complete
    ring.overlay.run_for(0.01)
    assert keepers(ring.overlay, "lamp") == []
