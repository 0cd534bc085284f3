"""Two groups of processes, cut from each other and joined again, become one ring of one content."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.processes.partition import namespaces_can_be_made, run_in_namespace

pytestmark = [pytest.mark.processes, pytest.mark.sockets, pytest.mark.long]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_partition_heals(tmp_path: Path, seed: int) -> None:
    if not namespaces_can_be_made():
        pytest.skip("no network namespaces: unshare, ip, nsenter or the right to use them lacks")
    done = run_in_namespace(tmp_path, seed, 16, capture=True)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
