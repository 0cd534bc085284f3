"""A peer's numbers for Prometheus, named by its conventions, one registry a peer.

Law of this file: it names and describes; the numbers are those of `meteor.operation.snapshot`, read
when somebody scrapes.  No label takes a value that clients choose, and none names a peer: a ring of
thousands would make thousands of series.  `METRICS` is also the list in docs/operating.md.  How a
peer is may be known to everybody; what it does, to whoever operates it: who sees that a notice was
sent as he posted would know by counting that somebody hides an interest in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from meteor.distribution import Distribution
from meteor.operation.snapshot import Snapshot, Traffic

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

METRICS: Final[Mapping[str, str]] = {
    "meteor_ready": "1 while the peer is a member of a ring and holds its arc.",
    "meteor_posts_total": "Posts of clients of this peer that ended, by action and outcome.",
    "meteor_matches_total": "Matches that these posts met.",
    "meteor_post_hops": "Peers on the longest way of a post.",
    "meteor_notifications_sent_total": "Notices sent to clients, repetitions among them.",
    "meteor_notifications_acknowledged_total": "Notices that clients acknowledged.",
    "meteor_notifications_waiting": "Notices that no client has acknowledged yet.",
    "meteor_clients": "Clients that have posted over a link which is open.",
    "meteor_records": "Public records kept here by kind, copies for others among them.",
    "meteor_lookups_total": "Lookups that went out, by outcome.",
    "meteor_lookup_hops_total": "Peers that the found lookups were handed to, in all.",
    "meteor_lookups_hedged_total": "Attempts of lookups made because an earlier one was slow.",
    "meteor_ring_peers": "Peers in the ring, estimated from how densely they lie here.",
    "meteor_copies_missing": "Copies that what this peer answers for lacks of those asked for.",
    "meteor_lost_intervals": "Intervals of this peer's arc whose past nobody holds.",
    "meteor_forgotten_intervals_total": "Lost intervals that an operator declared gone.",
    "meteor_journal_damaged": "1 where the journal had lost something as the peer started.",
    "meteor_denials_total": "Requests that were refused, by the rule's name.",
    "meteor_dropped_total": "Frames, replies, and documents for reply addresses given up.",
    "meteor_loop_lateness_seconds": "The worst delay of a timer within the last second.",
    "meteor_certificate_end_timestamp_seconds": "Unix time at which the peer's certificate ends.",
    "meteor_links": "Open links to peers and clients.",
    "meteor_link_messages_total": "WebSocket messages by direction, of one frame or more.",
    "meteor_link_bytes_total": "Their bytes by direction, before encryption.",
    "meteor_strangers_total": "Dials of would-be peers without a fitting certificate.",
    "meteor_journal_commit_seconds": "How long a durable commit of the journal took.",
}


STATE: Final = (
    "meteor_ready", "meteor_ring_peers", "meteor_copies_missing", "meteor_lost_intervals",
    "meteor_forgotten_intervals_total", "meteor_journal_damaged", "meteor_loop_lateness_seconds",
    "meteor_certificate_end_timestamp_seconds",
)  # fmt: skip
"""What everybody is told."""


class PeerCollector(Collector):
    """Reads one peer's snapshot whenever the registry is scraped; None while it does not serve."""

    def __init__(self, take: Callable[[], Snapshot | None], *, whole: bool) -> None:
        self._take, self._whole = take, whole

    def collect(self) -> Iterator[Metric]:
        """The metrics of this moment."""
        snapshot = self._take()
        yield _gauge("meteor_ready", int(snapshot is not None))
        if snapshot is None:
            return
        yield from _of_state(snapshot)
        if self._whole:
            yield from _of_clients(snapshot)
            yield from _of_ring(snapshot)
            yield from _of_traffic(snapshot.traffic)
            if snapshot.commits is not None:
                yield _histogram("meteor_journal_commit_seconds", snapshot.commits)


def registry_of(take: Callable[[], Snapshot | None], *, whole: bool = True) -> CollectorRegistry:
    """A registry with one peer and its process, or without the `whole` with its `STATE` alone."""
    registry = CollectorRegistry()
    registry.register(PeerCollector(take, whole=whole))
    if whole:
        ProcessCollector(registry=registry)
    return registry


def exposition(registry: CollectorRegistry) -> bytes:
    """The registry's metrics in Prometheus' text format."""
    return generate_latest(registry)


def _of_state(snapshot: Snapshot) -> Iterator[Metric]:
    yield _gauge("meteor_ring_peers", snapshot.ring_peers)
    yield _gauge("meteor_copies_missing", snapshot.copies_missing)
    yield _gauge("meteor_lost_intervals", snapshot.lost_intervals)
    yield _counter("meteor_forgotten_intervals_total", snapshot.forgotten_intervals)
    yield _gauge("meteor_journal_damaged", int(snapshot.journal_damaged))
    yield _gauge("meteor_loop_lateness_seconds", snapshot.lateness_s)
    if snapshot.certificate_end_s is not None:
        yield _gauge("meteor_certificate_end_timestamp_seconds", snapshot.certificate_end_s)


def _of_clients(snapshot: Snapshot) -> Iterator[Metric]:
    posts = CounterMetricFamily(*_named("meteor_posts_total"), labels=["action", "outcome"])
    for labels, count in sorted(snapshot.posts.items()):
        posts.add_metric(labels, count)
    yield posts
    yield _counter("meteor_matches_total", snapshot.matches)
    yield _histogram("meteor_post_hops", snapshot.hops)
    yield _counter("meteor_notifications_sent_total", snapshot.notifications_sent)
    yield _counter("meteor_notifications_acknowledged_total", snapshot.notifications_acknowledged)
    yield _gauge("meteor_notifications_waiting", snapshot.notifications_waiting)
    yield _gauge("meteor_clients", snapshot.clients)
    yield _counters("meteor_denials_total", "rule", snapshot.denials)


def _of_ring(snapshot: Snapshot) -> Iterator[Metric]:
    records = GaugeMetricFamily(*_named("meteor_records"), labels=["kind"])
    for kind, count in snapshot.records.items():
        records.add_metric([kind], count)
    yield records
    lookups = snapshot.lookups
    outcomes = {"found": lookups.found, "failed": lookups.failed}
    yield _counters("meteor_lookups_total", "outcome", outcomes)
    yield _counter("meteor_lookup_hops_total", lookups.hops)
    yield _counter("meteor_lookups_hedged_total", lookups.hedged)
    dropped = snapshot.dropped
    reasons = {
        "late reply": dropped.late_replies,
        "reply address": snapshot.replies_dropped,
        "unsent": dropped.unsent,
        "unasked": dropped.unasked,
        "rerouted": dropped.rerouted,
    }
    yield _counters("meteor_dropped_total", "reason", reasons)


def _of_traffic(traffic: Traffic | None) -> Iterator[Metric]:
    if traffic is None:
        return
    yield _gauge("meteor_links", traffic.links)
    messages = {"in": traffic.messages_in, "out": traffic.messages_out}
    yield _counters("meteor_link_messages_total", "direction", messages)
    sizes = {"in": traffic.bytes_in, "out": traffic.bytes_out}
    yield _counters("meteor_link_bytes_total", "direction", sizes)
    yield _counter("meteor_strangers_total", traffic.strangers)


def _named(name: str) -> tuple[str, str]:
    return name, METRICS[name]


def _gauge(name: str, value: float) -> Metric:
    return GaugeMetricFamily(*_named(name), value=value)


def _counter(name: str, value: float) -> Metric:
    return CounterMetricFamily(*_named(name), value=value)


def _counters(name: str, label: str, values: Mapping[str, float]) -> Metric:
    family = CounterMetricFamily(*_named(name), labels=[label])
    for value, count in values.items():
        family.add_metric([value], count)
    return family


def _histogram(name: str, distribution: Distribution) -> Metric:
    buckets, below = [], 0
    for bound, count in zip(
        (*map(str, map(float, distribution.bounds)), "+Inf"), distribution.counts, strict=True
    ):
        below += count
        buckets.append((bound, below))
    return HistogramMetricFamily(*_named(name), buckets=buckets, sum_value=distribution.total)
