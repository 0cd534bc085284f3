"""zenoh (Rust core, wheel from PyPI): sessions linked directly, or stores behind one router."""

from __future__ import annotations

import json
import multiprocessing
import time
from multiprocessing.connection import Connection
from typing import Any

import zenoh

from tests.benchmarks.comparison.rows import (
    REPEATS,
    STORES,
    VALUE,
    records,
    spread,
)
from tests.benchmarks.comparison.running import main
from tests.benchmarks.comparison.subscribing import Sink, measure, paced

PORT = 21_700
KEY, PATTERN = "bench/room1/temperature", "bench/*/temperature"
QUERIES = {
    "one": "bench/temperature/0/0", "hundred": "bench/*/7/**",
    "partial": "bench/temp$*/*/*", "all": "bench/**",
}  # fmt: skip


def session(mode: str, *, listen: bool) -> Any:
    """A session on loopback that finds nobody by itself."""
    config = zenoh.Config()
    address = json.dumps([f"tcp/127.0.0.1:{PORT}"])
    config.insert_json5("mode", json.dumps(mode))
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("scouting/gossip/enabled", "false")
    config.insert_json5("listen/endpoints", address if listen else "[]")
    config.insert_json5("connect/endpoints", "[]" if listen else address)
    return zenoh.open(config)


def subscribe(pipe: Connection, sink: Sink, how: str, _: Any) -> None:
    """By callback (a thread of zenoh's) or by iterator."""
    with session("peer", listen=True) as own:
        if how == "callback":
            own.declare_subscriber(PATTERN, lambda sample: sink.take(sample.payload.to_bytes()))
            pipe.send("ready")
            while not sink.full:
                time.sleep(0.01)
            return
        subscriber = own.declare_subscriber(PATTERN, zenoh.handlers.FifoChannel(1024))
        pipe.send("ready")
        for sample in subscriber:
            sink.take(sample.payload.to_bytes())
            if sink.full:
                return


def publish(count: int, gap_s: float) -> None:
    """Put messages, waiting where the other side is slow."""
    with session("peer", listen=False) as own:
        publisher = own.declare_publisher(KEY, congestion_control=zenoh.CongestionControl.BLOCK)
        time.sleep(1.0)
        for message in paced(count, gap_s):
            publisher.put(message)
        time.sleep(0.5)


def stores(pipe: Connection) -> None:
    """A router and sixteen sessions, each with a queryable over the whole space."""
    router, kept = session("router", listen=True), []
    shares: list[dict[str, Any]] = [{} for _ in range(STORES)]
    for kind, place, number in records():
        key = f"bench/{kind}/{place}/{number}"
        shares[place % STORES][key] = zenoh.KeyExpr(key)
    for share in shares:
        own = session("client", listen=False)
        kept.append((own, own.declare_queryable("bench/**", _answering(share))))
    pipe.send("ready")
    pipe.recv()
    router.close()


def _answering(share: dict[str, Any]) -> Any:
    def answer(query: Any) -> None:
        if str(query.key_expr) in share:
            query.reply(query.key_expr, VALUE)
            return
        for key in share.values():
            if query.key_expr.intersects(key):
                query.reply(key, VALUE)

    return answer


def query() -> dict[str, Any]:
    """Each query as often as is said; the whole result in hand."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=stores, args=(there,), daemon=True)
    process.start()
    here.recv()
    figures = {}
    with session("client", listen=False) as own:
        time.sleep(2.0)
        for name, repeats in REPEATS.items():
            durations_ns, found = [], 0
            for _ in range(repeats):
                began_ns = time.perf_counter_ns()
                replies = own.get(
                    QUERIES[name], target=zenoh.QueryTarget.ALL,
                    handler=zenoh.handlers.FifoChannel(1024),
                )  # fmt: skip
                found = sum(reply.ok is not None for reply in replies)
                durations_ns.append(time.perf_counter_ns() - began_ns)
            figures[name] = {**spread(durations_ns), "found": found}
    process.kill()
    return figures


if __name__ == "__main__":
    main({
        "told": lambda: measure(subscribe, publish, "callback", None, "told"),
        "received": lambda: measure(subscribe, publish, "callback", None, "received"),
        "iterated": lambda: measure(subscribe, publish, "iterator", None, "received"),
        "query": query,
    })  # fmt: skip
