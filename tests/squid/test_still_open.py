"""A share that may be done already is done while somebody waits for it, and not else."""

from __future__ import annotations

from typing import Any, cast

import pytest

from chord import Contact, Fault, Runtime
from sim.kernel import Kernel
from sim.network import Network
from sim.runtime import SimRuntime
from squid.messages import HandOn, IsOpen, Open
from squid.operation import OriginatedOperation
from squid.still_open import StillOpen

ORIGIN, DOER = Contact(1, "10.0.0.1:1"), Contact(2, "10.0.0.2:1")


class Known:
    """An operation of which it is known whether it is settled, and wanted."""

    def __init__(self, *, settled: bool = False, wanted: bool | None = None) -> None:
        self.settled = settled

        async def is_wanted() -> bool:
            return bool(wanted)

        self.is_wanted = None if wanted is None else is_wanted


class World:
    def __init__(
        self, operation: Known | None, *, hears: bool = True, its: Contact = ORIGIN
    ) -> None:
        self.kernel = Kernel(1)
        network = Network(self.kernel)
        origin, doer = (SimRuntime(self.kernel, network, one) for one in (ORIGIN, DOER))
        operations = cast(dict[bytes, OriginatedOperation], {b"it": operation} if operation else {})
        asked = StillOpen(cast(Runtime, origin), operations if its is ORIGIN else {})
        self.doer = StillOpen(cast(Runtime, doer), operations if its is DOER else {})

        def answer(sender: Contact, message: object, left_s: float) -> object:
            if not hears:
                raise Fault("Unknown", "an earlier version")
            assert isinstance(message, IsOpen)
            return asked.handlers[IsOpen](sender, message, left_s)

        origin.serve(answer, lambda _: None)
        doer.serve(answer, lambda _: None)
        self.origin = origin

    def is_open(self, origin: Contact = ORIGIN) -> bool:
        share: Any = HandOn(b"it", 0, origin, b"", (0,), (0,), (), 0, 1000, b"")
        return self.kernel.run_until(self.kernel.spawn(self.doer.is_open(share)))


@pytest.mark.parametrize(
    ("operation", "is_open"),
    [
        (None, False),
        (Known(), True),
        (Known(settled=True), False),
        (Known(wanted=True), True),
        (Known(wanted=False), False),
        (Known(settled=True, wanted=True), False),
    ],
)
def test_the_origin_says_whether_somebody_waits(operation: Known | None, is_open: bool) -> None:
    assert World(operation).is_open() == is_open


@pytest.mark.parametrize("operation", [None, Known(), Known(wanted=True), Known(wanted=False)])
def test_whose_own_it_is_looks_as_well(operation: Known | None) -> None:
    """It was taken for wanted, as nobody need be asked; its client had gone elsewhere meanwhile."""
    is_open = World(operation).is_open()
    assert World(operation, its=DOER).is_open(DOER) == is_open


def test_an_origin_of_an_earlier_version_is_taken_at_its_word() -> None:
    assert World(None, hears=False).is_open()


def test_an_origin_that_is_not_heard_hears_of_nothing_that_is_done() -> None:
    world = World(Known())
    world.origin.close()
    assert not world.is_open()
    assert Open(so=True).so
