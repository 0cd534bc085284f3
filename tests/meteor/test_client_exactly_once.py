"""Whatever happens to its peers, a client misses nothing and sees nothing twice."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

import meteor
from tests.meteor.fake_peer import FakeOverlay

PEERS = 3
STEPS = st.one_of(
    st.tuples(st.sampled_from(["crash", "farewell", "resend"]), st.integers(0, PEERS - 1)),
    st.tuples(st.sampled_from(["store", "pause"]), st.integers(0, 3)),
)


async def trouble(overlay: FakeOverlay, peer: int) -> None:
    """Crash a peer in the middle of what it does, and start it again a moment later."""
    overlay.peers[peer].crash()
    await overlay.peers[(peer + 1) % PEERS].runtime.sleep(0.05)
    overlay.peers[peer].restart()


@settings(max_examples=60)
@given(st.integers(0, 1000), st.lists(STEPS, max_size=25))
def test_every_notification_comes_exactly_once_and_every_store_is_found_once(
    seed: int, steps: list[tuple[str, int]]
) -> None:
    overlay = FakeOverlay(seed)
    for _ in range(PEERS):
        overlay.add_peer()

    async def scenario() -> None:
        client = await overlay.new_client(on_error=lambda _: None).open()
        sensor = await overlay.new_client("p2:1", "p1:1", "p0:1").open()
        interest = await client.notify_data("temperature>=80")
        pause, sent = client._runtime.sleep, 0
        for step, number in steps:
            if step == "crash":
                client._runtime.spawn(trouble_guarded(number))
            elif step == "farewell":
                overlay.peers[number].farewell()
            elif step == "resend":
                overlay.peers[number].resend(interest.id.split(".")[0])
            elif step == "pause":
                await pause(0.02 * number)
            else:
                await sensor.store("type=t temperature=99", str(sent), id=f"mote-{sent}")
                sent += 1
        await pause(400)  # every record's notices are sent again at the latest with a renewal
        received = [(await interest.recv(timeout=1)).text for _ in range(sent)]
        assert sorted(received) == sorted(str(number) for number in range(sent))
        assert not interest._items
        found = [match.text async for match in client.retrieve("temperature>=80")]
        assert sorted(found) == sorted(received)

    busy: set[int] = set()

    async def trouble_guarded(peer: int) -> None:
        if peer not in busy:
            busy.add(peer)
            await trouble(overlay, peer)
            busy.discard(peer)

    overlay.run(scenario())


@settings(max_examples=40)
@given(st.integers(0, 1000), st.lists(st.integers(0, PEERS - 1), max_size=6))
def test_one_seed_gives_one_story(seed: int, crashes: list[int]) -> None:
    """The client is as deterministic as its runtime."""

    def story() -> str:
        overlay = FakeOverlay(seed)
        for _ in range(PEERS):
            overlay.add_peer()

        async def scenario() -> None:
            client = await overlay.new_client(on_error=lambda _: None).open()
            interest = await client.notify_data("temperature>=80")
            for peer in crashes:
                await client.store("type=t temperature=99")
                if len([one for one in overlay.peers if not one.runtime.exchange.closed]) > 1:
                    overlay.peers[peer].crash()
            await client._runtime.sleep(1)
            await interest.close()

        overlay.run(scenario())
        return str(overlay.kernel.trace.digest())

    assert story() == story()


def test_meteor_is_imported_without_sockets() -> None:
    """`import meteor` costs no aiohttp: that comes with the first connection."""

    ended = subprocess.run(
        [sys.executable, "-c", "import meteor, sys; print('aiohttp' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "False\n"
    assert meteor.connect is not None
