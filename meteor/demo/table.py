"""The demo's last word: one table for people, or one object for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from meteor.demo.scenario import Outcome, Verdict

BAR_WIDTH = 24


def summary(outcome: Outcome, peers: int, clients: int, seconds: float) -> dict[str, Any]:
    """The numbers of a run."""
    record = outcome.record
    asked = [verdict for verdict in outcome.verdicts if verdict.kind == "retrieved"]
    told = [verdict for verdict in outcome.verdicts if verdict.kind == "notified"]
    return {
        "exact": outcome.exact,
        "peers": peers,
        "clients": clients,
        "posted": len(record.posted),
        "posts_per_s": round(len(record.posted) / max(outcome.posting_s, 1e-9)),
        "stored": outcome.stored,
        "questions": len(asked),
        "matched": sum(verdict.count for verdict in asked),
        "notified": sum(verdict.count for verdict in told),
        "hops_store": spread(record.store_hops),
        "hops_retrieve": spread(outcome.hops),
        "peers_per_query": spread([verdict.peers for verdict in asked]),
        "store_ms": spread_ms(record.store_s),
        "retrieve_ms": spread_ms(record.retrieve_s),
        "notify_ms": spread_ms(record.notify_s),
        "seconds": round(seconds, 1),
        "faults": outcome.faults,
        "wrong": [
            f"{verdict.kind} {verdict.label}: {verdict.difference}"
            for verdict in outcome.verdicts
            if verdict.difference
        ],
    }


def spread(values: Sequence[float]) -> dict[str, float]:
    """Mean, median, 99th percentile and the largest."""
    if not values:
        return {"mean": 0.0, "p50": 0.0, "p99": 0.0, "max": 0.0}
    ordered = sorted(values)

    def at(share: float) -> float:
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]

    shares = {"p50": at(0.5), "p99": at(0.99), "max": ordered[-1]}
    return {key: round(number, 2) for key, number in {"mean": fmean(ordered), **shares}.items()}


def spread_ms(values_s: Iterable[float]) -> dict[str, float]:
    """The same of durations, in milliseconds."""
    return spread([value * 1000 for value in values_s])


def lines(outcome: Outcome, numbers: dict[str, Any]) -> list[str]:
    """The table."""
    return [
        "",
        *_answers(outcome.verdicts),
        "",
        f"posted         {numbers['posted']:>8,}   {numbers['posts_per_s']:,} a second, "
        f"{numbers['clients']} clients at once",
        f"matched        {numbers['matched']:>8,}   in {numbers['questions']} questions",
        f"notified       {numbers['notified']:>8,}",
        *_stored(numbers["stored"]),
        "",
        f"{'':<24}{'mean':>9}{'p50':>9}{'p99':>9}{'max':>9}",
        *(
            f"{label:<24}" + "".join(f"{numbers[key][column]:>9,.2f}" for column in _COLUMNS)
            for key, label in _ROWS.items()
        ),
        "",
        *(f"WRONG: {text}" for text in [*numbers["wrong"], *numbers["faults"]]),
        f"{'every answer exact' if numbers['exact'] else 'NOT EXACT'}: "
        f"{len(outcome.verdicts)} answers checked as sets and counts against a plain filter, "
        f"{numbers['seconds']:g} s",
    ]


_COLUMNS = ("mean", "p50", "p99", "max")
_ROWS = {
    "hops_store": "hops of a store",
    "hops_retrieve": "hops of a query",
    "peers_per_query": "peers a query",
    "store_ms": "store, ms",
    "retrieve_ms": "query, ms",
    "notify_ms": "store to notification, ms",
}


def _answers(verdicts: Sequence[Verdict]) -> list[str]:
    """One line an answer; equal labels together."""
    rows: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in sorted(verdicts, key=lambda verdict: verdict.kind):
        rows.setdefault((verdict.kind, verdict.label), []).append(verdict)
    return [
        f"{'answer':<32}{'found':>8}{'peers':>8}   checked",
        *(_row(*row) for row in rows.items()),
    ]


def _row(key: tuple[str, str], verdicts: list[Verdict]) -> str:
    kind, label = key
    times = f" × {len(verdicts)}" if len(verdicts) > 1 else ""
    peers = f"{fmean(verdict.peers for verdict in verdicts):.1f}" if kind == "retrieved" else ""
    wrong = [str(verdict.difference) for verdict in verdicts if verdict.difference]
    count = sum(verdict.count for verdict in verdicts)
    return (
        f"{f'{kind}: {label}{times}':<32}{count:>8,}{peers:>8}   {wrong[0] if wrong else 'exact'}"
    )


def _stored(stored: Sequence[int]) -> list[str]:
    """A bar a peer, in ring order."""
    most = max(stored, default=0) or 1
    return [
        f"stored         {sum(stored):>8,}   by peer, in ring order:",
        *(
            f"  peer {at + 1:>2}      {count:>8,}   {'▇' * round(BAR_WIDTH * count / most)}"
            for at, count in enumerate(stored)
        ),
    ]
