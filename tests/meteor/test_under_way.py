"""A peer that is slow does what it is asked once, however often its router asks again meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Contact
from meteor.rendezvous.under_way import Ends, UnderWay
from meteor.wire.codec import wire_codec
from sim.kernel import Kernel
from sim.network import Network
from sim.overlay import Overlay
from sim.runtime import SimRuntime
from squid import Work
from tests.meteor.building import SPACE

SLOW_S = 5.0
"""Longer than three tries of a router."""


@pytest.mark.parametrize(("verb", "peers"), [("keep", 3), ("selected", 1)])
def test_what_takes_long_is_begun_once(
    verb: str, peers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = Overlay(codec=wire_codec(), peers=peers, space=SPACE, seed=5)
    client = overlay.client(peer=0)
    begun: list[str] = []

    def slowed(peer: Any) -> None:
        changes = peer.core.point.changes
        owner = changes if verb == "keep" else changes.deletes
        real = getattr(owner, verb)

        async def slow(*args: Any, **named: Any) -> Any:
            begun.append(peer.address)
            await overlay.kernel.sleep(SLOW_S)
            return await real(*args, **named)

        monkeypatch.setattr(owner, verb, slow)

    for peer in overlay.peers:
        slowed(peer)
    if verb == "keep":
        receipt = overlay.run(client.store("type=lamp temperature=20", b"x", timeout=60))
    else:
        overlay.run(client.store("type=lamp temperature=20", b"x", ttl=600))
        receipt = overlay.run(client.delete_data("type=lamp", timeout=60))
        assert receipt.matches == 1
    assert receipt.complete
    assert len(begun) == 1, begun
    assert not any(len(peer.core.point._under_way) for peer in overlay.peers)


def world() -> tuple[Kernel, UnderWay]:
    kernel = Kernel(1)
    return kernel, UnderWay(SimRuntime(kernel, Network(kernel), Contact(1, "10.0.0.1:1")))


@pytest.mark.parametrize("first", [Work(undone=((0, 9),)), Work(body=b"first"), None])
def test_who_comes_later_does_what_the_first_left(first: Work | None) -> None:
    """It was undone, done, or it failed."""
    kernel, under_way = world()
    outcomes: dict[int, Work | None] = {}
    begun: list[int] = []

    async def work(number: int) -> None:
        await kernel.sleep(number / 10)

        async def do(_: Ends) -> Work:
            begun.append(number)
            await kernel.sleep(1.0)
            if number == 0 and first is None:
                raise ValueError("the disk is full")
            return first if number == 0 and first is not None else Work(body=b"%d" % number)

        try:
            outcomes[number] = await under_way.once("x", 60.0, do)
        except ValueError:
            outcomes[number] = None

    for task in [kernel.spawn(work(number)) for number in range(3)]:
        kernel.run_until(task)
    assert outcomes[0] == first
    if first == Work(body=b"first"):
        assert begun == [0]
        assert outcomes[1] == outcomes[2] == first
    else:
        assert begun == [0, 1]
        assert outcomes[1] == outcomes[2] == Work(body=b"1")
    assert len(under_way) == 0


def test_nobody_waits_for_longer_than_his_own_time() -> None:
    kernel, under_way = world()
    came: dict[float, tuple[Work | None, float]] = {}

    async def work(ends_s: float) -> None:
        async def do(ends: Ends) -> Work:
            await kernel.sleep(10.0)
            assert ends() == 60.0  # the last of all who ask, though another one asked first
            return Work(body=b"done")

        came[ends_s] = await under_way.once("x", ends_s, do), kernel.now()

    for task in [kernel.spawn(work(ends_s)) for ends_s in (20.0, 2.0, 4.0, 60.0)]:
        kernel.run_until(task)
    assert came[2.0] == (None, 2.0)
    assert came[4.0] == (None, 4.0)
    assert came[60.0] == came[20.0] == (Work(body=b"done"), 10.0)
