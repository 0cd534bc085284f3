"""What only one kind of journal has: a file that others may hold or damage, a disk that fails."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from meteor.errors import DataDirLocked
from meteor.journal.journal import JournalFailed
from meteor.journal.sqlite_journal import SqliteJournal
from sim.disk import SimDisk
from sim.kernel import Kernel
from tests.journal_worlds import content, put


def test_a_second_process_on_a_data_directory_is_refused(tmp_path: Path) -> None:
    """And the lock is free the moment its holder was killed."""
    path = tmp_path / "journal.sqlite"
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
                import asyncio
                from meteor.journal.sqlite_journal import SqliteJournal
                async def hold():
                    await SqliteJournal.open({str(path)!r})
                    print("held", flush=True)
                    await asyncio.Event().wait()
                asyncio.run(hold())
            """),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"

        async def refused() -> None:
            with pytest.raises(DataDirLocked, match=rf"in use by another.*{holder.pid}"):
                await SqliteJournal.open(path)

        asyncio.run(refused())
    finally:
        holder.kill()
        holder.communicate()

    async def free() -> None:
        await (await SqliteJournal.open(path)).close()

    asyncio.run(free())


async def test_the_same_name_twice_in_a_process_is_refused(tmp_path: Path) -> None:
    one = await SqliteJournal.open(tmp_path / "journal.sqlite", "one")
    with pytest.raises(DataDirLocked):
        await SqliteJournal.open(tmp_path / "journal.sqlite", "one")
    two = await SqliteJournal.open(tmp_path / "journal.sqlite", "two")
    await one.close()
    await two.close()
    await (await SqliteJournal.open(tmp_path / "journal.sqlite", "one")).close()


async def test_a_directory_that_cannot_be_used_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(JournalFailed, match="give another one"):
        await SqliteJournal.open(tmp_path / "file" / "journal.sqlite")
    (tmp_path / "journal.sqlite").mkdir()
    with pytest.raises(JournalFailed, match="not a usable journal"):
        await SqliteJournal.open(tmp_path / "journal.sqlite")


async def test_a_bad_batch_does_not_fail_its_neighbours(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    await (await SqliteJournal.open(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TRIGGER bad BEFORE INSERT ON record WHEN NEW.key = x'62' "
            "BEGIN SELECT RAISE(ABORT, 'bad'); END"
        )
    connection.close()
    journal = await SqliteJournal.open(path)
    calls = [
        asyncio.ensure_future(journal.append(batch))
        for batch in ([put("a")], [put("x"), put("b")], [put("c")])
    ]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), JournalFailed, type(None)]
    assert await content(journal) == [("a", "v"), ("c", "v")]
    await journal.close()


@pytest.mark.parametrize("end", ["return", "raise SystemExit(0)"])
def test_the_interpreter_ends_without_a_close(tmp_path: Path, end: str) -> None:
    """aiosqlite's thread would hold it for ever; and what was begun is on disk."""
    path = tmp_path / "journal.sqlite"
    program = textwrap.dedent(f"""
        import asyncio
        from meteor.journal.journal import Entry
        from meteor.journal.sqlite_journal import SqliteJournal
        async def main():
            journal = await SqliteJournal.open({str(path)!r})
            await journal.append([Entry(b"a", b"1")])
            task = asyncio.ensure_future(journal.append([Entry(b"b", b"2")]))
            await asyncio.sleep(0)
            {end}
        asyncio.run(main())
    """)
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")

    async def read() -> None:
        journal = await SqliteJournal.open(path)
        assert await content(journal) == [("a", "1"), ("b", "2")]
        await journal.close()

    asyncio.run(read())


# --- the simulated disk alone ---


def test_a_crash_loses_what_was_not_durable_and_nothing_else() -> None:
    kernel = Kernel(seed=1)
    disk = SimDisk(kernel, write_latency_s=0.010)

    async def conversation() -> None:
        journal = disk.journal("peer")
        await journal.append([put("kept")])
        kernel.spawn(journal.append([put("lost"), put("kept", None)]))
        await kernel.sleep(0.005)
        disk.crash()
        again = disk.journal("peer")
        await kernel.sleep(1.0)
        assert await content(again) == [("kept", "v")]

    kernel.run_until(kernel.spawn(conversation()))


def test_a_write_takes_its_time() -> None:
    kernel = Kernel(seed=1)
    disk = SimDisk(kernel, write_latency_s=0.010)

    async def conversation() -> None:
        journal = disk.journal("peer")
        await journal.append([put("a")])
        assert kernel.now() == pytest.approx(0.010)
        tasks = [kernel.spawn(journal.append([put(str(n))])) for n in range(10)]
        for task in tasks:
            await task
        assert kernel.now() <= 0.031  # a commit under way, then one for all that waited

    kernel.run_until(kernel.spawn(conversation()))


def test_a_full_disk_is_a_typed_error_and_leaves_the_content() -> None:
    kernel = Kernel(seed=1)
    disk = SimDisk(kernel)

    async def conversation() -> None:
        journal = disk.journal("peer")
        await journal.append([put("a")])
        disk.full = True
        with pytest.raises(JournalFailed, match="full"):
            await journal.append([put("b")])
        disk.full = False
        assert await content(journal) == [("a", "v")]

    kernel.run_until(kernel.spawn(conversation()))
