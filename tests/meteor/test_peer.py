"""Peers on an event loop: embedding, joining, resuming, and every way in which starting fails."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import meteor
from meteor import KeywordSpace, Number, Word
from meteor.journal.sqlite_journal import SqliteJournal
from meteor.peer_start import IDENTITY_KEY
from tests.meteor.building import SPACE
from tests.meteor.lost_arcs import lose_arc

OTHER = KeywordSpace("building", [Word("type"), Number("temperature", -40, 150)])


@pytest.fixture(params=["memory", pytest.param("websocket", marks=pytest.mark.sockets)])
async def overlay(request: pytest.FixtureRequest) -> AsyncIterator[meteor.LocalOverlay]:
    async with meteor.LocalOverlay(peers=6, space=SPACE, transport=request.param) as made:
        yield made


async def test_data_and_interests_meet_over_both_transports(overlay: meteor.LocalOverlay) -> None:
    client = await overlay.connect()
    interest = await client.notify_data("type=alarm temperature>=80")
    receipt = await overlay.peers[3].store("type=alarm temperature=90", b"hot")
    notification = await interest.recv(timeout=5)
    assert (notification.id, notification.data) == (receipt.id, b"hot")
    matches = await client.retrieve("temperature=85..95").all()
    assert [match.id for match in matches] == [receipt.id]


async def test_an_embedded_peer_has_the_verbs_of_a_client(overlay: meteor.LocalOverlay) -> None:
    one, other = overlay.peers[0], overlay.peers[5]
    watch = await one.notify_interest("type=lamp temperature=* humidity=*")
    async with other.notify_data("type=lamp") as interest:
        await watch.wait_active(timeout=5)
        await one.store("type=lamp temperature=1", json={"on": True})
        assert (await interest.recv(timeout=5)).json() == {"on": True}
    await watch.wait_idle(timeout=5)


async def test_peers_come_leave_and_crash(overlay: meteor.LocalOverlay) -> None:
    """Nothing is lost: others keep copies of what a crashed peer had."""
    client = await overlay.connect()
    ids = {(await client.store(f"type=probe temperature={n} humidity={n}")).id for n in range(40)}
    await overlay.add_peer()
    await overlay.peers[2].leave()
    await overlay.add_peer()
    assert {match.id for match in await client.retrieve("type=probe").all()} == ids
    victim = max(overlay.living, key=lambda peer: peer.core.state().data)
    await victim.crash()
    client = await overlay.connect()
    assert {match.id for match in await client.retrieve("type=probe", timeout=20).all()} == ids


async def test_without_copies_what_a_crashed_peer_had_is_missing() -> None:
    async with meteor.LocalOverlay(peers=6, space=SPACE, copies=1) as overlay:
        client = await overlay.connect()
        ids = {(await client.store(f"type=probe temperature={n}")).id for n in range(40)}
        victim = max(overlay.living, key=lambda peer: peer.core.state().data)
        gone = {record.id for record in victim.core.shelf.store.records()}
        await lose_arc(overlay, victim)
        client = await overlay.connect()
        with pytest.raises(meteor.Incomplete) as incomplete:
            await client.retrieve("type=probe", timeout=8).all()
    assert {match.id for match in incomplete.value.matches} == ids - gone
    assert incomplete.value.missing



async def test_the_ring_is_drawn_from_any_peer(overlay: meteor.LocalOverlay) -> None:
    client = await overlay.connect(peer=2)
    picture = await client.ring()
    assert picture.closed
    assert {n.contact.id for n in picture.peers} == {peer.id for peer in overlay.peers}


async def test_an_overlay_of_given_ids() -> None:
    ids = [1 << 157, 1 << 158, 1 << 159]
    async with meteor.LocalOverlay(peers=3, space=SPACE, ids=ids) as overlay:
        assert [peer.id for peer in overlay.peers] == ids


async def test_a_peer_alone_resumes_with_id_profiles_and_interests(tmp_path: Path) -> None:
    async with meteor.Peer(space=SPACE, data_dir=tmp_path) as peer:
        peer_id = peer.id
        kept = await peer.store("type=probe temperature=3", b"kept", id="probe-3")
        cancelled = await peer.store("type=probe temperature=4", b"gone")
        await peer.cancel(cancelled.id)
        async with meteor.connect(peer.address) as client:
            interest = await client.notify_data("type=alarm", ttl=600)
            interest_id = interest.id
    async with meteor.Peer(data_dir=tmp_path) as peer:
        assert peer.id == peer_id
        assert peer.space == SPACE
        matches = await peer.retrieve("type=probe").all()
        assert [(match.id, match.data) for match in matches] == [(kept.id, b"kept")]
        watch = await peer.notify_interest("type=alarm temperature=* humidity=*")
        appeared = await watch.recv(timeout=5)
        assert appeared.id == interest_id
        with pytest.raises(meteor.Refused):
            await peer.store("type=probe temperature=4", id=cancelled.id.partition(".")[0])


async def test_damaged_records_are_set_aside_and_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with meteor.Peer(space=SPACE, data_dir=tmp_path) as peer:
        kept = await peer.store("type=probe temperature=3", b"kept")
    file = tmp_path / "meteor.sqlite"
    journal = await SqliteJournal.open(file)
    await journal.append([meteor.Entry(b"r:\0torn", b"not a record")])
    await journal.close()
    async with meteor.Peer(data_dir=tmp_path) as peer:
        with pytest.raises(meteor.Incomplete) as incomplete:  # nobody has a copy of what is torn
            await peer.retrieve("type=probe").all()
    assert [match.id for match in incomplete.value.matches] == [kept.id]
    (record,) = [record for record in caplog.records if record.name == "meteor.peer"]
    assert "1 damaged" in record.getMessage()
    assert "torn" in record.getMessage()


async def test_a_founder_whose_journal_is_beyond_reading_does_not_say_that_there_was_nothing(
    tmp_path: Path,
) -> None:
    """It remembers no interval, as a new peer: but something was there."""
    async with meteor.Peer(space=SPACE, data_dir=tmp_path) as peer:
        await peer.store("type=probe temperature=3", b"kept")
    (tmp_path / "meteor.sqlite").write_bytes(b"noise" * 5_000)
    for _ in range(2):  # and it goes on saying so, also with a journal that is whole again
        async with meteor.Peer(space=SPACE, data_dir=tmp_path) as peer:
            with pytest.raises(meteor.Incomplete) as incomplete:
                await peer.retrieve("type=probe", timeout=2).all()
            assert incomplete.value.missing
            assert (await peer.store("type=probe temperature=4", b"new", id="new")).complete
    assert [match.data for match in incomplete.value.matches] == [b"new"]


async def test_what_another_release_kept_is_said_to_be_that(tmp_path: Path) -> None:
    """It was said to be another version on the other side, and nobody was asked."""
    async with meteor.Peer(space=SPACE, data_dir=tmp_path):
        pass
    journal = await SqliteJournal.open(tmp_path / "meteor.sqlite")
    note = await journal.read(IDENTITY_KEY)
    assert note is not None
    await journal.append([meteor.Entry(IDENTITY_KEY, bytes([note[0] + 1]) + note[1:])])
    await journal.close()
    with pytest.raises(meteor.VersionMismatch, match="data directory keeps"):
        await meteor.Peer(data_dir=tmp_path).start()


async def test_a_killed_process_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """SIGKILL right after the receipts: everything is there at the next start."""
    program = textwrap.dedent(
        """
        import asyncio, os, signal, sys
        import meteor
        from tests.meteor.building import SPACE

        async def main():
            async with meteor.Peer(space=SPACE, data_dir=sys.argv[1]) as peer:
                for number in range(50):
                    receipt = await peer.store(f"type=probe temperature={number}", b"x")
                    print(receipt.id, flush=True)
                os.kill(os.getpid(), signal.SIGKILL)

        asyncio.run(main())
        """
    )
    done = await asyncio.to_thread(run_program, program, str(tmp_path))
    assert done.returncode == -9
    acknowledged = set(done.stdout.split())
    assert len(acknowledged) == 50
    async with meteor.Peer(data_dir=tmp_path) as peer:
        matches = await peer.retrieve("type=probe").all()
        assert {match.id for match in matches} == acknowledged


async def test_a_joiner_without_a_space_takes_the_rings() -> None:
    async with (
        meteor.Peer(space=SPACE) as founder,
        meteor.Peer(join=[founder.address]) as joiner,
    ):
        assert joiner.space == SPACE
        assert joiner.space.digest == SPACE.digest


async def test_a_joiner_of_another_space_is_told_the_difference() -> None:
    async with meteor.Peer(space=SPACE) as founder:
        with pytest.raises(meteor.SpaceMismatch, match="humidity"):
            await meteor.Peer(space=OTHER, join=[founder.address]).start()
        with pytest.raises(meteor.SpaceMismatch, match="humidity"):
            await meteor.connect(founder.address, space=OTHER)
        await founder.store("type=probe temperature=1")


async def test_joining_nobody_names_what_was_tried() -> None:
    with pytest.raises(meteor.JoinFailed) as failed:
        await meteor.Peer(space=SPACE, join=["127.0.0.1:1", "127.0.0.1:2"]).start()
    assert len(failed.value.tried) == 2
    assert "127.0.0.1:1" in str(failed.value)
    async with meteor.Peer(space=SPACE, join=["127.0.0.1:1"], found_if_alone=True) as peer:
        assert (await peer.store("type=probe temperature=1")).complete


async def test_a_founder_needs_a_space() -> None:
    with pytest.raises(meteor.SpaceError, match="space"):
        await meteor.Peer().start()


async def test_a_port_in_use_is_refused() -> None:
    async with meteor.Peer(space=SPACE) as peer:
        with pytest.raises(meteor.AddressInUse, match=peer.address.rpartition(":")[2]):
            await meteor.Peer(space=SPACE, listen=peer.address).start()


async def test_a_second_peer_on_one_data_dir_is_refused(tmp_path: Path) -> None:
    async with meteor.Peer(space=SPACE, data_dir=tmp_path) as peer:
        with pytest.raises(meteor.DataDirLocked, match=str(tmp_path)):
            await meteor.Peer(space=SPACE, data_dir=tmp_path).start()
        assert (await peer.store("type=probe temperature=1")).complete


async def test_two_peers_with_one_id_are_refused() -> None:
    async with meteor.Peer(space=SPACE, id=77) as founder:
        with pytest.raises(meteor.JoinFailed, match="joining"):
            await meteor.Peer(space=SPACE, id=77, join=[founder.address]).start()


@pytest.mark.sockets
async def test_random_bytes_on_the_port_do_no_harm() -> None:
    seed = 4
    print(f"seed {seed}")
    drawn = random.Random(seed)
    async with meteor.Peer(space=SPACE) as peer:
        host, _, port = peer.address.rpartition(":")
        for _ in range(20):
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(drawn.randbytes(drawn.randrange(1, 4000)))
            writer.close()
        async with meteor.connect(peer.address) as client:
            assert (await client.store("type=probe temperature=1")).complete


def run_program(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.processes
@pytest.mark.parametrize("data_dir", [True, False])
def test_a_program_that_closes_nothing_ends_cleanly(tmp_path: Path, data_dir: bool) -> None:
    """An open interest, a peer, a client: exit 0 and not a word, not even in development mode."""
    program = textwrap.dedent(
        """
        import asyncio, sys
        import meteor
        from tests.meteor.building import SPACE

        async def main():
            asyncio.get_running_loop().slow_callback_duration = 60  # the machine is shared
            peer = meteor.Peer(space=SPACE, data_dir=sys.argv[1] if sys.argv[2] == "True" else None)
            await peer.start()
            client = await meteor.connect(peer.address)
            interest = await client.notify_data("type=probe")
            await client.store("type=probe temperature=1")
            await interest.recv(timeout=5)
            print("done", flush=True)

        asyncio.run(main())
        """
    )
    done = run_program(program, str(tmp_path), str(data_dir))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
    assert done.stderr == ""


@pytest.mark.processes
def test_a_peer_is_of_no_use_after_a_fork() -> None:
    program = textwrap.dedent(
        """
        import asyncio, os
        import meteor
        from tests.meteor.building import SPACE

        async def main():
            async with meteor.Peer(space=SPACE) as peer:
                child = os.fork()
                if child == 0:
                    try:
                        peer.address
                    except meteor.Closed as error:
                        os._exit(0 if "fork" in str(error) else 2)
                    os._exit(1)
                assert os.waitpid(child, 0)[1] == 0
            print("done")

        asyncio.run(main())
        """
    )
    done = run_program(program)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
