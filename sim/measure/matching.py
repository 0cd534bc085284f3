"""The report's figure 4.1 (c): what a peer spends on matching and building the notifications,
against how many interests it stores, by the share of them that match; action notify.

Law of this file: one thread, processor time, nothing on the wire.  The report asked MySQL; points
of one SQL row an attribute, the report's way on SQLite, are those of the benchmark
`bench_matching_figure` (`METEOR_FIGURES=DIR`), and stand beside ours where its file is.
"""

from __future__ import annotations

import csv
import gc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from math import sqrt
from pathlib import Path
from random import Random
from statistics import median
from time import thread_time
from typing import Final

from arms import Profile, ProfileIndex, between, profile
from chord import Contact
from meteor import Found, Notice, wire_codec
from sim.measure.ring import Progress

SHARES: Final = (0.0001, 0.001, 0.01, 0.1)
STORED: Final = (100, 1_000, 10_000, 100_000)
FILE_NAME: Final = "figure-4.1c.csv"
_ASKED, _ROUNDS = 20, 3
_WORDS, _LEVELS = 1000, 1000.0
_PAYLOAD: Final = b"<profile><type/><level/></profile>" * 4
"""Stands for the document, which has arrived encoded and is copied as it is."""


@dataclass(frozen=True, slots=True)
class MatchingPoint:
    """One way of matching, at one size and share; times are medians a datum, in us."""

    way: str
    """`ours`, or `sql`."""
    stored: int
    share: float
    matched: float
    matching_us: float
    overhead_us: float
    """With the notifications built."""


def measure_matching(
    stored: Sequence[int] = STORED,
    shares: Sequence[float] = SHARES,
    *,
    seed: int = 1,
    progress: Progress = lambda _: None,
) -> list[MatchingPoint]:
    """The index at each size and share."""
    points = []
    for share in shares:
        for count in sorted(stored):
            progress(f"matching: {count:,} interests, {share:.2%} match")
            points.append(_measured(count, share, seed))
    return points


def _measured(stored: int, share: float, seed: int) -> MatchingPoint:
    stream, index = Random(seed), ProfileIndex[int]("selectors")
    for number in range(stored):
        index.add(number, _interest(stream, share).at_rest())
    arriving = [_reading(stream) for _ in range(_ASKED)]
    gc.collect()
    gc.disable()
    try:
        return overhead("ours", stored, share, index.match_subject, arriving)
    finally:
        gc.enable()


def overhead(
    way: str,
    stored: int,
    share: float,
    match: Callable[[Profile], list[int]],
    arriving: Sequence[Profile],
) -> MatchingPoint:
    """How many match, and the medians of the time for matching and for it with the
    notifications."""
    found, times = 0, []
    for turn in range(_ROUNDS):
        for number, data in enumerate(arriving):
            start = thread_time()
            ids = match(data)
            matched = thread_time()
            frames = notifications(ids, number)
            times.append((matched - start, thread_time() - start))
            found += len(frames) if not turn else 0
    matching_us, whole_us = (round(median(one) * 1e6, 1) for one in zip(*times, strict=True))
    return MatchingPoint(way, stored, share, found / len(arriving), matching_us, whole_us)


def notifications(ids: Iterable[int], number: int) -> list[bytes]:
    """One notification for each interest, as it goes to the client."""
    peer, encode = Contact(1, "127.0.0.1:7400"), wire_codec().encode
    found = Found(f"d{number}.aaaaaaaaaaaaaa", 1, "", 3_600_000, _PAYLOAD)
    return [encode(Notice(f"i{id}:d{number}:1", f"i{id}", "match", found, peer)) for id in ids]


def _interest(stream: Random, share: float) -> Profile:
    """An interest in about this share of the data."""
    width = sqrt(share)
    word = int(stream.random() * (1 - width) * _WORDS)
    level = stream.random() * (1 - width) * _LEVELS
    words = between(f"w{word:03}", f"w{word + max(1, int(width * _WORDS)) - 1:03}")
    return profile({"type": words, "level": between(level, level + width * _LEVELS)})


def _reading(stream: Random) -> Profile:
    """Data with five attributes, two of which interests ask for."""
    word, level = f"w{stream.randrange(_WORDS):03}", stream.random() * _LEVELS
    others = {f"value-{number}": stream.random() for number in range(3)}
    return profile({"type": word, "level": level, **others})


def write_points(points: Sequence[MatchingPoint], path: Path) -> None:
    """The points as CSV."""
    with path.open("w", newline="") as file:
        lines = csv.DictWriter(file, [field.name for field in fields(MatchingPoint)])
        lines.writeheader()
        lines.writerows(asdict(point) for point in points)


def read_points(path: Path) -> list[MatchingPoint]:
    """The points of a CSV file; raises `OSError`, and `ValueError` for another file."""
    with path.open(newline="") as file:
        try:
            return [
                MatchingPoint(
                    row["way"], int(row["stored"]), float(row["share"]), float(row["matched"]),
                    float(row["matching_us"]), float(row["overhead_us"]),
                )
                for row in csv.DictReader(file)
            ]  # fmt: skip
        except KeyError as error:
            raise ValueError(f"{path}: no column {error}") from None
        except (TypeError, csv.Error) as error:  # a line that ends too soon, or is none
            raise ValueError(f"{path}: damaged: {error}") from None
