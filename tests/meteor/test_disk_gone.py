"""A whole ring falls at one moment and is started again, and one of its disks is gone.

Two others have everything that was on it.  Its peer comes back under its old identifier and knows
nothing: that is no word that anything ended, or never began.  Who is started first is another one:
a peer without any memory that finds nobody founds a ring of its own.
"""

from __future__ import annotations

import random

import pytest

from chord import Contact
from meteor.copies.evidence import Evidence
from meteor.copies.takeover import Asked, plan
from meteor.wire.view import View
from sim.disk import SimDisk
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    crash,
    seeds,
    store_some,
)
from tests.meteor.test_falling_one_by_one import start

FOUND = [4, 19]
"""Their intervals were named as missing for ever."""


@pytest.mark.parametrize("seed", [*FOUND, *seeds(2, 30)])
def test_what_was_on_it_is_with_the_others(seed: int) -> None:
    drawn = random.Random(seed * 31)
    overlay = build(seed, drawn.choice([4, 5, 6, 8, 10]), disk_s=drawn.choice([0.001, 0.01]))
    kept = set(store_some(overlay, overlay.client(), drawn, 12))
    assert_whole_within(overlay, 30)
    fallen = list(overlay.living)
    drawn.shuffle(fallen)
    crash(*fallen)
    overlay.run_for(drawn.choice([1, 5, 20]))
    gone = fallen[0]
    assert isinstance(overlay.disk, SimDisk)
    overlay.disk.wipe(gone.address)
    drawn.shuffle(fallen)
    if fallen[0] is gone:
        fallen.append(fallen.pop(0))
    start(overlay, fallen)
    assert_whole_within(overlay, 60)
    assert ask(overlay, overlay.client()) == (kept, True)


PIECE = (0, 9)
ANN, BOB, CLARA = (Contact(one, f"10.0.0.{one}:1") for one in (1, 2, 3))


def after_a_fall(born: int) -> str:
    """What an heir makes of a view whose two copies are back, and whose primary is and knows
    nothing; the number of the life in which it began its journal."""
    view = View(ANN, 5, 5, (PIECE,), (BOB, CLARA))
    back = [Contact(one.id, one.address, 1) for one in (ANN, BOB, CLARA)]
    evidence = [Evidence(one, view, False) for one in back[1:]]
    asked = Asked(back, (), patient=True, begun=(view,), born={ANN.id: born})
    (step,) = plan((PIECE,), evidence, asked, orphaned=True)
    return step.kind


def test_who_began_its_journal_later_has_not_moved_on() -> None:
    assert after_a_fall(born=1) == "adopt"
    assert after_a_fall(born=0) == "lost"  # it gave that away, or let it go
