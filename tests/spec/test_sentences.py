"""Every sentence of the specification has a test that exists.

A row is a sentence in our words, shortened where it lists; `file::test` names a test function
under tests/.  Beside the eight sections stand what people complain about elsewhere, of which
nothing is to be true here, and what is promised to those who use the thing.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.spec import (
    complaints,
    section_1_actions,
    section_2_selectors,
    section_3_documents,
    section_4_python,
    section_5_errors,
    section_6_command_line,
    section_7_rest,
    section_8_spaces,
    what_people_touch,
)

TESTS = Path(__file__).parent.parent
Sentences = Mapping[str, tuple[str, ...]]
TABLES: dict[str, Sentences] = {
    table.__name__.rpartition(".")[2]: table.SENTENCES
    for table in (
        section_1_actions, section_2_selectors, section_3_documents, section_4_python,
        section_5_errors, section_6_command_line, section_7_rest, section_8_spaces, complaints,
        what_people_touch,
    )
}  # fmt: skip
ROWS = [(name, sentence) for name, table in TABLES.items() for sentence in table]


@cache
def functions_of(path: str) -> frozenset[str]:
    """The test functions that a file defines."""
    tree = ast.parse((TESTS / path).read_text())
    return frozenset(
        one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize(("table", "sentence"), ROWS)
def test_every_sentence_has_a_test_that_exists(table: str, sentence: str) -> None:
    named = TABLES[table][sentence]
    assert named, "a sentence without a test"
    for one in named:
        path, name = one.split("::")
        assert name.startswith("test_"), one
        assert name in functions_of(path), one


def test_no_test_of_the_specification_stands_for_nothing() -> None:
    """Those that were written for sentences are named by one."""
    named = {one for table in TABLES.values() for tests in table.values() for one in tests}
    for path in sorted((TESTS / "spec").glob("test_section_*.py")):
        place = f"spec/{path.name}"
        for name in functions_of(place):
            assert not name.startswith("test_") or f"{place}::{name}" in named, name
