"""Who comes back alone of a ring that fell, and had nothing there yet, knows that there was a past.

Law of this file: the whole ring falls as somebody joins, who is the first to be started again.
"""

from __future__ import annotations

import pytest

from tests.meteor.copies_world import ask, seeds
from tests.meteor.test_given_as_all_fell import Fallen


@pytest.mark.parametrize("seed", seeds(8))
def test_what_it_has_of_that_is_not_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It held the whole curve as in a new ring: everything was absent, or all but the pages that
    had come, and no answer said so; and as it met the others it knew the past that they had lost.
    """
    fallen = Fallen(seed, monkeypatch)
    overlay, taker = fallen.overlay, fallen.given.taker
    others = [peer for peer in overlay.living if peer is not taker]
    fallen.fall(0.0, others)
    assert [peer.address for peer in overlay.living] == [taker.address]
    found, complete = ask(overlay, overlay.client())
    assert found < fallen.stored
    assert not complete
    fallen.start(others)
    fallen.assert_all_is_there()
