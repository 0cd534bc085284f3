"""Tables of the measurements: as text for people, as CSV for programs.

Law of this file: values in, text out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from sim.tables import aligned

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def as_text(points: Sequence[DataclassInstance]) -> str:
    """A row a point, a column a field with its unit; numbers with three digits that count."""
    if not points:
        return "nothing was measured"
    names = [field.name for field in fields(points[0])]
    head = [name.replace("_", " ") for name in names]
    body = [[_shown(getattr(point, name)) for name in names] for point in points]
    return "\n".join(aligned([head, *body]))


def as_csv(points: Sequence[DataclassInstance]) -> str:
    """The same for programs."""
    text = io.StringIO()
    if points:
        writer = csv.DictWriter(text, list(asdict(points[0])), lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(point) for point in points)
    return text.getvalue()


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
