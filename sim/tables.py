"""Tables of studies: as text beside the published figures, and as CSV.

Law of this file: values in, text out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.data_study import DataRow
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
    lines = aligned([head, *body])
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


def data_as_text(varied: str, rows: Sequence[DataRow]) -> str:
    """What became of the profiles, for people: the share lost beside p^k."""
    head = [varied, "copies", "profiles", "lost", "lost share", "p", "p^k", "violations"]
    body = [
        [
            f"{row.varied:g}", str(row.copies), f"{row.profiles:,}", str(len(row.losses)),
            f"{row.lost_share:.5f}", f"{row.gone_share:.5f}", f"{row.expected_share:.5f}",
            str(len(row.violations)),
        ]
        for row in rows
    ]  # fmt: skip
    note = "every lost profile had all its copies down at once; any other loss is a violation"
    return "\n".join([*aligned([head, *body]), note])


def data_as_csv(varied: str, rows: Sequence[DataRow]) -> str:
    """The same for programs."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [varied, "copies", "profiles", "lost", "lost_share", "p", "p_to_the_k", "violations"]
    )
    for row in rows:
        writer.writerow(
            [
                f"{row.varied:g}", row.copies, row.profiles, len(row.losses),
                f"{row.lost_share:.6f}", f"{row.gone_share:.6f}", f"{row.expected_share:.6f}",
                len(row.violations),
            ]
        )  # fmt: skip
    return text.getvalue()


def losses_as_csv(varied: str, rows: Sequence[DataRow]) -> str:
    """Every lost profile, a line each: which copies died, and when."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([varied, "copies", "profile", "lost_at_s", "copies_that_died"])
    for row in rows:
        for loss in row.losses:
            died = " ".join(f"{peer}@{at_s:.3f}" for peer, at_s in loss.copies)
            writer.writerow([f"{row.varied:g}", row.copies, loss.stem, f"{loss.at_s:.3f}", died])
    return text.getvalue()


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Lines with columns of one width, texts at their right ends."""
    widths = [max(len(line[at]) for line in table) for at in range(len(table[0]))]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in table
    ]


def _shown(spread: Spread | None) -> str:
    return "-" if spread is None else str(spread)


def _cells(spread: Spread | None) -> list[str]:
    if spread is None:
        return ["", "", ""]
    return [f"{spread.mean:.4f}", f"{spread.p1:g}", f"{spread.p99:g}"]
