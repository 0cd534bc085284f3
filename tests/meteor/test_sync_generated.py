"""The blocking side is the asynchronous one, by the one list of methods: nothing is forgotten,
everything takes the same, and the generated text is up to date.

`python -m pytest tests/meteor/test_sync_generated.py --rewrite` writes it anew.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

import meteor
from meteor.sync.generating import modules, without_awaiting, wrapped
from meteor.sync.methods import MIRRORED, VERBS, Mirror

SYNC = Path(meteor.sync.__file__).parent


def both(mirror: Mirror) -> tuple[type, type]:
    """The class here and there."""
    ours = importlib.import_module("meteor.sync.verbs") if mirror is VERBS else meteor.sync
    return (
        getattr(importlib.import_module(mirror.module), mirror.name),
        getattr(ours, mirror.name),
    )


def public(kind: type) -> set[str]:
    """Methods and properties, inherited ones too, and what the constructor sets."""
    names = {name for name in dir(kind) if not name.startswith("_")}
    made = {"Peer": {"callbacks"}, "LocalOverlay": {"peers"}, "Answer": {"receipt", "dropped"}}
    made |= {"Interest": {"dropped"}, "Watch": {"dropped"}}
    return names | made.get(kind.__name__, set())


@pytest.mark.parametrize("name", sorted(modules()))
def test_the_generated_text_is_up_to_date(name: str, rewrite: bool) -> None:
    text = modules()[name]
    if rewrite:
        (SYNC / f"{name}.py").write_text(text)
    assert text == (SYNC / f"{name}.py").read_text(), "run with --rewrite and read the diff"


@pytest.mark.parametrize("mirror", MIRRORED, ids=lambda mirror: mirror.name)
def test_every_method_of_the_asynchronous_side_stands_in_the_list(mirror: Mirror) -> None:
    there, here = both(mirror)
    verbs = set() if mirror is VERBS else set(VERBS.methods)
    listed = set(mirror.methods) | set(mirror.left_out)
    assert public(there) - verbs - listed == set(), "add it to meteor/sync/methods.py"
    assert listed - public(there) == set(), "it is there no more"
    assert set(mirror.methods) - public(here) == set()
    assert set(mirror.left_out) & public(here) == set()


@pytest.mark.parametrize("mirror", MIRRORED, ids=lambda mirror: mirror.name)
def test_both_sides_take_the_same(mirror: Mirror) -> None:
    """Names, order, defaults and kinds; what differs is only what awaiting gives."""
    there, here = both(mirror)
    for name in mirror.methods:
        ours, theirs = getattr(here, name), getattr(there, name, None)
        if theirs is None or isinstance(ours, property):
            assert theirs is None or isinstance(theirs, property)
            continue
        assert taken(ours) == taken(theirs), name
        assert not inspect.iscoroutinefunction(ours), name


def taken(function: object) -> list[tuple[str, object, object]]:
    signature = inspect.signature(function)  # type: ignore[arg-type]
    return [(one.name, one.default, one.kind) for one in signature.parameters.values()]


@pytest.mark.parametrize("name", ["Peer", "LocalOverlay"])
def test_constructors_take_the_same(name: str) -> None:
    assert taken(getattr(meteor.sync, name)) == taken(getattr(meteor, name))


def test_connect_takes_the_same() -> None:
    assert taken(meteor.sync.connect) == taken(meteor.connect)


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("Awaitable[Receipt]", "Receipt"),
        ("Awaitable[Receipt] | Answer | Answer[Result]", "Receipt | Answer | Answer[Result]"),
        ("Awaitable[dict[str, int]]", "dict[str, int]"),
        ("list[Match]", "list[Match]"),
    ],
)
def test_what_is_awaited_there_is_returned_here(there: str, here: str) -> None:
    assert without_awaiting(there) == here


def test_calls_are_wrapped_as_the_formatter_does() -> None:
    assert wrapped("", "f", ["a", "b"], "") == "f(a, b)"
    long = ["a" * 42, "b" * 41]
    assert wrapped("  ", "call", [*long, "c" * 6], "") == (
        f"  call(\n      {long[0]}, {long[1]}, {'c' * 6}\n  )"
    )
    assert wrapped("", "call", [*long, "c" * 30], ":") == (
        f"call(\n    {long[0]},\n    {long[1]},\n    {'c' * 30},\n):"
    )
