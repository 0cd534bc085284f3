"""Small rings as in `test_small_rings_that_move`, cut in two as well, with changes on both sides.

At the end all are back and the ring is one: everything is whole, of every record that was promised
the latest version is there, or a later one that was not, and what was deleted is not.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from meteor import Client, MeteorError
from tests.meteor.small_ring_world import CUT_PAUSES_S, CutAtTimes
from tests.meteor.test_small_rings_that_move import MovingRing

SETTLED_S = 15.0
FOUND = {
    95: "given to a copy that let go of it, and fell before it began",
    163: "given, and passed over before it began by who had taken it as lost",
    209: "replaced in part, and cancelled at the old place on the other side",
    558: "two replaces at once, each of another place: the word of one was too late for the other",
    1598: "moved by one alone: the others' past was found, and the word taken in, what moved not",
    2926: "halfway, found by a comparison, and let go with the new place before that was done",
}


class HealedRing(CutAtTimes, MovingRing):
    """A ring that is cut at times, and one again at the end."""

    def to_the_end(self) -> None:
        """Let it happen; all are back, and asked."""
        print(f"{self.size} peers, {self.copies} copies")
        self.play(range(3, 10), 4, CUT_PAUSES_S)
        self.heal()
        self.bring_back()
        self.overlay.run_for(SETTLED_S)
        self.ask(self.overlay.client(), 8.0)


class CutRing(HealedRing):
    """One of which nothing is asked meanwhile."""

    sizes, is_apart = (4, 5, 6, 6, 7, 8), True
    client: Client | None = None

    def change(self) -> None:
        """No question: on one side it may be answered as if the other were gone."""
        client = self.drawn_client()
        if client is None:
            return
        self.client = client
        what, timeout_s = self.drawn.random(), self.drawn.choice([0.4, 2, 6])
        with suppress(MeteorError):
            if what < 0.2:
                self.store(client, timeout_s)
            elif what < 0.8:
                self.replace(client, timeout_s)
            else:
                self.cancel(client, timeout_s)

    def counts(self) -> bool:
        """Of one side, while there are two."""
        address = None if self.client is None else self.client.peer_address
        return len(self.living_with(address)) >= 3


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    CutRing(seed, monkeypatch).to_the_end()


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_one_version_is_there(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
