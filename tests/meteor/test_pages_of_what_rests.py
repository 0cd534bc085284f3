"""A page of an interval wakes what lives there: a restarted peer has a hundred thousand others."""

from __future__ import annotations

from meteor.keeping.placement import Admission
from tests.meteor.test_shelf import EVERYTHING, World, carried


def test_what_lives_elsewhere_goes_on_resting() -> None:
    """The first page that a neighbour asked of a restarted peer with 100,000 records made an object
    of each and held it for 0.9 s: copies that are silent for 0.6 s are evicted."""
    world = World()
    some = [
        carried(f"s{number}", f"type=a temperature={number % 90} humidity=1", number=number + 1)
        for number in range(300)
    ]
    world.run(world.shelf.admit(some, Admission()))
    shelf = world.restarted()
    lowest = sorted(shelf.table[key].lowest for key in world.shelf.table._placed)
    shelf = world.restarted()
    page = shelf.page((lowest[0], lowest[0]), 0)
    resting = [one for one in shelf.table._placed.values() if isinstance(one, int)]
    assert 0 < len(page.carried) < 30
    assert len(resting) == len(some) - len(page.carried)
    assert len(shelf.page(EVERYTHING[0], 0, whole=True).carried) == len(some)
