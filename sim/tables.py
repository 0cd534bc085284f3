"""Tables of studies: as text beside the published figures, and as CSV.

Law of this file: values in, text out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from sim.lookup_study import Row, Spread


def as_text(varied: str, rows: Sequence[Row]) -> str:
    """The table for people: each measured column beside the published one."""
    head = [
        varied, "path", "published", "time-outs", "published", "failed", "of", "published /10,000",
    ]  # fmt: skip
    body = [
        [
            f"{row.varied:g}", str(row.path), _shown(row.published_path), str(row.time_outs),
            _shown(row.published_time_outs), str(row.failed), f"{row.lookups:,}",
            "-" if row.published_failed is None else str(row.published_failed),
        ]
        for row in rows
    ]  # fmt: skip
    widths = [max(len(line[at]) for line in [head, *body]) for at in range(len(head))]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in [head, *body]
    ]
    return "\n".join([*lines, "mean (1st, 99th percentile); published: Chord, ToN 2003"])


def as_csv(varied: str, rows: Sequence[Row]) -> str:
    """The table for programs; empty cells where nothing is published."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ["path", "time_outs", "published_path", "published_time_outs"]
    spread = [f"{name}_{what}" for name in names for what in ("mean", "p1", "p99")]
    writer.writerow([varied, *spread, "failed", "lookups", "published_failed_of_10000"])
    for row in rows:
        spreads = (row.path, row.time_outs, row.published_path, row.published_time_outs)
        cells = [cell for one in spreads for cell in _cells(one)]
        failed = "" if row.published_failed is None else row.published_failed
        writer.writerow([f"{row.varied:g}", *cells, row.failed, row.lookups, failed])
    return text.getvalue()


def _shown(spread: Spread | None) -> str:
    return "-" if spread is None else str(spread)


def _cells(spread: Spread | None) -> list[str]:
    if spread is None:
        return ["", "", ""]
    return [f"{spread.mean:.4f}", f"{spread.p1:g}", f"{spread.p99:g}"]
