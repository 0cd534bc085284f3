"""What somebody sees who looks at an object: sentences for fields in `help()`, and in `dir()` only
what is for users.

Law of this file: a sentence is written once, in the source, and read from there when somebody asks;
until then it costs nothing, and where there is no source nothing but the sentence is missing.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from textwrap import dedent
from typing import Any, Final, TypeVar

ClassT = TypeVar("ClassT", bound=type)
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_INNER: Final = "_is_inner"


def inner(of: FunctionT) -> FunctionT:
    """Mark a method, or the function of a property below `@property`, that other modules call and
    users need not know."""
    setattr(of, _INNER, True)
    return of


def is_inner(of: object) -> bool:
    """Whether a method or property is marked so."""
    return getattr(of.fget if isinstance(of, property) else of, _INNER, False) is True


def names_for_users(of: object) -> list[str]:
    """What `dir()` shows, as `__dir__` of a class with marked members: all but those."""
    return [name for name in object.__dir__(of) if not is_inner(getattr(type(of), name, None))]


def described(of: ClassT) -> ClassT:
    """Let `help()` show what the fields of a dataclass with slots are."""
    setattr(of, "__slots__", _Sentences(of))  # noqa: B010 - mypy knows it as a tuple of names
    return of


def sentences_of(of: type) -> dict[str, str]:
    """What stands under each field in the source; empty where there is no source."""
    try:
        (body,) = ast.parse(dedent(inspect.getsource(of))).body
    except (OSError, TypeError, SyntaxError):
        return {}
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for field, after in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            found[field.target.id] = inspect.cleandoc(after.value.value)
    return found


class _Sentences(dict[str, str]):
    """The names of a class's slots; the sentence of one is read when it is asked for, as `inspect`
    does where `__slots__` is a mapping."""

    def __init__(self, of: type) -> None:
        super().__init__(dict.fromkeys(of.__dict__["__slots__"], ""))
        self._of = of

    def __getitem__(self, name: str) -> str:
        if name not in self:
            raise KeyError(name)
        return sentences_of(self._of).get(name, "")
