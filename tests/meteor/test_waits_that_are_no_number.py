"""How long somebody waits is a number: what is none is said, and holds up no other wait.

A deadline that compares with no other one breaks the order of all those of its client."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import meteor
from tests.meteor.building import SPACE
from tests.meteor.fake_peer import FakeOverlay

WATCHED = "type=lamp temperature=*"
WAITS: dict[str, Callable[[meteor.Watch, Any], Any]] = {
    "recv": lambda watch, timeout: watch.recv(timeout),
    "ready": lambda watch, timeout: watch.ready(timeout),
    "wait_active": lambda watch, timeout: watch.wait_active(timeout),
    "wait_idle": lambda watch, timeout: watch.wait_idle(timeout),
}
BEYOND_FLOATS = 10**400
"""What can be added to no time."""
LONGER_S = 100.0
"""Than the waits that are measured against it."""


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize(
    "timeout",
    [
        math.nan,
        "5",
        True,
        1j,
        pytest.param(BEYOND_FLOATS, id="beyond floats"),
        pytest.param(-BEYOND_FLOATS, id="below floats"),
    ],
)
def test_what_is_no_number_is_said(overlay: FakeOverlay, wait: str, timeout: Any) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        watch = await client.notify_interest(WATCHED)
        if wait == "wait_idle":
            await client.notify_data("type=lamp")
            await watch.wait_active()
            await watch.recv()
        asked = client._runtime.spawn(_outcome(WAITS[wait](watch, timeout)))
        await client._runtime.sleep(LONGER_S)
        assert asked.done()
        assert isinstance(asked.result(), ValueError | TypeError)
        assert "timeout" in str(asked.result())

    overlay.run(scenario())


async def _outcome(wait: Any) -> Any:
    try:
        return await wait
    except (ValueError, TypeError) as error:
        return error


def test_it_holds_up_no_other_wait_of_its_client(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80")
        client._runtime.spawn(_outcome(interest.recv(math.nan)))
        other = await client.notify_data("temperature<=0")
        waits = [client._runtime.spawn(_timed_out(other)) for _ in range(3)]
        await client._runtime.sleep(LONGER_S)
        assert [wait.done() for wait in waits] == [True] * 3
        overlay.peers[0].silent = overlay.peers[1].silent = True
        store = client._runtime.spawn(_not_stored(client))
        await client._runtime.sleep(LONGER_S)
        assert store.done()

    overlay.run(scenario())


async def _timed_out(interest: meteor.Interest) -> None:
    with pytest.raises(meteor.Timeout):
        await interest.recv(timeout=1)


async def _not_stored(client: meteor.Client) -> None:
    with pytest.raises(meteor.Timeout):
        await client.store("type=t temperature=20", timeout=1)


@pytest.mark.parametrize("timeout", [0, -1, -math.inf])
def test_no_time_at_all_is_a_number(overlay: FakeOverlay, timeout: float) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        watch = await client.notify_interest(WATCHED)
        for wait in ("recv", "ready", "wait_active"):
            with pytest.raises(meteor.Timeout):
                await WAITS[wait](watch, timeout)

    overlay.run(scenario())


def test_the_blocking_side_says_the_same() -> None:
    with meteor.sync.LocalOverlay(peers=1, space=SPACE) as overlay, overlay.connect() as client:
        watch = client.notify_interest(WATCHED)
        for wait in (watch.recv, watch.wait_active):
            with pytest.raises(ValueError, match="timeout"):
                wait(math.nan)


@pytest.mark.parametrize("seconds", [BEYOND_FLOATS, -BEYOND_FLOATS], ids=["beyond", "below"])
@pytest.mark.parametrize("name", ["ttl", "timeout"])
def test_what_no_float_holds_is_beyond_the_limit(
    overlay: FakeOverlay, name: str, seconds: int
) -> None:
    """It raised `OverflowError`, which nobody looks for."""

    async def scenario() -> None:
        client = await overlay.new_client().open()
        options: dict[str, Any] = {name: seconds}
        with pytest.raises(meteor.LimitExceeded, match=f"{name}: -?0x"):
            await client.store("type=t temperature=20", **options)

    overlay.run(scenario())
