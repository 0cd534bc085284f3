"""The same seed gives the same run, also under another hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("ring_for_tests", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["ring_for_tests"] = module
spec.loader.exec_module(module)
ring = module.SimRing(seed=5, bits=32)
stream = ring.kernel.random("ids")
nodes = ring.grow([stream.getrandbits(32) for _ in range(30)])
ring.settle(2.0)
for node in nodes[3:12]:
    ring.crash(node.contact.id)
for node in nodes[12:14]:
    ring.leave(node.contact.id)
for _ in range(20):
    ring.run(stream.choice(ring.members).lookup(stream.getrandbits(32)))
ring.settle(3.0)
print(ring.kernel.trace.digest(), len(ring.kernel.trace), len(ring.flaws()))
"""


@pytest.mark.processes
def test_another_hash_seed_gives_the_same_trace() -> None:
    here = Path(__file__).parent
    printed = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(here / "conftest.py")],
            env={
                **os.environ,
                "PYTHONHASHSEED": hash_seed,
                "PYTHONPATH": str(here.parent.parent),
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    print(printed)
    assert len(printed) == 1
    assert printed.pop().endswith(" 0\n")


def test_another_seed_gives_another_trace(sim_ring: Any) -> None:
    def digest(seed: int) -> str:
        ring = sim_ring(seed=seed, bits=32)
        ring.grow(range(1000, 12000, 1000))
        ring.settle(1.0)
        return str(ring.kernel.trace.digest())

    assert digest(1) == digest(1) != digest(2)
