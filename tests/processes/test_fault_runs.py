"""Real peers killed, held and started again: nothing acknowledged is lost, nothing is silent."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.processes.fault_runs import (
    Size,
    Table,
    drawn_apart,
    free_draws,
    killed_and_held,
    power_cut,
)
from tests.processes.load import Load

pytestmark = [pytest.mark.processes, pytest.mark.sockets]

SMALL = Size(peers=4, killed=1, held=0, posts=40)


def accounted_for(table: Table, load: Load, folder: Path) -> None:
    """What every run must come to."""
    assert not load.account.violations
    assert table.lines["acknowledged and not found"] == 0
    assert table.lines["last answer"] == "complete"
    assert table.lines["unheard after attaching anew"] == 0
    for name in load.interests:
        assert not load.account.unheard(name)
        assert not load.account.repeated(name)
    assert not left_behind(folder)


def left_behind(folder: Path) -> list[int]:
    """Processes that name our folder in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:  # it ended while we looked
                continue
            if str(folder).encode() in words:
                found.append(int(entry.name))
    return found


async def test_a_killed_peer_costs_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    accounted_for(*await killed_and_held(tmp_path, 1, SMALL), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_quarter_killed_and_others_held(tmp_path: Path, seed: int) -> None:
    accounted_for(*await killed_and_held(tmp_path, seed), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
async def test_what_free_draws_leave_no_copy_of_is_named(tmp_path: Path, seed: int) -> None:
    table, load = await free_draws(tmp_path, seed)
    if table.lines["arcs without a copy"]:
        assert table.lines["with the killed gone: complete"] is False
    accounted_for(table, load, tmp_path)


@pytest.mark.long
async def test_a_ring_that_lost_power_comes_back(tmp_path: Path) -> None:
    table, load = await power_cut(tmp_path, 1)
    assert table.lines["with one missing: complete"] is True
    accounted_for(table, load, tmp_path)


def test_draws_leave_one_of_any_three_neighbours() -> None:
    for seed in range(50):
        killed = drawn_apart(4, 16, random.Random(seed), frozenset())
        held = drawn_apart(4, 16, random.Random(seed), frozenset(killed))
        gone = killed | held
        assert len(gone) == 8
        assert not any({at, (at + 1) % 16, (at + 2) % 16} <= gone for at in range(16))
