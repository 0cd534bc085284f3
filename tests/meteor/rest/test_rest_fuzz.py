"""A fuzzer reads the description of the routes and tries to break them: against a live peer.

Few examples by default, more under `long`.  What it checks: no 5xx, documented statuses, content
types and shapes, 405 with Allow, refusals of what the description does not allow.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import negative_data_rejection

import meteor
from arms import Message, write_message
from meteor.rest.config import RestConfig
from meteor.wire.record_id import make_id
from squid import Box
from tests.meteor.building import SPACE

pytestmark = pytest.mark.sockets

EXAMPLES, EXAMPLES_LONG = 3, 60

WORDS = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
PROFILES = st.builds(
    "type={} temperature={} humidity={}".format, WORDS, st.integers(-60, 150), st.integers(0, 100)
)
SELECTORS = st.one_of(
    PROFILES,
    st.builds("type={}* humidity<={}".format, WORDS, st.integers(0, 100)),
    st.builds("temperature={}..{}".format, st.integers(-60, 0), st.integers(1, 150)),
    st.builds("(type={} | temperature>={})".format, WORDS, st.integers(0, 99)),
)
IDS = st.builds(
    lambda stem, cell: make_id(stem, Box.point((cell, 5, 5)), SPACE.curve),
    WORDS,
    st.integers(0, 99),
)
MESSAGES = st.builds(
    lambda profile, action: write_message(
        Message("", action, meteor.Profile.parse(profile))
    ),
    PROFILES, st.sampled_from(["store", "retrieve", "delete_data"]),
)  # fmt: skip
"""What the description calls by a format of its own: its grammar is beyond JSON Schema."""

schemathesis.openapi.format("meteor-profile", PROFILES)
schemathesis.openapi.format("meteor-selector", SELECTORS)
schemathesis.openapi.format("meteor-id", IDS)
schemathesis.openapi.format("meteor-x", st.sampled_from(["type", "temperature"]))
schemathesis.openapi.format("meteor-y", st.just("humidity"))
schemathesis.openapi.media_type("application/xml", MESSAGES)


@contextmanager
def peer_in_a_thread() -> Iterator[str]:
    """A ring of two peers on a loop of its own; the address of one."""
    ready, stop = threading.Event(), asyncio.Event()
    addresses: list[str] = []
    loop = asyncio.new_event_loop()

    async def live() -> None:
        config = RestConfig(timeout_s=5.0)
        async with (
            meteor.Peer(space=SPACE, rest=config) as founder,
            meteor.Peer(join=[founder.address], rest=config) as peer,
        ):
            for number in range(20):
                await peer.store(f"type=temperature temperature={number} humidity=4", b"warm")
            addresses.append(peer.address)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(live()))
    thread.start()
    try:
        assert ready.wait(60)
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(60)
        loop.close()


@pytest.fixture(scope="module")
def routes() -> Iterator[Any]:
    with peer_in_a_thread() as address:
        schema = schemathesis.openapi.from_url(f"http://{address}/openapi.json")
        # a stream of events has no end: tests of its own read it
        yield schema.exclude(path=["/events", "/live"])


def fuzz(routes: Any, examples: int) -> int:
    """Try every operation with what it takes and what it does not; how many requests that were."""
    made = 0
    operations = [found.ok() for found in routes.get_all_operations()]
    for operation, mode in product(operations, schemathesis.GenerationMode):
        if mode.is_negative and not (operation.query or operation.body):
            continue

        @settings(
            max_examples=examples, deadline=None, database=None, derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(generation_mode=mode))
        def attack(case: Any) -> None:
            nonlocal made
            made += 1
            if case.query:  # an overlay that has a nanosecond does answer 504
                case.query.pop("timeout", None)
            unfit = []
            if case.operation.label == "POST /profiles" and not isinstance(case.body, bytes):
                case.body = repr(case.body).encode("utf-8", "replace")  # any bytes are data,
                unfit = [negative_data_rejection]  # so no body is one to refuse
            case.call_and_validate(timeout=30, excluded_checks=unfit)

        attack()
    return made


def test_the_description_keeps_what_it_promises(routes: Any) -> None:
    assert fuzz(routes, EXAMPLES) > 10


@pytest.mark.long
def test_the_description_keeps_it_under_many_requests(routes: Any) -> None:
    assert fuzz(routes, EXAMPLES_LONG) > 100
