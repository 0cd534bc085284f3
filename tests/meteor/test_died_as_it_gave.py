"""A giver that dies as it gives, and had just asked its copies to take a next epoch.

It was frozen: nothing is in that epoch which the taker has not.  The copies of that epoch told the
taker of it as of a rival, whose primary nobody could ask; where the taker gave the interval on just
then, as it took in what they had, it was named for good (seed 75 of `ring-that-loses-nothing`).
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from chord import Contact, Fault
from meteor.copies.adopted import Adopted
from meteor.copies.giving import Giving
from meteor.copies.pulling import DIED_FROZEN
from meteor.copies.rivals import Rivals
from meteor.wire.copy_messages import Instate
from meteor.wire.operations import Yours
from meteor.wire.view import Rival, View
from tests.meteor.copies_world import ask, assert_whole_within, build, seeds, store_some

GIVER = Contact(7, "10.0.0.7:7400", 3)


@pytest.mark.parametrize("seed", seeds(2))
def test_what_it_was_about_to_begin_is_nobodys_rival(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay, drawn = build(seed, 5, disk_s=0.002), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 20)
    assert_whole_within(overlay)
    giver = next(one for one in overlay.peers if len(one.core.views.own) == 1)
    (mine,) = giver.core.views.own.values()
    taker = next(one for one in overlay.peers if one.contact not in mine.holders)

    async def die(giving: Giving, _: object, __: object) -> Yours:
        later = replace(mine, epoch=giving._views.next_epoch())
        await giving._replication.ask_all(mine.copies, Instate(later, mine.epoch))
        giver.crash()
        raise Fault("Dead", "it answers nobody")

    note, named = Rivals.note, list[Rival]()

    def listen(rivals: Rivals, rival: Rival) -> bool:
        named.extend([rival] if rival.intervals else [])
        return note(rivals, rival)

    monkeypatch.setattr(Giving, "_give", die)
    monkeypatch.setattr(Rivals, "note", listen)
    part = mine.intervals[0]
    assert overlay.run(taker.core._handoff.pulling.take(part, giver.contact, ()))
    assert named == []
    assert_whole_within(overlay)
    assert ask(overlay, overlay.client(peer=overlay.living.index(taker))) == (set(stored), True)


def test_only_of_the_life_in_which_it_died() -> None:
    adopted, part = Adopted(), ((0, 9),)
    view = View(Contact(1, "10.0.0.1:7400"), 90, 90, part, ())
    adopted.note(view, 50)
    adopted.note_given(view, GIVER, DIED_FROZEN.tried)
    assert adopted.before(90, part, 95, GIVER) == ()
    assert adopted.before(90, part, 95, replace(GIVER, incarnation=4)) == part
    assert adopted.before(90, part, 95, replace(GIVER, id=8)) == part
    adopted.note_given(view, GIVER, 60)
    assert adopted.before(90, part, 60, replace(GIVER, incarnation=4)) == ()
    assert adopted.before(90, part, 61, GIVER) == part
