"""The notebooks run from their first cell to their last, are kept without outputs, hold no pipeline
code, and label the axes of what they draw."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SMALL = {
    "METEOR_NOTEBOOK_PEERS": "32",
    "METEOR_NOTEBOOK_STORED": "1000",
    "METEOR_NOTEBOOK_SECONDS": "3",
    "METEOR_NOTEBOOK_LOOKUPS": "20",
    "METEOR_NOTEBOOK_PROFILES": "4000",
    "METEOR_STUDY_RESULTS": str(FOLDER / "none"),
    # As tests/sim/conftest.py has it.
    "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1",
}
"""Sizes with which the pages are quick; one that is set outside counts."""
CELL_LINES_MAX = 26
CELL_S = 300
PIPELINE = {"pyspark", "pandas", "multiprocessing", "subprocess"}
"""What a page that only shows has no use for; tables of results are read with pandas."""
MAY_IMPORT = {"06-routing-study": {"pandas"}}


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    book = json.loads(path.read_text())
    return [cell for cell in book["cells"] if cell["cell_type"] == kind]


def code(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def test_there_are_six() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path: Path) -> None:
    assert all(
        not cell["outputs"] and cell["execution_count"] is None for cell in cells(path, "code")
    ), f"{path.name} has outputs: clear them before it is committed"
    nbformat.validate(nbformat.read(path, as_version=4))
    assert path.stat().st_size < 20_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pages_show_and_compute_little(path: Path) -> None:
    for cell in cells(path, "code"):
        text = code(cell)
        assert len(text.splitlines()) <= CELL_LINES_MAX, text
        tree = ast.parse(text, mode="exec")
        imported = {
            (alias.name if isinstance(node, ast.Import) else node.module or "").split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not imported & PIPELINE - MAY_IMPORT.get(path.stem, set()), text
    words = sum(len(code(cell).split()) for cell in cells(path, "markdown"))
    assert words > 120, "a page tells something"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_axes_are_labelled(path: Path) -> None:
    for cell in cells(path, "code"):
        text = code(cell)
        if any(drawn in text for drawn in ("axes.plot(", "left.plot(", ".barh(", ".fill_between(")):
            assert "xlabel" in text, text
            assert "ylabel" in text, text


LONG = {"03-curve", "05-churn"}
"""Those that take long; `make test-long` runs them."""


def _on_its_worker(path: Path) -> Any:
    """Spark starts where the other tests of Spark run, not beside them."""
    marks = [pytest.mark.xdist_group("spark")] if "study" in path.stem else []
    if path.stem in LONG:
        marks.append(pytest.mark.long)
    return pytest.param(path, marks=marks, id=path.stem)


@pytest.mark.processes
@pytest.mark.parametrize("path", [_on_its_worker(path) for path in NOTEBOOKS])
def test_it_runs(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in SMALL.items():
        monkeypatch.setenv(name, os.environ.get(name, value))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parent), prepend=os.pathsep)
    book = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(book, timeout=CELL_S, kernel_name="python3", resources=folder).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    words = "".join(output["text"] for output in outputs if output.get("name") == "stderr")
    assert "Error" not in words
    assert "Traceback" not in words
