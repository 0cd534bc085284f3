"""The units that a number may be written in, and their exact factors.

Law of this file: a unit belongs to one quantity and is an exact fraction of its base unit (plus,
for temperatures, an offset); spelling is case-sensitive, as Mb and MB, ms and Ms are not the same.
A unit that is not listed is legal as a declaration: then numbers come in it, or bare.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple


class Unit(NamedTuple):
    """`base = value * factor + offset`, in the base unit of `quantity`."""

    quantity: str
    factor: Fraction
    offset: Fraction = Fraction(0)


_DECIMAL: Final = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
_SMALL: Final = {"n": -9, "u": -6, "µ": -6, "m": -3, "c": -2}
_BINARY: Final = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5}


def _prefixed(
    quantity: str, base: str, prefixes: str = "", one: Fraction | int = 1
) -> dict[str, Unit]:
    """A base unit and those with the prefixes given, blank-separated; `one` is its own factor."""
    units = {base: Unit(quantity, Fraction(one))}
    for prefix in prefixes.split():
        power = {**_DECIMAL, **_SMALL}.get(prefix)
        scale = Fraction(1024) ** _BINARY[prefix] if power is None else Fraction(10) ** power
        units[prefix + base] = Unit(quantity, scale * one)
    return units


_MULTIPLES: Final = "k M G T P"
_SUBMULTIPLES: Final = "n u µ m"

UNITS: Final[dict[str, Unit]] = {
    **_prefixed("bytes", "B", f"{_MULTIPLES} Ki Mi Gi Ti Pi"),
    **_prefixed("bytes", "bit", _MULTIPLES, Fraction(1, 8)),
    **_prefixed("bit rate", "bps", _MULTIPLES),
    **_prefixed("bit rate", "bit/s", _MULTIPLES),
    **_prefixed("bit rate", "B/s", f"{_MULTIPLES} Ki Mi Gi Ti Pi", 8),
    **_prefixed("frequency", "Hz", _MULTIPLES),
    **_prefixed("frequency", "rpm", "", Fraction(1, 60)),
    **_prefixed("duration", "s", _SUBMULTIPLES),
    **_prefixed("duration", "min", "", 60),
    **_prefixed("duration", "h", "", 3600),
    **_prefixed("duration", "d", "", 86400),
    **_prefixed("length", "m", f"{_SUBMULTIPLES} c k"),
    **_prefixed("mass", "g", f"{_SUBMULTIPLES} k"),
    **_prefixed("mass", "t", "", 1_000_000),
    **_prefixed("speed", "m/s"),
    **_prefixed("speed", "km/h", "", Fraction(5, 18)),
    **_prefixed("speed", "mph", "", Fraction(44704, 100_000)),
    **_prefixed("speed", "kn", "", Fraction(1852, 3600)),
    **_prefixed("pressure", "Pa", "k M"),
    **_prefixed("pressure", "hPa", "", 100),
    **_prefixed("pressure", "bar", "m", 100_000),
    **_prefixed("voltage", "V", f"{_SUBMULTIPLES} k"),
    **_prefixed("current", "A", f"{_SUBMULTIPLES} k"),
    **_prefixed("power", "W", f"{_SUBMULTIPLES} k M G"),
    **_prefixed("energy", "J", "m k M G"),
    **_prefixed("energy", "Wh", "k M G", 3600),
    **_prefixed("illuminance", "lx", "k"),
    **_prefixed("share", "%", "", Fraction(1, 100)),
    "K": Unit("temperature", Fraction(1)),
    "°C": Unit("temperature", Fraction(1), Fraction(27315, 100)),
    "°F": Unit("temperature", Fraction(5, 9), Fraction(45967, 180)),
}
"""By spelling.  The base units: byte, bit/s, Hz, s, m, g, m/s, Pa, V, A, W, J, lx, 1, K."""


def convert(value: float, unit: str, target: str) -> float | None:
    """A value in another unit, rounded once; None when the two are not of one quantity.

    Raises OverflowError when the result is beyond what a float holds."""
    if unit == target:
        return value
    here, there = UNITS.get(unit), UNITS.get(target)
    if here is None or there is None or here.quantity != there.quantity:
        return None
    return float((Fraction(value) * here.factor + here.offset - there.offset) / there.factor)
