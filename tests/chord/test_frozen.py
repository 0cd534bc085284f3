"""Frozen values with other fields: `replace` is the standard library's, of every kind of class.

Law of this file: what `chord.frozen` makes faster is compared with what `dataclasses` does.
"""

from __future__ import annotations

import dataclasses

import pytest

from chord import dataclass, replace


class _Base:
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Plain:
    first: int
    second: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _WithBase(_Base):
    first: int
    second: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.first < 0:
            raise ValueError(self.first)


class _Below(_WithBase):
    """A class below one whose way to be replaced is known."""


@dataclasses.dataclass(frozen=True)
class _Standard:
    first: int
    second: tuple[int, ...] = ()


@pytest.mark.parametrize("kind", [_Plain, _WithBase, _Below, _Standard])
def test_replaced_fields_are_others_and_the_rest_is_kept(kind: type[_Plain]) -> None:
    value = kind(1, (2, 3))
    for changes in ({}, {"first": 4}, {"second": ()}, {"first": 4, "second": (5,)}):
        made = replace(value, **changes)
        assert type(made) is kind
        assert {"first": made.first, "second": made.second} == {
            "first": 1,
            "second": (2, 3),
            **changes,
        }
    assert (value.first, value.second) == (1, (2, 3))
    with pytest.raises(TypeError):
        replace(value, third=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", [_WithBase, _Below])
def test_a_replaced_value_is_checked_as_a_new_one(kind: type[_WithBase]) -> None:
    with pytest.raises(ValueError, match="-1"):
        replace(kind(1), first=-1)
