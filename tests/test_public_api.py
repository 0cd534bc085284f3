"""The public names of the five packages are those of the committed stub, and complete.

`python -m pytest tests/test_public_api.py --rewrite` writes tests/public_api.txt anew: the diff is
what a reviewer reads.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).parent.parent
STUB = Path(__file__).with_name("public_api.txt")
PACKAGES = ("chord", "squid", "arms", "meteor", "sim")


def described(package: str) -> Iterator[str]:
    """One line a public name, one more a public member of a class."""
    module = importlib.import_module(package)
    for name in sorted(module.__all__):
        thing = getattr(module, name)
        if inspect.isclass(thing):
            bases = [object if base is msgspec.Struct else base for base in thing.__bases__]
            yield f"{package}.{name}: class({', '.join(base.__name__ for base in bases)})"
            yield from (f"{package}.{name}.{line}" for line in members(thing))
        elif inspect.isroutine(thing):
            yield f"{package}.{name}{signature(thing)}"
        elif inspect.ismodule(thing):
            yield f"{package}.{name}: module"
        else:
            yield f"{package}.{name}: {type(thing).__name__}"


def members(thing: type) -> Iterator[str]:
    """Fields, methods and properties that a class of ours defines or inherits from ours."""
    if dataclasses.is_dataclass(thing):
        yield from sorted(f"{field.name}: {field.type}" for field in dataclasses.fields(thing))
    elif is_ours(thing.__init__):  # type: ignore[misc]
        yield f"__init__{signature(thing.__init__)}"  # type: ignore[misc]
    seen = {
        name: member
        for base in reversed(thing.__mro__)
        if base.__module__.split(".")[0] in PACKAGES
        for name, member in vars(base).items()
        if not name.startswith("_")
    }
    for name, member in sorted(seen.items()):
        if isinstance(member, property | functools.cached_property):
            yield f"{name}: property"
        elif isinstance(member, classmethod | staticmethod):
            yield f"{name}{signature(member.__func__)}"
        elif inspect.isroutine(member):
            yield f"{name}{signature(member)}"


def is_ours(thing: object) -> bool:
    """Whether one of the five packages defines it."""
    return (getattr(thing, "__module__", None) or "").split(".")[0] in PACKAGES


def signature(thing: object) -> str:
    """As written; `async` where it must be awaited."""
    text = re.sub(r" at 0x\w+", "", str(inspect.signature(thing)))  # type: ignore[arg-type]
    return f"{text}  (async)" if inspect.iscoroutinefunction(thing) else text


def test_signatures_are_those_of_the_stub(rewrite: bool) -> None:
    now = "".join(f"{line}\n" for package in PACKAGES for line in described(package))
    if rewrite:
        STUB.write_text(now)
    assert now == STUB.read_text(), "run with --rewrite and read the diff"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_exists_once_and_is_documented(package: str) -> None:
    module = importlib.import_module(package)
    assert len(module.__all__) == len(set(module.__all__))
    assert module.__doc__
    for name in module.__all__:
        thing = getattr(module, name)
        if is_ours(thing) and (inspect.isclass(thing) or inspect.isfunction(thing)):
            assert inspect.getdoc(thing), f"{package}.{name}"


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_public_is_left_out_of_all(package: str) -> None:
    module = importlib.import_module(package)
    imported = {
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and name != "annotations"
        and not inspect.ismodule(thing)
        and is_ours(thing)
    }
    assert imported <= set(module.__all__), sorted(imported - set(module.__all__))


def test_names_imported_on_first_use_are_all_there() -> None:
    meteor = importlib.import_module("meteor")
    assert set(meteor._LAZY) == set(meteor.__all__)
    assert set(meteor.__all__) <= set(dir(meteor))
    for name in meteor.__all__:
        module = importlib.import_module(meteor._LAZY[name])
        there = module if module.__name__ == f"meteor.{name}" else getattr(module, name)
        assert there is getattr(meteor, name)
    with pytest.raises(AttributeError):
        _ = meteor.no_such_name


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_ships_its_types(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def declared_packages() -> list[str]:
    import configparser

    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    return setup["options"]["packages"].split()


def test_setup_cfg_names_every_package() -> None:
    there = {
        path.parent.relative_to(ROOT).as_posix().replace("/", ".")
        for package in PACKAGES
        for path in (ROOT / package).rglob("__init__.py")
    }
    assert set(declared_packages()) == there


@pytest.mark.long
def test_the_wheel_installs_and_runs(tmp_path: Path) -> None:
    """Built from a copy of the tracked files, installed where nothing else of ours is."""
    tree, target = tmp_path / "tree", tmp_path / "site"
    run(["git", "clone", "--quiet", str(ROOT), str(tree)])
    pip = [sys.executable, "-m", "pip", "--quiet"]
    run([*pip, "wheel", "--no-deps", "-w", str(tmp_path), "."], tree)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    assert not [name for name in names if name.startswith(("tests", "notebooks"))]
    run([*pip, "install", "--no-deps", "-t", str(target), str(wheel)])
    code = f"import sys; sys.path.insert(0, {str(target)!r}); import meteor; print(meteor.__file__)"
    assert run([sys.executable, "-c", code], tmp_path).startswith(str(target))


def run(command: list[str], folder: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
