"""The ring for people: a table of peers, or a tree of arcs with what each carries.

Law of this file: pure; a picture in, lines out, a mark of alarm for colour beside each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import meteor

Mark = Literal["", "dim", "warning", "alarm"]
Line = tuple[str, Mark]

TOGETHER: Final = 4
"""So many peers of one branch stand below it one by one; more are split into halves."""
BAR: Final = 20
SKEWED: Final = 2.0
"""Times the mean from which a load is worth a colour; twice that is worth another."""
_TENTHS: Final = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True, slots=True)
class Arc:
    """One peer's part of the circle."""

    peer: meteor.Neighbour
    share: float
    """Of the circle, 0 to 1."""
    load: int
    """Data and interests that it answers for; 0 while unknown."""


def arcs_of(picture: meteor.RingPicture) -> list[Arc]:
    """The peers in the order of their identifiers."""
    size = 1 << picture.id_bits
    alone = len(picture.peers) == 1
    return [
        Arc(
            peer,
            1.0 if alone else ((peer.contact.id - peer.first) % size + 1) / size,
            max(peer.data, 0) + max(peer.interests, 0),
        )
        for peer in sorted(picture.peers, key=lambda peer: peer.contact.id)
    ]


def table(picture: meteor.RingPicture) -> Iterator[Line]:
    """A line a peer, in ring order from the one that was asked."""
    yield f"{'id':>12}  {'address':<22}{'data':>9}{'interests':>11}{'copies':>8}", "dim"
    for peer in picture.peers:
        short = f"{f'{peer.contact.id:x}'[:12]:>12}  {peer.contact.address:<22}"
        if not peer.answers:
            yield f"{short}  does not answer", "alarm"
            continue
        counts = f"{_count(peer.data):>9}{_count(peer.interests):>11}{_count(peer.copies):>8}"
        yield short + counts, "alarm" if peer.lost else ""


def tree(picture: meteor.RingPicture) -> Iterator[Line]:
    """The circle of identifiers, halved until few peers are together; arcs with bars of load."""
    arcs = arcs_of(picture)
    total = sum(arc.load for arc in arcs)
    yield f"ring  {_sum(arcs)}", ""
    yield from _branches(_Tree(picture.id_bits, max((arc.load for arc in arcs), default=0),
                               total / max(len(arcs), 1)), arcs, 0, 0, "")  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Tree:
    bits: int
    most: int
    mean: float


def _branches(
    whole: _Tree, arcs: Sequence[Arc], prefix: int, depth: int, indent: str
) -> Iterator[Line]:
    """What lies below one prefix of the circle: peers, or two halves."""
    if len(arcs) <= TOGETHER or depth >= whole.bits:
        for number, arc in enumerate(arcs):
            last = number == len(arcs) - 1
            text, mark = _leaf(whole, arc)
            yield f"{indent}{'└─' if last else '├─'} {text}", mark
        return
    middle = ((prefix << 1) + 1) << (whole.bits - depth - 1)
    halves = [
        (2 * prefix, [arc for arc in arcs if arc.peer.contact.id < middle]),
        (2 * prefix + 1, [arc for arc in arcs if arc.peer.contact.id >= middle]),
    ]
    named = [(half, inside) for half, inside in halves if inside]
    for half, inside in named:
        last = half == named[-1][0]
        yield f"{indent}{'└─' if last else '├─'} {_range(whole.bits, half, depth + 1)}  " \
              f"{_sum(inside)}", "dim"  # fmt: skip
        yield from _branches(whole, inside, half, depth + 1, indent + ("   " if last else "│  "))


def _leaf(whole: _Tree, arc: Arc) -> Line:
    peer = arc.peer
    place = f"{_digits(peer.contact.id, whole.bits)}  {peer.contact.address:<22}"
    if not peer.answers:
        return f"{place}{arc.share:>7.1%}  does not answer", "alarm"
    text = (
        f"{place}{arc.share:>7.1%}  {_bar(arc.load, whole.most)} {arc.load:>9,}"
        f"  {_count(peer.copies)} copies"
    )
    if peer.lost:
        return f"{text}  lost: {len(peer.lost)}", "alarm"
    if arc.load > 2 * SKEWED * whole.mean:
        return text, "alarm"
    return text, "warning" if arc.load > SKEWED * whole.mean else ""


def _range(bits: int, prefix: int, depth: int) -> str:
    """The identifiers of a prefix, by their first digits."""
    first = prefix << (bits - depth)
    last = first + (1 << (bits - depth)) - 1
    return f"{_digits(first, bits)}–{_digits(last, bits)}"


def _digits(id: int, bits: int) -> str:
    width = -(-bits // 4)
    return f"{id:0{width}x}"[:4]


def _sum(arcs: Sequence[Arc]) -> str:
    peers = f"{len(arcs)} peer{'s' if len(arcs) != 1 else ''}"
    return f"{peers}, {sum(arc.load for arc in arcs):,} records"


def _bar(load: int, most: int) -> str:
    """A bar of `BAR` characters, in eighths."""
    eighths = 0 if not most else round(8 * BAR * load / most)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_TENTHS[rest] if rest else "")).ljust(BAR)


def _count(number: int) -> str:
    return "?" if number < 0 else f"{number:,}"
