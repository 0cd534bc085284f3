"""Making way for another peer of the same identifier: never by the word of one neighbour."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from chord import Contact, Neighbours, RequestTimeout, Supplanted
from chord.making_way import make_way
from chord.messages import Ping
from chord.pointers import RingPointers

OWN, TWIN = Contact(50, "here:1", 1), Contact(50, "there:1", 2)
BEFORE, BEHIND, FARTHER = Contact(40, "a:1"), Contact(60, "b:1"), Contact(70, "c:1")


@dataclass
class Others:
    """What the other peers say."""

    twin: Contact = TWIN
    is_there: bool = True
    before: Contact | None = TWIN
    """Whom our predecessor has behind it; None where it does not answer."""
    farther: Contact | None = None
    """Whom the next one but one names."""
    departed: list[Contact] = field(default_factory=list)
    asked: list[Contact] = field(default_factory=list)

    async def ask(self, contact: Contact, request: object) -> object:
        self.asked.append(contact)
        says = {BEFORE.id: self.before, FARTHER.id: self.farther}.get(contact.id)
        if isinstance(request, Ping):
            if not self.is_there:
                raise RequestTimeout("silent")
            return None
        if says is None:
            raise RequestTimeout("silent")
        return Neighbours(contact, None, (says,), 1)

    def is_supplanted(self, *behind: Contact, before: Contact | None = BEFORE) -> bool:
        pointers = RingPointers(OWN, 8, 4, cast("Any", self.departed), *[lambda *_: None] * 3)
        pointers.install(before, behind)
        try:
            asyncio.run(make_way(pointers, cast("Any", self), b"", self.twin, lambda: True))
        except Supplanted:
            return True
        return False


@pytest.mark.parametrize(
    ("others", "is_supplanted"),
    [
        (Others(), True),
        (Others(is_there=False), False),
        (Others(before=OWN), False),
        (Others(before=None, farther=None), False),
        (Others(before=None, farther=TWIN), True),
        (Others(before=None, farther=OWN), False),
        (Others(before=Contact(45, "d:1"), farther=TWIN), True),
        (Others(twin=Contact(50, "there:1", 0)), False),
        (Others(departed=[TWIN]), False),
    ],
)
def test_the_twin_lives_and_another_neighbour_takes_it_for_us(
    others: Others, is_supplanted: bool
) -> None:
    assert others.is_supplanted(BEHIND, FARTHER) is is_supplanted


def test_of_two_the_other_one_is_the_only_neighbour() -> None:
    assert Others().is_supplanted(BEHIND, before=BEHIND)
