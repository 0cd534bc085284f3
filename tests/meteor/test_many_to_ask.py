"""An heir asks all whom it knows itself, and of those that others name so many; else it says so.

Law of this file: one heir's questions in virtual time, to peers that answer what a test says.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from chord import Arc, Contact
from meteor.copies.found import Found
from meteor.copies.giving import HandoffConfig
from meteor.copies.heirs import CLAIMS_MAX, Heirs
from meteor.keeping.holdings import GIVEN_MAX
from meteor.keeping.views import Views
from meteor.wire.operations import ClaimAnswer
from sim.kernel import Kernel
from sim.network import Network
from sim.runtime import SimRuntime

OWN, DEAD = Contact(1, "10.0.0.1:1"), Contact(0, "10.0.0.0:1")
PART = (0, 99)
NOTHING = ClaimAnswer(held=(), lost=(), elsewhere=(), settled=True)


def others(count: int, first: int = 0) -> list[Contact]:
    return [Contact(2 + n, f"10.1.{n // 250}.{n % 250}:1") for n in range(first, first + count)]


class Asking:
    """An heir of an interval, and peers around that were asked for it."""

    def __init__(self, answers: dict[Contact, ClaimAnswer]) -> None:
        self.kernel = Kernel(1)
        self._network = Network(self.kernel)
        self.asked: list[Contact] = []
        for contact, answer in answers.items():
            self._serve(contact, answer)
        node: Any = SimpleNamespace(successors=(), predecessor=None, arc=Arc(DEAD.id, OWN.id))
        runtime = SimRuntime(self.kernel, self._network, OWN)
        self.heirs = Heirs(node, runtime, Views(OWN.id), HandoffConfig())
        self.heirs.note_dead(DEAD)

    def _serve(self, contact: Contact, answer: ClaimAnswer) -> None:
        def handle(_: Contact, __: object, ___: float) -> object:
            self.asked.append(contact)
            return answer

        SimRuntime(self.kernel, self._network, contact).serve(handle, lambda _: None)

    def ask(self, known: list[Contact]) -> Found:
        """What comes of it; the heir gave something to those that it knows."""
        return self.kernel.run_until(self.kernel.spawn(self.heirs.ask(PART, known)))


def test_all_that_took_something_lately_are_asked() -> None:
    """Of more than thirty the last ones were never asked, though they may have the interval."""
    known = others(GIVEN_MAX)
    asking = Asking(dict.fromkeys(known, NOTHING) | {known[-1]: ClaimAnswer((PART,), (), (), True)})
    found = asking.ask(known)
    assert [holder for holder, _ in found.holders] == [known[-1]]
    assert len(asking.asked) == GIVEN_MAX


def test_whom_these_name_is_asked_as_well() -> None:
    known, (named,) = others(GIVEN_MAX), others(1, GIVEN_MAX)
    names = ClaimAnswer((), (), (named,), True)
    holds = ClaimAnswer((PART,), (), (), True)
    asking = Asking(dict.fromkeys(known, names) | {named: holds})
    assert [holder for holder, _ in asking.ask(known).holders] == [named]


def test_nothing_is_lost_at_once_where_somebody_named_was_not_asked() -> None:
    """That is bounded: a peer may name whom it likes.  It was as if all had answered, and nobody
    had anything."""
    known, named = others(2), others(CLAIMS_MAX + 1, 2)
    names = ClaimAnswer((), (), tuple(named), True)
    asking = Asking(dict.fromkeys(known, names) | dict.fromkeys(named, NOTHING))
    found = asking.ask(known)
    assert len(asking.asked) < len(known) + len(named)
    assert not found.everybody
    assert [step.kind for step in asking.heirs.plan(found)] == ["wait"]
