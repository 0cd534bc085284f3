"""A bit that flips in the file of a peer that is down: found, told, set aside, and filled again by
the copies.

The ring lives in virtual time; the file of the one peer is SQLite's own, written and read through
the journal that a peer on a machine has.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from meteor.journal.journal import Entry, Journal, Scan
from meteor.journal.sqlite_journal import SqliteJournal
from meteor.journal.write_ahead_log import PAGE_BYTES
from meteor.wire.record_id import stem_of
from sim.overlay import Overlay, SimPeer
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    durable_at,
    primary_of,
    restart_all,
    store_some,
)
from tests.meteor.damaged_journal import COMMITS, DATABASE, Files, flipped, lay, pages

SEED = 1
PEERS = 6
SAMPLE = pytest.mark.parametrize(
    "count", [4, pytest.param(None, marks=pytest.mark.long)], ids=["sample", "all"]
)


def content_of(overlay: Overlay, peer: SimPeer) -> list[Entry]:
    """What a peer that is down has on its disk, in the order of its last writes."""
    assert overlay.disk is not None
    content = overlay.disk._content[peer.address]
    return [Entry(key, stored.value) for key, stored in content.items()]


async def file_of(folder: Path, entries: Sequence[Entry]) -> Files:
    """The files that a peer with this content leaves on a machine."""
    journal = await SqliteJournal.open(lay(folder, {}))
    await journal.append(entries)
    await journal.close()
    return {name: (folder / name).read_bytes() for name in (DATABASE, COMMITS)}


async def read_back(path: Path) -> tuple[Scan, int]:
    """What its next start reads, and how many files it has set aside by then."""
    journal = await SqliteJournal.open(path)
    scan, aside = await journal.scan(), len(journal.set_aside)
    await journal.close()
    return scan, aside


class Salvaged:
    """A peer's journal in virtual time that holds what was read from a file: it says what is
    damaged, and that it is incomplete, until it is written anew."""

    def __init__(self, journal: Journal, scan: Scan) -> None:
        self._journal, self._found = journal, scan
        self.is_anew = False
        self._written: dict[bytes, None] = {}

    async def append(self, batch: Sequence[Entry]) -> None:
        await self._journal.append(batch)
        self._written.update(dict.fromkeys(entry.key for entry in batch))

    async def scan(self) -> Scan:
        entries = (await self._journal.scan()).entries
        if self.is_anew:
            return Scan(entries, ())
        damaged = tuple(key for key in self._found.damaged if key not in self._written)
        return Scan(entries, damaged, self._found.incomplete)

    async def read(self, key: bytes) -> bytes | None:
        return await self._journal.read(key)

    async def replace(self, entries: Sequence[Entry]) -> None:
        await self._journal.replace(entries)
        self.is_anew = True

    async def close(self) -> None:
        await self._journal.close()


class Fallen:
    """A ring of which the primary of a record, or a copy, is down, and the files that it left."""

    def __init__(self, folder: Path, *, is_copy: bool = False) -> None:
        self.overlay, self.drawn = build(SEED, PEERS, disk_s=0.001), random.Random(SEED)
        self.stored = store_some(self.overlay, self.overlay.client(), self.drawn, 40)
        assert_whole_within(self.overlay)
        self.probe = self.drawn.choice(self.stored)
        self.client = client_away_from(self.overlay, self.probe)
        holders = [primary_of(self.overlay, self.probe), *copies_of(self.overlay, self.probe)]
        self.victim = holders.pop(is_copy)
        self.others = holders
        self.victim.crash()
        self.files = asyncio.run(file_of(folder, content_of(self.overlay, self.victim)))
        self._salvaged: dict[str, Salvaged] = {}
        self._of_others = self.overlay._journal
        self.overlay._journal = self._journal  # type: ignore[method-assign]

    def _journal(self, address: str) -> Journal:
        return self._salvaged.get(address) or self._of_others(address)

    def back(self, scan: Scan, peer: SimPeer | None = None) -> SimPeer:
        """One that fell starts again with what was read from its file."""
        fallen = peer or self.victim
        journal = Salvaged(self._of_others(fallen.address), scan)
        self.overlay.run(journal._journal.replace(scan.entries))
        fallen.journal = self._salvaged[fallen.address] = journal
        return self.overlay.run(self.overlay.restart(fallen))

    def without_probe(self, folder: Path, peer: SimPeer, files: Files) -> Scan:
        """What is read of a peer's files with a bit turned in what they say of the record."""
        key = b"r:\0" + stem_of(self.probe).encode()
        (value,) = (one.value for one in content_of(self.overlay, peer) if one.key == key)
        assert value is not None
        scan = scan_of(folder, files, 8 * files[DATABASE].index(value[-40:]))
        assert key in scan.damaged
        return scan


def scan_of(folder: Path, files: Files, bit: int) -> Scan:
    """What is read of the files with one bit turned; that it is told, unless it costs nothing."""
    path = lay(folder, {**files, DATABASE: flipped(files[DATABASE], bit)})
    scan, aside = asyncio.run(read_back(path))
    assert aside == scan.incomplete, "what is damaged is kept for whoever wants to look"
    return scan


def bits_of(files: Files, count: int | None) -> list[int]:
    """One drawn bit of each page, or of some."""
    drawn = random.Random(SEED)
    starts = list(pages(files[DATABASE]))
    print(f"seed {SEED}, {len(starts)} pages")
    if count is not None:
        starts = sorted(drawn.sample(starts, count))
    return [8 * start + drawn.randrange(8 * PAGE_BYTES) for start in starts]


@SAMPLE
def test_what_a_flipped_bit_cost_comes_back_from_the_copies(
    tmp_path: Path, count: int | None
) -> None:
    """And stands on its own disk again, in a journal that is begun anew."""
    told = 0
    for number, bit in enumerate(bits_of(Fallen(tmp_path / "files").files, count)):
        world = Fallen(tmp_path / f"files-{number}")
        overlay = world.overlay
        before = content_of(overlay, world.victim)
        scan = scan_of(tmp_path / str(number), world.files, bit)
        is_told = scan.incomplete or bool(scan.damaged)
        told += is_told
        assert is_told or list(scan.entries) == before, f"silently less: bit {bit}"
        again = world.back(scan)
        assert again.core.restored is not None
        assert again.core.restored.whole == (not is_told), bit
        for _ in range(4):
            assert_never_silently_partial(overlay, world.client, world.stored)
            overlay.run_for(0.5)
        assert_whole_within(overlay, 40.0)
        assert ask(overlay, world.client) == (set(world.stored), True)
        assert again.address in durable_at(overlay, stem_of(world.probe)), bit
        left = overlay.run(again.journal.scan())
        assert not left.incomplete, "it is whole again, and says that it is not"
        assert not left.damaged
    assert told, "no bit that was drawn cost anything"


@pytest.mark.parametrize("is_copy", [False, True], ids=["primary", "copy"])
@pytest.mark.parametrize("first", [0, 1], ids=["one", "other"])
def test_who_is_back_first_with_a_damaged_file_does_not_say_that_nothing_is_there(
    tmp_path: Path, is_copy: bool, first: int
) -> None:
    """The other holders fell with it: what the bit cost nobody has, until one of them is back."""
    world = Fallen(tmp_path / "files", is_copy=is_copy)
    overlay = world.overlay
    scan = world.without_probe(tmp_path / "x", world.victim, world.files)
    crash(*world.others)
    client = overlay.client(peer=0)

    def a_while(steps: int) -> None:
        for _ in range(steps):
            assert_never_silently_partial(overlay, client, world.stored)
            overlay.run_for(0.2)

    again = world.back(scan)
    a_while(15)
    found, complete = ask(overlay, client)
    assert world.probe not in found
    assert not complete
    assert overlay.run(again.journal.scan()).damaged, "called whole before anything came back"
    for peer in (world.others[first], world.others[1 - first]):
        restart_all(overlay, [peer])
        a_while(15)
    assert_whole_within(overlay, 40.0)
    assert ask(overlay, client) == (set(world.stored), True)


def test_what_bits_cost_at_all_holders_is_named_by_whoever_answers_then(tmp_path: Path) -> None:
    """Disks of one batch, say: each holder is back, and none can show that it has everything."""
    world = Fallen(tmp_path / "files")
    overlay = world.overlay
    crash(*world.others)
    for number, peer in enumerate((world.victim, *world.others)):
        files = asyncio.run(file_of(tmp_path / f"files-{number}", content_of(overlay, peer)))
        world.back(world.without_probe(tmp_path / str(number), peer, files), peer)
        assert_never_silently_partial(overlay, world.client, world.stored)
    for _ in range(20):
        assert_never_silently_partial(overlay, world.client, world.stored)
        overlay.run_for(0.5)
    found, complete = ask(overlay, world.client)
    assert world.probe not in found
    assert not complete
