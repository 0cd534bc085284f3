"""What is wrong with a configuration or a ring, and what to do about it: the doctor's knowledge.

Law of this file: pure.  Facts in, findings out; each finding says what was seen with its figure,
and a cure that somebody can carry out.  Nothing is found that cannot be acted on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from meteor.links.address import is_loopback
from meteor.security.certificates import EXPIRY_WARNING
from meteor.wire.messages import Neighbour, RingPicture

Severity = Literal["problem", "warning"]

CLOCK_WARNING_S: Final = 2.0
CLOCK_PROBLEM_S: Final = 60.0
"""Signed posts say when they were made; who is further off is refused by others."""
LATENESS_WARNING_S: Final = 0.1
"""Of a peer's loop: from here on others begin to take it for silent."""
COMMIT_WARNING_S: Final = 0.05
SKEW: Final = 4.0
"""Times the mean load from which a peer carries too much ..."""
SKEW_RECORDS_MIN: Final = 100
"""... where a peer has so many on the average."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong."""

    severity: Severity
    subject: str
    """A peer's address, a setting, a file, or `ring`."""
    what: str
    cure: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking one address."""

    address: str
    error: str = ""
    """Why there was no answer; empty where there was."""
    members: frozenset[int] = frozenset()
    """The identifiers of the ring that it belongs to."""


@dataclass(frozen=True, slots=True)
class PeerFacts:
    """What one peer says of itself over HTTP."""

    address: str
    protected: bool
    """Whether it was asked over TLS."""
    error: str = ""
    unready: str = ""
    clock_offset_s: float = 0.0
    """How far its clock is ahead of ours."""
    certificate_ends: datetime | None = None
    copies_missing: float = 0.0
    journal_damaged: bool = False
    lateness_s: float = 0.0
    commit_mean_s: float = 0.0


def of_asking(asked: Sequence[Asked]) -> Iterator[Finding]:
    """Whether the addresses lead to one ring."""
    for one in asked:
        if one.error:
            yield Finding(
                "problem", one.address, f"no answer: {one.error}",
                "start the peer there, or take the address out of the list; look whether it is a "
                "peer's port, and a firewall lets it through",
            )  # fmt: skip
    rings = sorted({one.members for one in asked if one.members}, key=sorted)
    if len(rings) > 1 and not rings[0] & rings[1]:
        sides = "; ".join(
            ", ".join(one.address for one in asked if one.members == ring) for ring in rings
        )
        yield Finding(
            "problem", "ring", f"{len(rings)} rings, which do not know each other: {sides}",
            "let one of them join the other: restart a peer with an address of the other ring in "
            "join; what both hold merges",
        )  # fmt: skip


def of_picture(picture: RingPicture) -> Iterator[Finding]:
    """What the walk around the ring shows."""
    if not picture.closed:
        yield Finding(
            "problem", "ring",
            f"the walk of {len(picture.peers)} peers did not come back to where it began",
            "wait ten seconds and look again: peers come or go; if it stays, restart the last peer "
            "of `meteor ring`",
        )  # fmt: skip
    for peer in picture.peers:
        if not peer.answers:
            yield Finding(
                "problem", peer.contact.address, "the ring knows this peer, and it is silent",
                "if it is dead, others take its part over within some seconds; if not, look at its "
                "log and its machine's load",
            )  # fmt: skip
        if peer.lost:
            yield _lost(peer)
    yield from _of_load(picture)
    if len(picture.peers) == 1:
        yield Finding(
            "warning", "ring", "one peer alone: nobody has a copy of anything",
            "start two more with join set to this one",
        )  # fmt: skip


def _lost(peer: Neighbour) -> Finding:
    arcs = ", ".join(f"{first}-{last}" for first, last in peer.lost[:3])
    more = f" and {len(peer.lost) - 3} more" if len(peer.lost) > 3 else ""
    return Finding(
        "problem", peer.contact.address, f"nobody holds the past of {arcs}{more}: lost",
        "start the peers that held it, with their data directories: one of three that fell "
        "together does not count alone; stores there may wait for that; if they will not come "
        "back, `meteor ring forget --all` gives the past up",
    )  # fmt: skip


def _of_load(picture: RingPicture) -> Iterator[Finding]:
    loads = {peer.contact.address: max(peer.data, 0) for peer in picture.peers if peer.answers}
    mean = sum(loads.values()) / len(loads) if loads else 0.0
    for address, load in loads.items():
        if len(loads) > 2 and mean >= SKEW_RECORDS_MIN and load > SKEW * mean:
            yield Finding(
                "warning", address, f"carries {load:,} records, {load / mean:.1f} × the mean",
                'run peers with placement = "load", and add one: it goes where the load is; if one '
                "value of every dimension is that frequent, add a dimension to the space",
            )  # fmt: skip


def of_peer(peer: PeerFacts, now: datetime) -> Iterator[Finding]:
    """What one peer says of itself."""
    if peer.error:
        yield Finding(
            "warning", peer.address, f"its HTTP routes do not answer: {peer.error}",
            "ask from a machine that reaches it, with the ring's CA (--tls-ca)",
        )  # fmt: skip
        return
    if peer.unready:
        yield Finding("warning", peer.address, f"not ready: {peer.unready}", "wait; see its log")
    if not peer.protected and not is_loopback(peer.address):
        yield Finding(
            "problem", peer.address, "open to other machines in the clear",
            "give it --tls-ca, --tls-cert and --tls-key; `meteor certs` makes them",
        )  # fmt: skip
    yield from _of_clock(peer)
    if peer.certificate_ends is not None:
        yield from of_expiry(peer.address, peer.certificate_ends, now)
    if peer.copies_missing > 0:
        yield Finding(
            "warning", peer.address,
            f"{peer.copies_missing:.0f} copies fewer than asked of what it answers for",
            "wait a minute: they are being made; not where the ring has fewer peers than `copies`: "
            "add peers",
        )  # fmt: skip
    if peer.journal_damaged:
        yield Finding(
            "warning", peer.address,
            "its journal had lost something as it started; other peers' copies fill that again",
            "look at its disk, and at what its log says was set aside in its data directory; once "
            "nothing is missing, the next start ends this word",
        )  # fmt: skip
    if peer.lateness_s > LATENESS_WARNING_S:
        yield Finding(
            "warning", peer.address, f"its loop ran {1000 * peer.lateness_s:.0f} ms late",
            "give it more of its processor, or move other work off the machine",
        )  # fmt: skip
    if peer.commit_mean_s > COMMIT_WARNING_S:
        yield Finding(
            "warning", peer.address,
            f"a durable write takes {1000 * peer.commit_mean_s:.0f} ms on the average",
            "put data_dir on a faster local disk",
        )  # fmt: skip


def _of_clock(peer: PeerFacts) -> Iterator[Finding]:
    off_s = abs(peer.clock_offset_s)
    if off_s <= CLOCK_WARNING_S:
        return
    side = "ahead of" if peer.clock_offset_s > 0 else "behind"
    severity: Severity = "problem" if off_s > CLOCK_PROBLEM_S else "warning"
    yield Finding(
        severity, peer.address, f"its clock is {off_s:.0f} s {side} this machine's",
        "let a time service (chrony, systemd-timesyncd) set both clocks: signed posts and "
        "certificates go by them",
    )  # fmt: skip


def of_expiry(subject: str, ends: datetime, now: datetime) -> Iterator[Finding]:
    """Whether a certificate has ended or will soon."""
    left = ends - now
    if left > EXPIRY_WARNING:
        return
    cure = "`meteor certs --renew` makes another; the peer reads it on SIGHUP"
    if left <= timedelta(0):
        yield Finding("problem", subject, f"the certificate ended on {ends:%Y-%m-%d}", cure)
    else:
        what = f"the certificate ends on {ends:%Y-%m-%d}, in {left.days} days"
        yield Finding("warning", subject, what, cure)
