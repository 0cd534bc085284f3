"""MQTT: mosquitto (Debian) on loopback and paho, QoS 0 for messages, retained ones for queries."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho

from tests.benchmarks.comparison.nats_system import server
from tests.benchmarks.comparison.rows import KEYS, REPEATS, VALUE, records, spread
from tests.benchmarks.comparison.running import main
from tests.benchmarks.comparison.subscribing import WAIT_S, Sink, measure, paced

PORT = 21_810
TOPIC, PATTERN = "bench/room1/temperature", "bench/+/temperature"
SETTINGS = f"""listener {PORT} 127.0.0.1
allow_anonymous true
max_queued_messages 0
max_inflight_messages 0
set_tcp_nodelay true
persistence false
log_type none
"""
QUERIES = {
    "one": ("keys/temperature/0/0", 1), "hundred": ("keys/+/7/+", 100), "all": ("keys/#", KEYS),
}  # fmt: skip


def client(name: str) -> paho.Client:
    """A connected client with its thread running."""
    own = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=name)
    own.max_inflight_messages_set(100)
    own.connect("127.0.0.1", PORT)
    own.loop_start()
    return own


def subscribe(pipe: Connection, sink: Sink, _: str, __: Any) -> None:
    """By callback, on a thread of paho's."""
    own, full = client("subscriber"), threading.Event()
    sink.done = full.set
    own.on_message = lambda _client, _data, message: sink.take(message.payload)
    own.on_subscribe = lambda *_: pipe.send("ready")
    own.subscribe(PATTERN, qos=0)
    full.wait(WAIT_S)
    own.loop_stop()


def publish(count: int, gap_s: float) -> None:
    """Publish messages; nobody acknowledges them."""
    own = client("publisher")
    for message in paced(count, gap_s):
        sent = own.publish(TOPIC, message, qos=0)
    sent.wait_for_publish(60)
    own.loop_stop()
    own.disconnect()


def query() -> dict[str, Any]:
    """Retained messages by a fresh subscription.  MQTT does not say when that was all: the number
    is known here."""
    own = client("store")
    for kind, place, number in records():
        sent = own.publish(f"keys/{kind}/{place}/{number}", VALUE, qos=1, retain=True)
    sent.wait_for_publish(60)
    figures = {}
    for name, (pattern, wanted) in QUERIES.items():
        durations_ns = []
        for _ in range(REPEATS[name]):
            sink, full = Sink(wanted), threading.Event()
            sink.done = full.set
            own.on_message = lambda _c, _d, message, sink=sink: sink.take(message.payload)
            began_ns = time.perf_counter_ns()
            own.subscribe(pattern)
            full.wait(WAIT_S)
            durations_ns.append(time.perf_counter_ns() - began_ns)
            own.unsubscribe(pattern)
            time.sleep(0.02)
        figures[name] = {**spread(durations_ns), "found": wanted}
    own.loop_stop()
    return figures


def with_broker(measured: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """One row with a broker of its own."""
    program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "mosquitto.conf"
        settings.write_text(SETTINGS)
        with server(program, "-c", str(settings), port=PORT):
            return measured()


if __name__ == "__main__":
    main({
        "told": lambda: with_broker(lambda: measure(subscribe, publish, "callback", None, "told")),
        "received": lambda: with_broker(
            lambda: measure(subscribe, publish, "callback", None, "received")
        ),
        "query": lambda: with_broker(query),
    })  # fmt: skip
