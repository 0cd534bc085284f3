"""The keyword space: which attributes are routed by, and how they become cells of the curve.

Law of this file: a space never changes; peers of one ring have equal spaces, which they compare
by digest.  What is not declared is still stored and matched, but not routed by (report section
3.2; Squid section 3.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import blake2b
from typing import Final, Literal

from squid import space_toml
from squid.axes import Axis
from squid.errors import SpaceError
from squid.hilbert import MOST_BITS, MOST_DIMENSIONS, HilbertCurve
from squid.keywords import Dimension
from squid.plain import plain_text
from squid.query import Term
from squid.region import Box

INDEX_BITS: Final = 160
"""Curve indexes are ring identifiers, so this is as wide as they may be."""
DIGEST_BYTES: Final = 16
MOST_ATTRIBUTES: Final = 64
"""As many elements as a profile may have at all."""

Extra = Literal["allow", "refuse"]


def default_bits(dimensions: int) -> int:
    """Bits of each dimension where a space does not say: what the ring has room for, at most 32."""
    return min(MOST_BITS, INDEX_BITS // dimensions)


@dataclass(frozen=True, init=False)
class KeywordSpace:
    """The dimensions of a ring's content, in their order.

    `name`: for people.  `dimensions`: `Word`, `Number`, `Choice` or `Time`, in the curve's order.
    `bits`: of each dimension, default min(32, 160 // dimensions).  `extra`: whether profiles may
    have attributes beyond the dimensions ("allow") or not ("refuse").  `max_attributes`: of one
    profile, 1 to 64.  Raises SpaceError."""

    name: str
    dimensions: tuple[Dimension, ...]
    bits: int
    extra: Extra
    max_attributes: int

    def __init__(
        self,
        name: str,
        dimensions: Iterable[Dimension],
        bits: int | None = None,
        extra: Extra = "allow",
        max_attributes: int = 8,
    ) -> None:
        declared = tuple(dimensions)
        _check(name, declared, bits, extra, max_attributes)
        object.__setattr__(self, "name", plain_text(name))
        object.__setattr__(self, "dimensions", declared)
        object.__setattr__(self, "bits", int(default_bits(len(declared)) if bits is None else bits))
        object.__setattr__(self, "extra", plain_text(extra))
        object.__setattr__(self, "max_attributes", int(max_attributes))

    def __hash__(self) -> int:
        return hash(self.digest)  # what is remembered of a space is asked for with every post

    def __reduce__(self) -> tuple[type[KeywordSpace], tuple[object, ...]]:
        """Pickle the declaration alone: the curve and its tables are made again."""
        return KeywordSpace, (
            self.name, self.dimensions, self.bits, self.extra, self.max_attributes,
        )  # fmt: skip

    @classmethod
    def from_toml(cls, text: str) -> KeywordSpace:
        """Read a space (SPEC section 8).  Raises SpaceError that names the entry at fault, and
        LimitExceeded for more than 64 KiB."""
        return cls(**space_toml.read(text))

    def to_toml(self) -> str:
        """The space as TOML, which `from_toml` reads back as an equal space."""
        return space_toml.write({entry.name: getattr(self, entry.name) for entry in fields(self)})

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The dimensions' names, in order."""
        return tuple(dimension.name for dimension in self.dimensions)

    @cached_property
    def curve(self) -> HilbertCurve:
        """The curve through the space's cells."""
        return HilbertCurve(len(self.dimensions), self.bits)

    @cached_property
    def digest(self) -> bytes:
        """16 bytes that equal spaces share, and others do not."""
        return blake2b(self._canonical.encode(), digest_size=DIGEST_BYTES).digest()

    def dimension(self, name: str) -> Dimension | None:
        """The dimension of a name; None when none has it."""
        return self._by_name.get(name)

    def box(self, terms: Mapping[str, Term]) -> Box:
        """The cells of one term a dimension: the caller says Whole or Absent for a dimension that
        is not asked for or not there.  Raises SpaceError for a missing or an unknown name, and
        TypeMismatch for a term of another kind than its dimension."""
        if terms.keys() != self._by_name.keys():
            raise SpaceError(
                f"space {self.name!r} needs one term for each of {', '.join(self.names)}, "
                f"not for {', '.join(terms) or 'none'}"
            )
        low, high = zip(*[axis.cells(terms[axis.name]) for axis in self._axes], strict=True)
        return Box(low, high)

    def difference(self, other: KeywordSpace) -> str:
        """What differs between this space and another, for people; empty when they are equal."""
        found = [
            f"{entry} is {getattr(self, entry)!r} here, {getattr(other, entry)!r} there"
            for entry in ("name", "bits", "extra", "max_attributes")
            if getattr(self, entry) != getattr(other, entry)
        ]
        for name in dict.fromkeys(self.names + other.names):
            here, there = self.dimension(name), other.dimension(name)
            if here is None or there is None:
                found.append(f"dimension {name!r} is only {'there' if here is None else 'here'}")
            elif here != there:
                found.append(_dimension_difference(here, there))
        if not found and self.names != other.names:
            found.append(f"dimensions are {list(self.names)} here, {list(other.names)} there")
        return "; ".join(found)

    @cached_property
    def _axes(self) -> tuple[Axis, ...]:
        return tuple(dimension.axis(self.bits) for dimension in self.dimensions)

    @cached_property
    def _by_name(self) -> dict[str, Dimension]:
        return {dimension.name: dimension for dimension in self.dimensions}

    @cached_property
    def _canonical(self) -> str:
        """One text for all equal spaces: 125 and 125.0 are the same bound."""
        parts: list[object] = [self.name, self.bits, self.extra, self.max_attributes]
        for dimension in self.dimensions:
            parts.append(dimension.kind)
            parts.extend(
                value.as_integer_ratio() if isinstance(value, (int, float)) else value
                for value in (getattr(dimension, entry.name) for entry in fields(dimension))
            )
        return repr(parts)


def _dimension_difference(here: Dimension, there: Dimension) -> str:
    """What differs between two dimensions of one name."""
    if here.kind != there.kind:
        return f"{here.name} is a {here.kind} here, a {there.kind} there"
    entries = (entry.name for entry in fields(here))
    return ", ".join(
        f"{here.name}: {entry} is {getattr(here, entry)!r} here, {getattr(there, entry)!r} there"
        for entry in entries
        if getattr(here, entry) != getattr(there, entry)
    )


def _check(
    name: str, dimensions: tuple[Dimension, ...], bits: int | None, extra: str, max_attributes: int
) -> None:
    if not isinstance(name, str) or not name.strip():
        raise SpaceError("a space needs a name")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise SpaceError(f"space {name!r}: a name has no half characters") from error
    if not 1 <= len(dimensions) <= MOST_DIMENSIONS:
        raise SpaceError(
            f"space {name!r} has {len(dimensions)} dimensions, not 1 to {MOST_DIMENSIONS}; "
            "attributes that are not dimensions are matched all the same"
        )
    for dimension in dimensions:
        if not isinstance(dimension, Dimension):
            raise SpaceError(
                f"space {name!r}: a dimension is a Word, Number, Choice or Time, not {dimension!r}"
            )
    names = [dimension.name for dimension in dimensions]
    if len(set(names)) < len(names):
        raise SpaceError(f"space {name!r} declares a dimension twice: {', '.join(names)}")
    room = default_bits(len(dimensions))
    if bits is not None and not (_is_integer(bits) and 1 <= bits <= room):
        raise SpaceError(
            f"space {name!r}: bits is {bits!r}; "
            f"{len(dimensions)} dimensions have room for 1 to {room} each"
        )
    if extra not in ("allow", "refuse"):
        raise SpaceError(f'space {name!r}: extra is "allow" or "refuse", not {extra!r}')
    if not _is_integer(max_attributes) or not 1 <= max_attributes <= MOST_ATTRIBUTES:
        raise SpaceError(
            f"space {name!r}: max_attributes is {max_attributes!r}, not 1 to {MOST_ATTRIBUTES}"
        )


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
