"""What `journal.Journal` promises holds in memory, on the simulated disk and in SQLite.

Each test is a conversation that runs in each world: real time for memory and SQLite, virtual time
for the simulated disk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meteor.journal.journal import Entry, JournalFailed
from tests.journal_worlds import CHECKSUMMED, WORLDS, Sqlite, World, content, put


@pytest.fixture(params=list(WORLDS))
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return WORLDS[request.param](tmp_path)


def test_entries_come_back_in_the_order_of_their_last_write(world: World) -> None:
    async def conversation() -> None:
        journal = await world.open()
        await journal.append([put("a", "1"), put("b", "2")])
        await journal.append([put("c", "3"), put("a", "4")])
        assert await content(journal) == [("b", "2"), ("c", "3"), ("a", "4")]
        await journal.close()

    world.run(conversation())


def test_one_key_is_read_as_a_scan_would_give_it(world: World) -> None:
    async def conversation() -> None:
        journal = await world.open()
        await journal.append([put("a", "1"), put("b", "2")])
        await journal.append([put("a", "3"), put("b", None)])
        assert await journal.read(b"a") == b"3"
        assert [await journal.read(key) for key in (b"b", b"c")] == [None, None]
        await journal.close()

    world.run(conversation())


def test_a_record_without_a_value_removes_its_key(world: World) -> None:
    async def conversation() -> None:
        journal = await world.open()
        await journal.append([put("a"), put("b"), put("b", None)])
        await journal.append([put("a", None), put("unknown", None)])
        assert await content(journal) == []
        await journal.close()

    world.run(conversation())


def test_an_empty_batch_is_durable_at_once(world: World) -> None:
    async def conversation() -> None:
        journal = await world.open()
        await journal.append([])
        assert await content(journal) == []
        await journal.close()

    world.run(conversation())


def test_an_empty_batch_waits_for_what_was_begun_before(world: World) -> None:
    """Peers use it as a barrier: one that returned at once let a loop of theirs spin for ever."""

    async def conversation() -> None:
        journal = await world.open()
        done: list[str] = []

        async def append(name: str, batch: list[Entry]) -> None:
            await journal.append(batch)
            done.append(name)

        tasks = [world.spawn(append("first", [put("a")])), world.spawn(append("barrier", []))]
        for task in reversed(tasks):
            await task
        assert done == ["first", "barrier"]
        await journal.close()

    world.run(conversation())


def test_appends_resolve_in_the_order_of_their_calls(world: World) -> None:
    async def conversation() -> None:
        journal = await world.open()
        order: list[int] = []

        async def append(number: int) -> None:
            await journal.append([put("last", str(number)), put(f"k{number}")])
            order.append(number)

        tasks = [world.spawn(append(number)) for number in range(20)]
        for task in tasks:
            await task
        assert order == list(range(20))
        assert dict(await content(journal))["last"] == "19"
        await journal.close()

    world.run(conversation())


def test_what_was_durable_is_there_when_opened_again(world: World) -> None:
    async def conversation() -> None:
        journal = await world.open()
        await journal.append([put("a", "1"), put("b", "2")])
        await journal.close()
        again = await world.open()
        assert await content(again) == [("a", "1"), ("b", "2")]
        await again.close()

    world.run(conversation())


def test_replace_swaps_the_whole_content_and_keeps_the_given_order(world: World) -> None:
    async def conversation() -> None:
        journal = await world.open()
        await journal.append([put("a"), put("b"), put("c")])
        await journal.replace([put("z", "1"), put("b", "2"), put("gone", None)])
        assert await content(journal) == [("z", "1"), ("b", "2")]
        assert not (await journal.scan()).incomplete
        await journal.append([put("z", "3")])
        assert await content(journal) == [("b", "2"), ("z", "3")]
        await journal.close()

    world.run(conversation())


def test_a_replace_between_appends_keeps_its_place(world: World) -> None:
    async def conversation() -> None:
        journal = await world.open()
        before = world.spawn(journal.append([put("before")]))
        swap = world.spawn(journal.replace([put("kept")]))
        after = world.spawn(journal.append([put("after")]))
        for task in (before, swap, after):
            await task
        assert await content(journal) == [("kept", "v"), ("after", "v")]
        await journal.close()

    world.run(conversation())


def test_journals_of_different_names_do_not_see_each_other(world: World) -> None:
    async def conversation() -> None:
        one, two = await world.open("one"), await world.open("two")
        await one.append([put("a", "1")])
        await two.append([put("a", "2")])
        await one.replace([put("b")])
        assert await content(one) == [("b", "v")]
        assert await content(two) == [("a", "2")]
        await one.close()
        await two.append([put("still")])
        assert await content(two) == [("a", "2"), ("still", "v")]
        await two.close()

    world.run(conversation())


def test_an_append_that_was_begun_outlives_its_caller(world: World) -> None:
    async def conversation() -> None:
        journal = await world.open()
        tasks = [world.spawn(journal.append([put("a", "1")]))]
        await world.turn()
        await journal.append([put("b", "2")])
        tasks.append(world.spawn(journal.append([put("c", "3")])))
        await world.turn()
        for task in tasks:
            task.cancel()
        await journal.close()
        again = await world.open()
        assert await content(again) == [("a", "1"), ("b", "2"), ("c", "3")]
        await again.close()

    world.run(conversation())


def test_close_waits_for_what_was_begun(world: World) -> None:
    async def conversation() -> None:
        journal = await world.open()
        tasks = [world.spawn(journal.append([put(f"{n}")])) for n in range(5)]
        await world.turn()
        await journal.close()
        for task in tasks:
            await task
        again = await world.open()
        assert len(await content(again)) == 5
        await again.close()

    world.run(conversation())


def test_a_closed_journal_refuses(world: World) -> None:
    async def conversation() -> None:
        journal = await world.open()
        await journal.close()
        await journal.close()
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: journal.append([put("a")]),
            lambda: journal.append([]),
            lambda: journal.replace([]),
            journal.scan,
        ]
        for call in calls:
            with pytest.raises(JournalFailed):
                await call()

    world.run(conversation())


@pytest.mark.parametrize("kind", CHECKSUMMED)
def test_a_damaged_record_is_set_aside_and_named(kind: str, tmp_path: Path) -> None:
    world: World = WORLDS[kind](tmp_path)  # type: ignore[abstract]

    async def fill() -> None:
        journal = await world.open()
        await journal.append([put("a"), put("b"), put("c")])
        await journal.close()

    async def read() -> None:
        journal = await world.open()
        scan = await journal.scan()
        assert [entry.key for entry in scan.entries] == [b"a", b"c"]
        assert scan.damaged == (b"b",)
        assert [await journal.read(key) for key in (b"a", b"b")] == [b"v", None]
        await journal.append([put("b", "new")])
        scan = await journal.scan()
        assert [entry.key for entry in scan.entries] == [b"a", b"c", b"b"]
        assert scan.damaged == ()
        await journal.close()

    world.run(fill())
    world.damage(b"b")
    world.run(read())


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["append", "replace"]),
        st.lists(
            st.tuples(st.sampled_from("abcd"), st.none() | st.sampled_from("xyz")), max_size=4
        ),
        st.booleans(),
    ),
    max_size=12,
)


@pytest.mark.parametrize("kind", ["memory", "simulated"])
@given(operations=OPERATIONS)
def test_any_sequence_leaves_what_a_dictionary_would(kind: str, operations: Any) -> None:
    check_against_dictionary(WORLDS[kind](Path()), operations)


@given(operations=OPERATIONS)
def test_any_sequence_leaves_what_a_dictionary_would_in_sqlite(
    tmp_path_factory: pytest.TempPathFactory, operations: Any
) -> None:
    check_against_dictionary(Sqlite(tmp_path_factory.mktemp("journal")), operations)


def check_against_dictionary(world: Any, operations: Any) -> None:
    """Calls overlap where the drawn flag says so: their order must still hold."""
    twin: dict[str, str] = {}

    async def conversation() -> None:
        journal = await world.open()
        tasks = []
        for verb, drawn, wait in operations:
            pairs = drawn if verb == "append" else list(dict(drawn).items())
            entries = [put(key, value) for key, value in pairs]
            if verb == "replace":
                twin.clear()
            for key, value in pairs:
                twin.pop(key, None)
                if value is not None:
                    twin[key] = value
            tasks.append(world.spawn(getattr(journal, verb)(entries)))
            if wait:
                await tasks[-1]
        for task in tasks:
            await task
        assert await content(journal) == list(twin.items())
        await journal.close()

    world.run(conversation())
