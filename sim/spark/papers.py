"""The sizes of the Squid papers: their figures, published Squid here, Meteor, and the floor.

Law of this file: values and a table; literature.md section 1.5 holds the figures, read off the
papers' plots and therefore approximate.  Q1 is one keyword known, Q2 two or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sim.spark.workload import SpaceName

if TYPE_CHECKING:
    import pandas

PROFILES: Final = 1_000_000
"""At the largest size; smaller ones in proportion, as published: 2 * 10^5 at the smallest."""
DIFFERENCE: Final = (
    "What differs: the papers do not name their word list, and plot five or six queries of one run "
    "each; here words are English with their frequencies, profiles unique tuples of them, and the "
    "queries many, made on stored profiles, so that frequent words are asked for more often."
)


@dataclass(frozen=True, slots=True)
class Published:
    """Mean shares of the peers, in percent, by size."""

    space: SpaceName
    query_class: str
    peers: Sequence[int]
    processing_pct: Sequence[float]
    matching_pct: Sequence[float]


def _of(peers: Sequence[int], rows: Sequence[Sequence[int]]) -> tuple[float, ...]:
    """Peers of each query, by size, as mean percent of all."""
    return tuple(
        100 * sum(column) / len(rows) / count
        for count, column in zip(peers, zip(*rows, strict=True), strict=True)
    )


_TWO, _THREE = (1050, 2150, 3200, 4300, 5400), (1000, 2000, 3000, 4100, 5300)
PUBLISHED: Final = (
    Published("words2", "Q1", _TWO, (6.4, 4.4, 3.7, 3.3, 2.9), (4.2, 2.9, 2.6, 2.4, 2.1)),
    Published(
        "words2", "Q2", _TWO,
        _of(_TWO, [(3, 3, 5, 6, 7), (5, 8, 10, 11, 13), (7, 11, 14, 19, 18), (3, 6, 9, 11, 12),
                   (12, 21, 25, 29, 31)]),
        _of(_TWO, [(3, 3, 5, 6, 7), (4, 8, 8, 9, 11), (7, 11, 13, 19, 16), (3, 5, 6, 8, 8),
                   (11, 19, 20, 25, 27)]),
    ),
    Published(
        "words3", "Q1", _THREE, (20.4, 15.7, 13.7, 12.2, 11.2), (9.6, 8.2, 7.8, 7.1, 6.7)
    ),
    Published(
        "words3", "Q2", _THREE,
        _of(_THREE, [(47, 63, 83, 87, 93), (47, 61, 73, 90, 98), (30, 40, 50, 57, 66),
                     (45, 57, 73, 88, 101), (1, 1, 1, 1, 1)]),
        _of(_THREE, [(8, 23, 33, 37, 45), (16, 32, 41, 47, 58), (17, 26, 37, 44, 51),
                     (34, 46, 60, 77, 85), (1, 1, 1, 1, 1)]),
    ),
)  # fmt: skip
COLUMNS: Final = (
    "space", "class", "peers", "placement", "published", "baseline", "fingers", "first match",
    "floor", "gain", "holding (published)",
)  # fmt: skip


def sizes(space: SpaceName) -> tuple[int, ...]:
    """The papers' numbers of peers in a space."""
    return tuple(next(one.peers for one in PUBLISHED if one.space == space))


def rows_of(tables: dict[SpaceName, pandas.DataFrame]) -> Iterator[list[str]]:
    """The table's rows: processing peers in percent of all, means over the seeds; `gain` is how
    many times as many peers the baseline asks beyond the floor as the first match does."""
    for published in PUBLISHED:
        table = tables[published.space]
        of_class = table[table["query_class"] == published.query_class]
        for place, peers in enumerate(published.peers):
            for placement in sorted(of_class["placement"].unique()):
                some = of_class[(of_class["peers"] == peers) & (of_class["placement"] == placement)]
                share = some.groupby("routing")["processing_pct"].mean()
                yield [
                    published.space, published.query_class, f"{peers:,}", placement,
                    f"{published.processing_pct[place]:.2f}", f"{share['published']:.2f}",
                    f"{share['fingers']:.2f}", f"{share['first_match']:.2f}",
                    f"{share['floor']:.2f}", _gain(share),
                    f"{published.matching_pct[place]:.2f}",
                ]  # fmt: skip


def _gain(share: pandas.Series) -> str:
    beyond = share["first_match"] - share["floor"]
    return f"{(share['published'] - share['floor']) / beyond:.2f}" if beyond > 0 else "-"


def as_text(rows: Sequence[Sequence[str]]) -> str:
    """For people."""
    table = [list(COLUMNS), *map(list, rows)]
    widths = [max(len(line[at]) for line in table) for at in range(len(COLUMNS))]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in table
    ]
    meaning = "percent of all peers that process a query; floor: those that hold a match"
    return "\n".join([*lines, meaning, DIFFERENCE])
