"""The Python side of the simulator, as the SPEC has it."""

from __future__ import annotations

import pytest

import sim
from meteor import JoinFailed, KeywordSpace, Number, Word
from meteor.wire.codec import wire_codec

SPACE = KeywordSpace("plain", [Word("type"), Number("value", 0, 1000)])


def test_an_overlay_runs_on_a_network_of_its_own() -> None:
    kernel = sim.Kernel(seed=5, keep_trace=True)
    network = sim.Network(kernel, latency=sim.TailedLatency(0.01, 0.02), codec=wire_codec())
    overlay = sim.Overlay(peers=6, space=SPACE, seed=5, network=network)
    client = overlay.client()
    receipt = overlay.run(client.store("type=reading value=7", b"seven"))
    assert receipt.complete
    assert kernel.now() > 0.02
    until = kernel.now() + 60.0
    overlay.run(until=until)
    assert kernel.now() == pytest.approx(until)
    (match,) = overlay.run(client.retrieve("type=reading").all())
    assert match.data == b"seven"
    assert overlay.trace.events


def test_a_network_and_its_parts_are_not_both_given() -> None:
    kernel = sim.Kernel()
    with pytest.raises(ValueError, match="its own kernel"):
        sim.Overlay(2, space=SPACE, kernel=kernel, network=sim.Network(kernel))


def test_a_peer_that_cannot_join_is_dead() -> None:
    """It was counted among the living, and clients were linked to it."""
    overlay = sim.Overlay(3, space=SPACE)
    cut = overlay.faults.partition([peer.contact for peer in overlay.peers])
    with pytest.raises(JoinFailed):
        overlay.run(overlay.add_peer(12345))
    cut.heal()
    assert overlay.living == overlay.peers[:3]
    client = overlay.client(peer=-1)
    assert overlay.run(client.store("type=reading value=7", b"seven")).complete
    again = overlay.run(overlay.restart(overlay.peers[3]))
    assert overlay.living == [*overlay.peers[:3], again]


def test_a_peer_that_never_joined_begins_no_ring_of_its_own() -> None:
    """Started again while all others were down it did, and knew nothing of what they have: a
    process that is started again is told by whom to join, as before."""
    overlay = sim.Overlay(3, space=SPACE)
    receipt = overlay.run(overlay.client().store("type=reading value=7", b"seven"))
    cut = overlay.faults.partition([peer.contact for peer in overlay.peers])
    with pytest.raises(JoinFailed):
        overlay.run(overlay.add_peer(12345))
    cut.heal()
    for peer in overlay.living:
        peer.crash()
    for _ in range(2):
        with pytest.raises(JoinFailed):
            overlay.run(overlay.restart(overlay.peers[3]))
    back = [overlay.kernel.spawn(overlay.restart(peer)) for peer in overlay.peers[:3]]
    for task in back:
        overlay.run(task)
    overlay.run(overlay.restart(overlay.peers[3]))
    (match,) = overlay.run(overlay.client(peer=-1).retrieve("type=reading").all())
    assert (match.id, match.data) == (receipt.id, b"seven")


def test_to_run_without_an_end_is_refused() -> None:
    overlay = sim.Overlay(2, space=SPACE)
    with pytest.raises(TypeError, match="until"):
        overlay.run()  # type: ignore[call-overload]
    now_s = overlay.kernel.now()
    with pytest.raises(ValueError, match="is over"):
        overlay.run(until=now_s / 2)
    overlay.run(until=now_s)


@pytest.mark.parametrize(
    ("ids", "named"),
    [([1, 2], "2 ids for 3 peers"), ([1, 2, 1], "twice"), ([1, 2, 1 << 160], "160 bits")],
)
def test_ids_that_make_no_ring_are_refused(ids: list[int], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        sim.Overlay(3, space=SPACE, ids=ids)


def test_a_peer_beyond_the_ids_finds_a_place_of_its_own() -> None:
    overlay = sim.Overlay(2, space=SPACE, ids=[1, 2])
    overlay.run(overlay.add_peer())
    assert len({peer.contact.id for peer in overlay.living}) == 3


def test_a_client_of_a_peer_that_is_not_there_is_refused() -> None:
    overlay = sim.Overlay(3, space=SPACE)
    with pytest.raises(ValueError, match="3 living peers"):
        overlay.client(peer=3)


def test_what_was_restarted_outlives_the_one_that_it_was() -> None:
    overlay = sim.Overlay(3, space=SPACE)
    before = overlay.peers[1]
    before.crash()
    again = overlay.run(overlay.restart(before))
    before.crash()
    with pytest.raises(ValueError, match="is not alive"):
        overlay.run(before.leave())
    assert again.alive
    assert not again.runtime.exchange.closed
    overlay.run_for(5.0)
    assert len(overlay.run(overlay.client().ring()).peers) == 3


def test_who_is_alive_is_not_restarted() -> None:
    """It was an assertion, and nothing at all under `python -O`."""
    overlay = sim.Overlay(2, space=SPACE)
    before = overlay.peers[1]
    with pytest.raises(ValueError, match=r"10\.0\.0\.2:7400 is alive"):
        overlay.run(overlay.restart(before))
    before.crash()
    overlay.run(overlay.restart(before))
    with pytest.raises(ValueError, match="later incarnation"):
        overlay.run(overlay.restart(before))


def test_fewer_peers_than_none_are_refused() -> None:
    with pytest.raises(ValueError, match="-3 is below 0"):
        sim.Overlay(-3, space=SPACE)


def test_a_trace_says_whether_it_keeps_its_events() -> None:
    overlay = sim.Overlay(2, space=SPACE)
    assert repr(overlay.trace).startswith(f"<Trace of {len(overlay.trace)} events, not kept: see")
    assert overlay.trace.digest() in repr(overlay.trace)
    kept = sim.Overlay(2, space=SPACE, kernel=sim.Kernel(1, keep_trace=True))
    assert "events, kept, digest" in repr(kept.trace)


def test_the_seed_is_that_of_the_run() -> None:
    assert sim.Overlay(1, space=SPACE, seed=7).seed == 7
    network = sim.Network(sim.Kernel(seed=3))
    assert sim.Overlay(1, space=SPACE, network=network).seed == 3
