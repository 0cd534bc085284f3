"""An interest that is not kept alive ends by a clock that goes on while the machine sleeps."""

from __future__ import annotations

from meteor import Client
from tests.meteor.fake_peer import FakeOverlay

SLEPT_S = 3600.0


def _sleeps(client: Client) -> None:
    """Its machine does, and with it the clock of the loop; the steady one goes on."""
    session = client._session
    now = session.runtime.now
    session.steady_clock = lambda: now() + SLEPT_S


def test_what_ran_out_as_the_machine_slept_is_expired_soon(overlay: FakeOverlay) -> None:
    """It was said to be active, and nothing came any more."""

    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80", ttl=1800, keep_alive=False)
        _sleeps(client)
        await client._runtime.sleep(60.0)
        assert interest.state == "expired"

    overlay.run(scenario())


def test_what_ran_out_as_the_machine_slept_is_not_posted_again(overlay: FakeOverlay) -> None:
    """Its link does not outlast that: it came back by the next one, and lived on as long as it had
    lived without the sleep."""

    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80", ttl=1800, keep_alive=False)
        asked = len(overlay.peers[0].requests)
        overlay.records.clear()
        _sleeps(client)
        overlay.peers[0].crash()
        overlay.peers[0].restart()
        await client._runtime.sleep(20.0)
        assert interest.state == "expired"
        assert not overlay.peers[0].amends()
        assert not overlay.peers[0].posts("notify_data")[1:]
        assert len(overlay.peers[0].requests) <= asked + 2, "greetings at most"

    overlay.run(scenario())


def test_what_has_time_left_goes_on_after_the_sleep(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("temperature>=80", ttl=5400, keep_alive=False)
        _sleeps(client)
        await client._runtime.sleep(1000.0)
        assert interest.state == "active"
        await client._runtime.sleep(801.0)
        assert interest.state == "expired"

    overlay.run(scenario())
