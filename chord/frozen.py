"""Frozen values that are cheap to make: `@dataclass(frozen=True, slots=True)` on msgspec's structs.

Law of this file: to a reader, and to a type checker, these are the standard library's `dataclass`
and `replace`; what differs is what making one costs.  A frozen dataclass sets each field through
`object.__setattr__`, 2.6 microseconds for ten fields; a struct is filled in by C, 0.06.  A store
makes some seventy of them, and that was a tenth of what it cost.  They are as frozen as before.

What a struct cannot be stays a dataclass: one with bases, or with a field that is not compared,
shown or taken as an argument; its fields are set by their slots, which takes half as long as the
standard way.  `__post_init__` may check, and may not change.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

__all__ = ["dataclass", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    try:
        import msgspec
    except ImportError:  # a worker of Spark has the curve and the ring in a zip, and sends nothing
        msgspec = None

    def dataclass(**options):
        """The decorator; only `frozen=True, slots=True` makes structs."""
        if msgspec is not None and options == {"frozen": True, "slots": True}:
            return _struct_of
        return dataclasses.dataclass(**options)

    def _struct_of(cls):
        if cls.__bases__ != (object,):
            return _by_slots(dataclasses.dataclass(frozen=True, slots=True)(cls))
        body = {
            name: value
            for name, value in vars(cls).items()
            if name not in {"__dict__", "__weakref__"}
        }
        # No methods are made, as a struct has its own: that took a tenth of a peer's start.
        plain = dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False)
        made = plain(type(cls.__name__, (), dict(body)))
        fields = dataclasses.fields(made)
        if not all(one.compare and one.repr and one.init and not one.kw_only for one in fields):
            return _by_slots(dataclasses.dataclass(frozen=True, slots=True)(cls))
        slots = []
        for one in fields:
            body.pop(one.name, None)
            if one.default_factory is not dataclasses.MISSING:
                default = (msgspec.field(default_factory=one.default_factory),)
            else:
                default = () if one.default is dataclasses.MISSING else (one.default,)
            slots.append((one.name, object, *default))
        annotations = body.pop("__annotations__", {})
        struct = msgspec.defstruct(
            cls.__name__,
            slots,
            namespace=body,
            module=cls.__module__,
            frozen=True,
            array_like=True,
        )
        struct.__qualname__ = cls.__qualname__
        struct.__annotations__ = annotations
        struct.__dataclass_fields__ = made.__dataclass_fields__
        struct.__dataclass_params__ = _PARAMS
        return struct

    def _by_slots(cls):
        """The same class, whose fields are set by their slots."""
        fields = dataclasses.fields(cls)
        special = any(one.default_factory is not dataclasses.MISSING for one in fields)
        if special or not all(one.init and not one.kw_only for one in fields):
            return cls
        names, arguments = {}, ["self"]
        for one in fields:
            names[f"set_{one.name}"] = getattr(cls, one.name).__set__
            names[f"default_{one.name}"] = one.default
            missing = one.default is dataclasses.MISSING
            arguments.append(one.name if missing else f"{one.name}=default_{one.name}")
        steps = [f"set_{one.name}(self, {one.name})" for one in fields]
        if hasattr(cls, "__post_init__"):
            steps.append("self.__post_init__()")
        made = eval(f"lambda {', '.join(arguments)}: ({', '.join(steps)}, None)[-1]", names)  # noqa: S307 - names of fields
        made.__name__, made.__qualname__ = "__init__", f"{cls.__qualname__}.__init__"
        made.__annotations__ = cls.__init__.__annotations__
        cls.__init__ = made
        kept = ", ".join(f"{one.name!r}: value.{one.name}" for one in fields)
        replaced = f"lambda value, changes: made(**{{{kept}, **changes}})"
        _REPLACED[cls] = eval(replaced, {"made": cls})  # noqa: S307 - names of fields
        return cls

    _PARAMS = dataclasses.dataclass(frozen=True)(type("_Frozen", (), {})).__dataclass_params__
    _META = type(None) if msgspec is None else type(msgspec.Struct)
    _struct_replace = None if msgspec is None else msgspec.structs.replace
    _REPLACED = {}

    def replace(value, /, **changes):
        """The value with other fields, as `dataclasses.replace`."""
        kind = type(value)
        if type(kind) is _META:  # isinstance of Struct takes three times what the rest does
            return _struct_replace(value, **changes)
        replaced = _REPLACED.get(kind)
        return replaced(value, changes) if replaced else dataclasses.replace(value, **changes)
