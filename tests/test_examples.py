"""What the README shows runs as it is written, and prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from meteor.cli import COMMANDS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_the_readme_s_python_runs_and_prints_what_it_says(number: int) -> None:
    code = blocks("python")[number]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    said = re.search(r"prints `(.*?)` and `(.*?)`", README)
    assert said is not None
    assert done.stdout.splitlines() == list(said.groups())


def test_the_readme_names_only_commands_and_targets_that_exist() -> None:
    shell = "\n".join(blocks("sh"))
    targets = re.findall(r"^make (\S+)", shell, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert targets == ["demo", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    assert set(re.findall(r"^meteor (\S+)", shell, re.MULTILINE)) <= set(COMMANDS)


def test_the_architecture_page_names_only_what_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for path in re.findall(r"`((?:chord|squid|arms|meteor|sim|tests)/[\w/*.]+)`", text):
        assert list(ROOT.glob(path)), path
