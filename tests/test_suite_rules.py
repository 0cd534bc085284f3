"""The rules of tests/conftest.py hold: each is broken on purpose in a suite of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def run_suite(folder: Path, body: str, skips: str = "", *options: str) -> tuple[int, str]:
    """Run pytest on one file beside our conftest; its exit status and output.

    Of the plugins that are installed, only xdist's: the others take two seconds to import."""
    shutil.copy(HERE / "conftest.py", folder)
    (folder / "skips.txt").write_text(skips)
    (folder / "test_it.py").write_text(body)
    plugins = ["-p", "no:cacheprovider", "-p", "xdist"]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, *options]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


SKIPPING = "import pytest\ndef test_a(): pytest.skip('no reason')\ndef test_b(): pass\n"


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_an_unlisted_skip_fails_the_run(tmp_path: Path, options: tuple[str, ...]) -> None:
    status, output = run_suite(tmp_path, SKIPPING, "", *options)
    assert status == 1, output
    assert "not listed" in output
    assert "test_it.py::test_a" in output


def test_a_listed_skip_passes(tmp_path: Path) -> None:
    status, output = run_suite(tmp_path, SKIPPING, "test_it.py::test_a | tried here\n")
    assert status == 0, output


def test_a_skip_of_a_whole_module_fails_the_run(tmp_path: Path) -> None:
    body = "import pytest\npytest.skip('all', allow_module_level=True)\n"
    status, output = run_suite(tmp_path, body)
    assert status != 0, output
    assert "not listed" in output


def test_a_list_entry_without_a_reason_is_refused(tmp_path: Path) -> None:
    status, output = run_suite(tmp_path, SKIPPING, "test_it.py::test_a\n")
    assert status != 0
    assert "no reason given" in output


def test_tests_of_a_group_run_in_one_process(tmp_path: Path) -> None:
    """Else each worker has a Spark of its own, as with pytest 9.2 and pytest-xdist 3.8."""
    body = (
        "import os, pathlib, pytest\n"
        "pytestmark = [pytest.mark.xdist_group('one'), pytest.mark.parametrize('n', range(8))]\n"
        "def test_a(n): pathlib.Path(f'on-{os.getpid()}').touch()\n"
    )
    ini = "[pytest]\nmarkers =\n    xdist_group(name): all on one worker\n"
    (tmp_path / "pytest.ini").write_text(ini)
    status, output = run_suite(tmp_path, body, "", "-n", "2", "--dist", "loadgroup")
    assert status == 0, output
    assert len(list(tmp_path.glob("on-*"))) == 1, output


def test_a_run_without_tests_is_a_failure(tmp_path: Path) -> None:
    status, _ = run_suite(tmp_path, "")
    assert status == 5
