"""How a message class becomes msgpack and back: compiled once from its type hints.

Law of this file: the hints are the schema.  A class becomes an array of its fields in their order,
checked by msgspec on the way in: types, lengths, counts.  Fields that a sender did not know yet
take their defaults, fields that this version does not know are passed over; so fields are only
ever added at the end, with defaults.  Nothing here depends on what a field means.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from itertools import starmap
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

import msgspec

WIDE_BYTES_MAX: Final = 64
"""512 bits: ring identifiers and curve indexes have 160."""
COUNT_MAX: Final = 65_536
"""Items in one tuple; far above what a frame of legal size holds of anything but small numbers."""

FEW_MAX: Final = 1024
"""Items in one tuple of a client's that is marked "few": `Annotated[tuple[str, ...], "few"]`."""

WIDE_KEPT: Final = 4096
"""Wide integers remembered in either form: the identifiers of a few peers and the ends of what they
hold are said again and again, twenty of them a store."""

LASTING_KEPT: Final = 4096
"""Lasting values remembered as they are written: what some peers know of views, of which there are
a hundred or two in every note of one's journal, the same as in the note before but for a few."""

_WideBytes = Annotated[bytes, msgspec.Meta(max_length=WIDE_BYTES_MAX)]
_PLAIN: Final = (bool, int, float, str, bytes)

Convert = Callable[[Any], Any]

_VALUES: Final = msgspec.structs.astuple
_encode: Final = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class Packer:
    """One type on the wire: the type that msgspec checks, and the way there and back.

    None as a way means that the value travels as it is.  Those of a tuple of so many items are
    also there for the items one by one, which takes half as long for many such tuples."""

    wire: Any
    pack: Convert | None = None
    unpack: Convert | None = None
    pack_items: Callable[..., Any] | None = None
    unpack_items: Callable[..., Any] | None = None


class PackerTable:
    """The packers of all types met so far, each compiled when it is first needed.

    Values of the `lasting` classes are written again and again: their bytes are remembered.  What
    is equal must be written alike there: they have no real numbers."""

    def __init__(self, lasting: Collection[type] = ()) -> None:
        self._classes: dict[type, Packer] = {}
        self._lasting = frozenset(lasting)

    def of_class(self, kind: type) -> Packer:
        """The packer of a frozen dataclass; raises `TypeError` if a field has no place on the
        wire."""
        packer = self._classes.get(kind)
        if packer is None:
            packer = self._classes[kind] = self._compile(kind)
        return packer

    def of_hint(self, hint: Any) -> Packer:
        """The packer of a field's type."""
        origin, args = get_origin(hint), get_args(hint)
        if origin is Annotated and args[0] is int and "wide" in args[1:]:
            return Packer(_WideBytes, pack_wide, unpack_wide)
        if origin is Annotated and "few" in args[1:]:
            return _repeated(self.of_hint(get_args(args[0])[0]), FEW_MAX)
        if hint in _PLAIN:
            return Packer(hint)
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            return self.of_class(hint)
        if origin in (Union, types.UnionType) and len(args) == 2 and type(None) in args:
            return _optional(self.of_hint(next(arg for arg in args if arg is not type(None))))
        if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
            return _repeated(self.of_hint(args[0]))
        if origin is tuple and args:
            return _sequence([self.of_hint(arg) for arg in args])
        raise TypeError(f"{hint!r} cannot travel: see the field types that messages may have")

    def _compile(self, kind: type) -> Packer:
        if not dataclasses.is_dataclass(kind):
            raise TypeError(f"{kind.__name__} is not a dataclass")
        fields = dataclasses.fields(kind)
        hints = get_type_hints(kind, include_extras=True)
        try:
            packers = [self.of_hint(hints[field.name]) for field in fields]
        except TypeError as error:
            raise TypeError(f"{kind.__name__}: {error}") from error
        slots: list[Any] = [
            (field.name, packer.wire, *_default(field, packer))
            for field, packer in zip(fields, packers, strict=True)
        ]
        mirror = msgspec.defstruct(kind.__name__, slots, array_like=True, frozen=True, gc=False)
        names = tuple(field.name for field in fields)
        pack = _class_pack(kind, names, packers)
        if pack is not None and kind in self._lasting:
            pack = _remembered(pack)
        return Packer(mirror, pack, _class_unpack(kind, names, packers))


@lru_cache(maxsize=WIDE_KEPT, typed=True)
def pack_wide(number: int) -> bytes:
    """Big-endian bytes without leading zeros; raises `OverflowError` below 0 or above 512 bits."""
    length = (number.bit_length() + 7) // 8
    if length > WIDE_BYTES_MAX:
        raise OverflowError(f"a wide integer has at most {8 * WIDE_BYTES_MAX} bits")
    return number.to_bytes(length, "big")


@lru_cache(maxsize=WIDE_KEPT)
def unpack_wide(packed: bytes) -> int:
    """The number."""
    return int.from_bytes(packed, "big")


def _remembered(pack: Convert) -> Convert:
    """The same as bytes that go into what is written as they are, of equal values once."""

    @lru_cache(maxsize=LASTING_KEPT)
    def written(value: Any) -> msgspec.Raw:
        return msgspec.Raw(_encode(pack(value)))

    return written


def _default(field: dataclasses.Field[Any], packer: Packer) -> tuple[Any, ...]:
    """The default of a field as msgspec wants it: none, or one in the wire's form."""
    if field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    elif field.default is not dataclasses.MISSING:
        value = field.default
    else:
        return ()
    packed = packer.pack(value) if packer.pack is not None else value
    return (msgspec.convert(packed, packer.wire),)


def _class_pack(kind: type, fields: tuple[str, ...], packers: list[Packer]) -> Convert | None:
    """The fields as a tuple; None where msgspec writes the class as it is, which is the same."""
    if not any(packer.pack for packer in packers):
        if issubclass(kind, msgspec.Struct):
            return None
        return _function("value", _tuple_of([f"value.{name}" for name in fields]), {})
    parts = {f"pack_{name}": p.pack for name, p in zip(fields, packers, strict=True) if p.pack}
    values = [
        f"pack_{name}(value.{name})" if f"pack_{name}" in parts else f"value.{name}"
        for name in fields
    ]
    return _function("value", _tuple_of(values), parts)


def _class_unpack(kind: type, fields: tuple[str, ...], packers: list[Packer]) -> Convert:
    parts = {f"read_{name}": p.unpack for name, p in zip(fields, packers, strict=True) if p.unpack}
    if not parts:
        return _function("mirror", "kind(*values_of(mirror))", {"kind": kind, "values_of": _VALUES})
    values = [
        f"read_{name}(mirror.{name})" if f"read_{name}" in parts else f"mirror.{name}"
        for name in fields
    ]
    return _function("mirror", f"kind({', '.join(values)})", {**parts, "kind": kind})


def _function(arguments: str, expression: str, names: dict[str, Any]) -> Callable[..., Any]:
    """A function of straight-line code: a loop over fields takes three times as long.  The text is
    made of the names of fields, which are identifiers, and of nothing that came from outside."""
    made: Callable[..., Any] = eval(f"lambda {arguments}: {expression}", dict(names))  # noqa: S307 - see above
    return made


def _tuple_of(expressions: list[str]) -> str:
    return f"({', '.join(expressions)}{',' if len(expressions) == 1 else ''})"


def _optional(inner: Packer) -> Packer:
    return Packer(
        Union[inner.wire, None],  # noqa: UP007 - `|` does not take msgspec's annotated types
        _if_there(inner.pack),
        _if_there(inner.unpack),
    )


def _if_there(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return _function("value", "None if value is None else convert(value)", {"convert": convert})


def _repeated(inner: Packer, count_max: int = COUNT_MAX) -> Packer:
    items = types.GenericAlias(tuple, (inner.wire, ...))
    wire = Annotated[items, msgspec.Meta(max_length=count_max)]  # type: ignore[valid-type] # built at run time
    return Packer(
        wire,
        _of_many("list", inner.pack, inner.pack_items),
        _of_many("tuple", inner.unpack, inner.unpack_items),
    )


def _of_many(
    kind: str, convert: Convert | None, items: Callable[..., Any] | None
) -> Convert | None:
    if items is not None:
        names = {"starmap": starmap, "convert": items}
        return _function("values", f"{kind}(starmap(convert, values))", names)
    if convert is None:
        return None
    return _function("values", f"{kind}(map(convert, values))", {"convert": convert})


def _sequence(inners: list[Packer]) -> Packer:
    wire = types.GenericAlias(tuple, tuple(inner.wire for inner in inners))
    pack, unpack = (_each([inner.pack for inner in inners]), _each([i.unpack for i in inners]))
    return Packer(wire, _spread(pack), _spread(unpack), pack, unpack)


def _each(converts: list[Convert | None]) -> Callable[..., Any] | None:
    """Converts each of some arguments in its own way; `TypeError` where there are more or fewer."""
    if not any(converts):
        return None
    names = {f"convert_{at}": convert for at, convert in enumerate(converts) if convert}
    count = range(len(converts))
    results = [f"convert_{at}(item_{at})" if converts[at] else f"item_{at}" for at in count]
    return _function(", ".join(f"item_{at}" for at in count), _tuple_of(results), names)


def _spread(convert: Callable[..., Any] | None) -> Convert | None:
    return convert and _function("values", "convert(*values)", {"convert": convert})
