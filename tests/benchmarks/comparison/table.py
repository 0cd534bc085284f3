"""The figures of a comparison as a page of the documentation.

Law of this file: pure; figures in, Markdown out.  Where Meteor loses, the factor stands there.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any, Final

ROWS: Final = (
    ("store one record, 64 peers, 3 copies*", "ring", ("store", "p50_ms"), "ms"),
    ("the same, 99th percentile", "ring", ("store", "p99_ms"), "ms"),
    ("stores, 16 in flight", "ring", ("store", "per_s"), "/s"),
    ("retrieve one record, 64 peers", "ring", ("retrieve", "p50_ms"), "ms"),
    ("the same, 99th percentile", "ring", ("retrieve", "p99_ms"), "ms"),
    ("retrieves, 16 in flight", "ring", ("retrieve", "per_s"), "/s"),
    ("data to notification, two client processes", "told", ("p50_ms",), "ms"),
    ("the same, 99th percentile", "told", ("p99_ms",), "ms"),
    ("received by one client, callback", "received", ("per_s",), "/s"),
    ("received by one client, iterator", "iterated", ("per_s",), "/s"),
    ("query over 10⁴ records on 16 peers: 1 match", "query", ("one", "p50_ms"), "ms"),
    ("… 100 matches", "query", ("hundred", "p50_ms"), "ms"),
    ("… 4,000 matches by partial keyword", "query", ("partial", "p50_ms"), "ms"),
    ("… all 10,000", "query", ("all", "p50_ms"), "ms"),
)  # fmt: skip
COLUMNS: Final = (
    "Meteor", "Meteor, uvloop", "Meteor, embedded", "Meteor, two peers", "OpenDHT", "kademlia",
    "zenoh", "NATS", "mosquitto",
)  # fmt: skip
OURS: Final = 4
"""Of these columns are Meteor's own; the first is compared."""


def figure_of(
    figures: Mapping[str, Any], row: str, system: str, path: Sequence[str]
) -> float | None:
    """One figure, None where the system does not have it."""
    value: Any = figures.get(row, {}).get(system)
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value if isinstance(value, (int, float)) else None


def shown(value: float | None, unit: str) -> str:
    """A figure with its unit, to three digits."""
    if value is None:
        return ""
    if unit == "/s":
        return f"{float(f'{value:.3g}'):,.0f}/s"
    return f"{value:.3g} ms" if value < 100 else f"{value:,.0f} ms"


def factor(ours: float, others: Sequence[float], unit: str) -> str:
    """Meteor against the best of the others."""
    if not others:
        return ""
    ratio = ours / min(others) if unit == "ms" else max(others) / ours
    return f"{1 / ratio:.2g} × better" if ratio < 1 else f"{ratio:.2g} × worse"


def table(figures: Mapping[str, Any]) -> str:
    """The table in Markdown."""
    lines = ["| | " + " | ".join(COLUMNS) + " | Meteor against the best |"]
    lines.append("|---|" + "---:|" * (len(COLUMNS) + 1))
    for title, row, path, unit in ROWS:
        values = [figure_of(figures, row, system, path) for system in COLUMNS]
        if values[0] is None:
            continue
        others = [value for value in values[OURS:] if value is not None]
        cells = [shown(value, unit) for value in values]
        lines.append(f"| {title} | {' | '.join(cells)} | {factor(values[0], others, unit)} |")
    return "\n".join(lines)


def page(figures: Mapping[str, Any], rounds: int, load: float, python_ms: float) -> str:
    """The page `docs/speed.md`; `python_ms` by `tests.benchmarks.yardstick`."""
    first = figure_of(figures, "query", "Meteor", ("all", "first_ms"))
    early = "" if first is None else f" Its first match is there after {first:.3g} ms."
    return PAGE.format(
        table=table(figures), rounds=rounds, load=load, early=early,
        cores=os.cpu_count(), python=platform.python_version(), python_ms=python_ms,
    )  # fmt: skip


PAGE: Final = """# Speed

Meteor beside what you would pick instead, each row in one run on one machine, loopback only:
`make compare` measures all of it anew and writes this page. Median of {rounds} rounds in which
the systems took turns; {cores} cores, load average {load} before it began, Python {python}
({python_ms:.1f} ms by `python -m tests.benchmarks.yardstick`).
Peers and clients run on asyncio's own loop, and once more on uvloop (the extra `fast`), which
`meteor peer` and `meteor.sync` take where it is installed; embedded and two peers run on asyncio's.

{table}

What is compared, so that nobody reads more into it than there is:

- **Storing.** Meteor's `store` returns when three peers have the record; OpenDHT's and kademlia's
  when enough nodes answered (*: they keep 8 and 20). All 64 nodes of each system live in one
  process. One client asks Meteor over its link; OpenDHT and kademlia have no clients, their nodes
  are asked themselves, as *Meteor, embedded* is: the application that asks embeds a peer.
  The rings keep a thousand records here. OpenDHT's times grow with what it keeps, and have doubled
  by 6,000; Meteor's hardly do (`tests/benchmarks/bench_exact.py` prints both by round).
- **Messages.** Meteor stores each message durably enough to find it again, matches it against
  interests by content, and acknowledges it to its poster. zenoh, NATS and mosquitto (QoS 0) pass
  it on and forget it. Meteor's messages a second are notifications; each post concerns ten
  interests of one client. The brokers' clients have one subscription a message.
- **Queries.** Sixteen peers against sixteen zenoh stores behind a router, each looking through
  its share in Python, and against retained messages of one mosquitto broker, which does not say
  when that was all. Meteor's answer says that it is complete.{early}
- **What the others cannot do has no row here**: numeric ranges, several constraints at once, an
  answer that says what is missing.

Where Meteor is slower, the time goes into Python, and into what the others do not do.

- **A store** with three copies is nine messages, two of them the client's, each encoded, written to
  a socket, decoded and given to a conversation; the cost is spread flat over these steps.
- **A notification** leaves after the message was checked, placed, journalled, indexed, matched and,
  where there are more peers, kept by another one; the brokers do none of that. Where ten
  interests are concerned, two thirds of the peer's time still go into the storing of the one
  message, a third into finding and telling ten.
- **A query** costs every peer that is concerned a message in and one or two out, which is most of
  it up to some hundred matches. With thousands, three quarters of the
  processor time are the peers': each match is looked at and packed, each page written to two
  sockets, its peer's and the one of the client's peer. The rest is the client's. The sixteen peers
  share one process here, and one core; apart they would look at the same time.
"""
