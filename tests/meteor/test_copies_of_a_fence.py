"""A copy that an heir let refuse a dead primary, by a view that never began, keeps what it had
until the heir has that as well.

Law of this file: one copy, by itself, with what a dead primary had and its heirs say of that.
"""

from __future__ import annotations

from typing import Any

import pytest

from chord import Contact, Deferred
from meteor.copies.config import CopiesConfig
from meteor.copies.copy_keeper import CopyKeeper
from meteor.copies.word import Word
from meteor.keeping.holdings import Holdings
from meteor.keeping.placement import key_of
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Begun, Instate, Instated, Keep, Kept, Learn
from meteor.wire.view import View
from sim.network import Network
from sim.runtime import SimRuntime
from tests.meteor.test_shelf import CURVE, EVERYTHING, HERE, World, carried

DEAD, HEIR, OTHER = (Contact(n, f"10.0.0.{n}:1") for n in (2, 3, 4))
HAD = View(DEAD, 1, 10, EVERYTHING, (HERE,))
FENCE = View(HEIR, 20, 20, EVERYTHING, (HERE,))
RECORD = carried("it", "type=a temperature=1")


class Survivor(World):
    """A copy of what a primary had that died since."""

    def __init__(self) -> None:
        super().__init__()
        self.views = Views(HERE.id)
        runtime = SimRuntime(self.kernel, Network(self.kernel), HERE)
        word = Word(runtime, self.views, CopiesConfig())
        self.keeper = CopyKeeper(
            runtime, CURVE, self.views, Holdings(), self.shelf, lambda _: None, word
        )
        assert self.says(DEAD, Learn(HAD)) == Instated()
        assert self.says(DEAD, Keep(EVERYTHING, (RECORD,))) == Kept()
        assert self.says(DEAD, Instate(HAD)) == Instated()
        assert self.says(HEIR, Instate(FENCE, HAD.epoch)) == Instated(beside=(HAD,))

    def says(self, sender: Contact, message: object) -> Any:
        """What the copy answers."""
        reply: Any = self.keeper.handlers[type(message)](sender, message, 1.0)
        return self.run(reply.conversation)[0] if isinstance(reply, Deferred) else reply

    @property
    def has_it(self) -> bool:
        """Whether it keeps the record once it has tidied."""
        self.run(self.keeper.tidy_if_less())
        return self.shelf.find(key_of(RECORD)) is not None


def test_it_speaks_for_what_it_had_when_the_heir_has_the_interval_from_somebody_else() -> None:
    """It is a copy of neither, and nobody else may be left who has what was acknowledged."""
    copy = Survivor()
    from_another = View(HEIR, 30, 30, EVERYTHING, (OTHER,))
    assert copy.says(HEIR, Instate(from_another)) == Instated()
    assert copy.has_it
    assert copy.views.remembered() == [HAD]


@pytest.mark.parametrize("view", [FENCE, View(HEIR, 30, 30, EVERYTHING, (HERE,))])
def test_it_need_not_once_that_began(view: View) -> None:
    copy = Survivor()
    assert copy.says(HEIR, Instate(view, HAD.epoch)) == Instated()
    copy.says(HEIR, Begun((view,)))
    copies_elsewhere = View(HEIR, 40, 40, EVERYTHING, (OTHER,))
    assert copy.says(HEIR, Instate(copies_elsewhere)) == Instated()
    assert copy.views.remembered() == []
    assert not copy.has_it
