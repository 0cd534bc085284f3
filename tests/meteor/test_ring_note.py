"""The note of the ring in a peer's journal: how restarted peers find each other again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import meteor
from chord import ChordConfig, Contact, RingState
from meteor.journal.journal import Entry, JournalFailed, MemoryJournal
from meteor.rendezvous.ring_note import RING_KEY, RingNote
from meteor.wire import codec
from meteor.wire.messages import Greet
from sim import Kernel, Network, Overlay, SimRuntime
from sim.overlay import SimPeer

SPACE = meteor.KeywordSpace("note", [meteor.Word("type"), meteor.Number("x", 0, 100)])
STATE = RingState(
    Contact(1, "one:1"), Contact(2, "two:1", 3), (Contact(4, "four:1"),), (Contact(5, "five:1"),)
)


class FullJournal(MemoryJournal):
    """No room is left."""

    async def append(self, batch: object) -> None:
        raise JournalFailed("the disk is full")


def note_in(journal: MemoryJournal) -> tuple[Kernel, RingNote]:
    kernel = Kernel(1)
    runtime = SimRuntime(kernel, Network(kernel), Contact(1, "one:1"))
    return kernel, RingNote(journal, runtime)


def test_what_was_kept_is_read_back() -> None:
    kernel, note = note_in(MemoryJournal())
    assert kernel.run_until(kernel.spawn(note.read())) is None
    note.keep(STATE)
    kernel.run(until_s=1.0)
    assert kernel.run_until(kernel.spawn(note.read())) == STATE


@pytest.mark.parametrize("value", [b"", b"nonsense", codec.encode(Greet())])
def test_a_note_that_cannot_be_read_is_none(value: bytes) -> None:
    journal = MemoryJournal()
    kernel, note = note_in(journal)
    kernel.run_until(kernel.spawn(journal.append([Entry(RING_KEY, value)])))
    assert kernel.run_until(kernel.spawn(note.read())) is None


def test_a_journal_without_room_stops_no_peer() -> None:
    kernel, note = note_in(FullJournal())
    note.keep(STATE)
    kernel.run(until_s=1.0)


def ring_of(overlay: Overlay) -> list[tuple[int, int, int]]:
    """Predecessor, own and successor of every peer alive."""
    found = []
    for peer in overlay.living:
        node = peer.core.node
        assert node.predecessor is not None
        found.append((node.predecessor.id, node.contact.id, node.successors[0].id))
    return sorted(found, key=lambda three: three[1])


def ideal(ids: list[int]) -> list[tuple[int, int, int]]:
    around = [ids[-1], *ids, ids[0]]
    return list(zip(around, ids, around[2:], strict=False))


@pytest.mark.parametrize("seed", range(4))
def test_a_whole_overlay_that_lost_power_comes_back_though_one_stays_away(seed: int) -> None:
    print(f"seed={seed}")
    overlay = Overlay(10, space=SPACE, seed=seed)
    overlay.run_for(3.0)
    peers = overlay.living
    for peer in peers:
        peer.crash()
    stream = overlay.kernel.random("order")
    stream.shuffle(peers)

    async def come_back(peer: SimPeer, after_s: float) -> None:
        await overlay.kernel.sleep(after_s)
        await overlay.restart(peer)

    backs = [overlay.kernel.spawn(come_back(peer, stream.uniform(0.0, 2.0))) for peer in peers[1:]]
    for back in backs:
        overlay.kernel.run_until(back)
    overlay.run_for(30.0)
    assert ring_of(overlay) == ideal(sorted(peer.contact.id for peer in peers[1:]))


@pytest.mark.sockets
async def test_peers_with_data_directories_find_each_other_without_being_told(
    tmp_path: Path,
) -> None:
    def peer(number: int, listen: str = "127.0.0.1:0", join: tuple[str, ...] = ()) -> meteor.Peer:
        return meteor.Peer(
            space=SPACE, listen=listen, join=join, data_dir=tmp_path / str(number),
            config=ChordConfig.local(),
        )  # fmt: skip

    first = await peer(0).start()
    second = await peer(1, join=(first.address,)).start()
    third = await peer(2, join=(first.address,)).start()
    addresses = [first.address, second.address, third.address]
    await first.store("type=wind x=5", b"gust")
    for one in (first, second, third):
        await one.crash()
    back = [await peer(number, addresses[number]).start() for number in (2, 1, 0)]
    try:
        assert {one.address for one in back} == set(addresses)
        async with asyncio.timeout(30):
            while len((await back[2].ring()).peers) < len(back):
                assert all([await one.core.settled(30.0) for one in back])
        async with asyncio.timeout(30):  # until the copies have said who has the past of what
            complete = False
            while not complete:
                answer = back[2].retrieve("type=wind", allow_partial=True)
                matches, complete = await answer.all(), answer.complete
        assert [match.data for match in matches] == [b"gust"]
    finally:
        for one in back:
            await one.crash()
