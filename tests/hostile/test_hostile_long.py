"""The doors under a fuzzer that sees which lines a document reaches: with `make test-long`."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from tests.hostile.doors import DOORS

pytestmark = pytest.mark.long
RUNS = 20_000
SEED = 1


@pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None, reason="needs atheris: the extra `fuzz`"
)
@pytest.mark.parametrize("door", DOORS)
def test_a_fuzzer_finds_nothing(door: str) -> None:
    module = [sys.executable, "-m", "tests.hostile.fuzz_atheris"]
    fuzzing = subprocess.run(
        [*module, door, f"-runs={RUNS}", f"-seed={SEED}"],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert fuzzing.returncode == 0, fuzzing.stderr[-3000:]
    assert f"Done {RUNS}" in fuzzing.stderr
    print(door, fuzzing.stderr.strip().splitlines()[-1])
