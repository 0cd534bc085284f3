"""The Python side of the simulator, as the SPEC has it."""

from __future__ import annotations

import pytest

import sim
from meteor import KeywordSpace, Number, Word
from meteor.wire.codec import wire_codec

SPACE = KeywordSpace("plain", [Word("type"), Number("value", 0, 1000)])


def test_an_overlay_runs_on_a_network_of_its_own() -> None:
    kernel = sim.Kernel(seed=5, keep_trace=True)
    network = sim.Network(kernel, latency=sim.TailedLatency(0.01, 0.02), codec=wire_codec())
    overlay = sim.Overlay(peers=6, space=SPACE, seed=5, network=network)
    client = overlay.client()
    receipt = overlay.run(client.store("type=reading value=7", b"seven"))
    assert receipt.complete
    assert kernel.now() > 0.02
    until = kernel.now() + 60.0
    overlay.run(until=until)
    assert kernel.now() == pytest.approx(until)
    (match,) = overlay.run(client.retrieve("type=reading").all())
    assert match.data == b"seven"
    assert overlay.trace.events


def test_a_network_and_its_parts_are_not_both_given() -> None:
    kernel = sim.Kernel()
    with pytest.raises(ValueError, match="its own kernel"):
        sim.Overlay(2, space=SPACE, kernel=kernel, network=sim.Network(kernel))
