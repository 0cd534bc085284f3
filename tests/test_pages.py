"""What the documentation shows runs as it is written, and prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.page_session import PageSession, blocks_of, matches

ROOT = Path(__file__).parent.parent
ELSEWHERE = {Path("docs/three-hosts.md")}
"""Pages whose blocks belong on several machines: `tests/meteor/test_three_hosts.py` runs them."""
PAGES = sorted(
    path.relative_to(ROOT)
    for path in (ROOT / "docs").rglob("*.md")
    if any(block.language in {"python", "sh"} for block in blocks_of(path.read_text()))
    and path.relative_to(ROOT) not in ELSEWHERE
)
LANGUAGES = {"python", "sh", "toml", "text", "xml", "json", "ini", "dockerfile", "ebnf", "yaml"}


LONG = {
    Path("docs/security.md"),
    *(
        Path(f"docs/{name}.md")
        for name in (
            "guide/first-space", "guide/clients", "guide/failures", "guide/dimensions",
            "reference/http",
        )
    ),
}
"""Pages that take long; what they show is looked at in tests of its own, too."""


@pytest.mark.processes
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(one, marks=[pytest.mark.long] if one in LONG else [], id=str(one))
        for one in PAGES
    ],
)
def test_a_page_can_be_followed_as_it_is_written(page: Path, tmp_path: Path) -> None:
    differences = list(PageSession(tmp_path).follow((ROOT / page).read_text()))
    assert not differences, "\n".join(differences)


def test_pages_have_no_blocks_that_nobody_would_run_by_mistake() -> None:
    for path in (ROOT / "docs").rglob("*.md"):
        used = {block.language for block in blocks_of(path.read_text())}
        assert used <= LANGUAGES, (path, used - LANGUAGES)
        fences = re.findall(r"^```(\w*)", path.read_text(), re.MULTILINE)
        assert len([fence for fence in fences if fence]) == len(blocks_of(path.read_text())), path


@pytest.mark.parametrize(
    ("said", "shown", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb", "a\nb\n", True),
        ("id 17\n", "id …\n", True),
        ("id 17\n", "id 1\n", False),
        ("a\nx\ny\nb\n", "a\n…\nb\n", True),
        ("a\nb\nc\n", "a\n…\nb\n", False),
        ("", "a\n", False),
    ],
)
def test_what_is_shown_is_compared_line_by_line(said: str, shown: str, same: bool) -> None:
    assert matches(said, shown) is same


def test_a_page_that_says_something_else_is_found_out(tmp_path: Path) -> None:
    page = "```sh\necho one\n```\n```text\ntwo\n```\n```sh\nfalse\n```\n"
    differences = list(PageSession(tmp_path).follow(page))
    assert len(differences) == 2
    assert "not 'two\\n'" in differences[0]
    assert "ended with 1" in differences[1]


@pytest.mark.long
@pytest.mark.processes
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "index.html").is_file()
