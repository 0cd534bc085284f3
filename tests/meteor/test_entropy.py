"""A primary and its copy compare, and both have what either had.

Two dictionaries merged by a rule written down twice are the twin; messages travel as bytes.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meteor.copies.entropy_comparison import Differences
from meteor.copies.entropy_schedule import CompareSchedule, EntropyConfig, Outcome
from meteor.copies.entropy_source import Target
from meteor.keeping.fingerprints import EXPIRING_MS
from meteor.keeping.placement import GONE, MOVED, Key, key_of
from meteor.wire.operations import Carried
from squid import Box, Intervals, merge
from tests.meteor.entropy_world import (
    CURVE,
    EVERYTHING,
    DictSource,
    World,
    counts_more,
    placed_of,
    point,
    record,
)
from tests.meteor.test_fingerprints import INTERVALS, drawn_box


def drawn_record(drawn: random.Random, stems: int) -> Carried:
    """Few stems, so that both sides know many of the same records in other states."""
    number = drawn.randrange(stems)
    kind = drawn.choice(["data", "data", "interest", GONE, MOVED])
    home = random.Random(number if drawn.random() < 0.9 else drawn.randrange(10))
    return record(
        f"s{number}",
        drawn_box(home),
        kind=kind,
        owner=drawn.choice(["", "", "me"]),
        version=drawn.randrange(1, 4),
        renewed=drawn.choice([0, 0, 5, 6]),
        blob=drawn.randbytes(drawn.choice([0, 10, 300])),
    )


def merged(mine: DictSource, theirs: DictSource, intervals: Intervals) -> dict[Key, Carried]:
    """What `mine` is to be: the states of theirs that live in the intervals and count more."""
    result = {key: placed.carried for key, placed in mine.records.items()}
    for key, placed in theirs.records.items():
        inside = any(CURVE.has_match(placed.box, first, last) for first, last in intervals)
        if inside and counts_more(placed.carried, result.get(key)):
            result[key] = placed.carried
    return result


def states(records: dict[Key, Carried]) -> dict[Key, tuple[str, str, int, int]]:
    plain = DictSource.__new__(DictSource)
    plain.records = {key: placed_of(one) for key, one in records.items()}
    return plain.states


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 300), st.integers(1, 400), INTERVALS)
def test_after_a_comparison_both_have_what_counts_most(
    seed: int, count: int, stems: int, intervals: Intervals
) -> None:
    drawn, world = random.Random(seed), World()
    for holder in (world.primary, world.copy):
        for _ in range(count):
            holder.source.put(drawn_record(drawn, stems))
    for _ in range(count):  # what both have
        one = drawn_record(drawn, stems)
        for holder in (world.primary, world.copy):
            holder.source.put(one)
    expected = [
        states(merged(world.primary.source, world.copy.source, intervals)),
        states(merged(world.copy.source, world.primary.source, intervals)),
    ]
    found = world.compare(intervals)
    print(f"seed {seed}: {found}, {world.network.by_type}")
    assert [world.primary.source.states, world.copy.source.states] == expected
    assert found.received == world.primary.source.admitted
    assert found.sent == world.copy.source.admitted
    assert found.whole
    again = world.compare(intervals)
    assert (again.sent, again.received) == (0, 0)


def test_all_of_it_is_equal_afterwards() -> None:
    """Where no record lives in two places, nothing is left to differ."""
    drawn, world = random.Random(5), World()
    for holder in (world.primary, world.copy):
        for number in range(500):
            box = drawn_box(random.Random(number))
            if drawn.random() < 0.8:
                made = record(f"s{number}", box, version=drawn.randrange(3))
                holder.source.put(made if drawn.random() < 0.9 else replace(made, kind=GONE))
    found = world.compare()
    assert found.sent
    assert found.received
    assert world.primary.source.states == world.copy.source.states
    assert world.compare() == Differences()


def test_a_copy_that_lost_everything_is_filled_again() -> None:
    world = World()
    for number in range(1_000):
        world.primary.source.put(record(f"s{number}", point(number), blob=b"x" * 300))
    assert world.compare() == Differences(sent=1_000, seen=1_000)
    assert world.copy.source.states == world.primary.source.states


def test_a_primary_that_lost_everything_is_filled_again() -> None:
    world = World()
    for number in range(1_000):
        world.copy.source.put(record(f"s{number}", point(7), blob=b"x" * 300))
    assert world.compare() == Differences(received=1_000, seen=1_000)
    assert world.copy.source.states == world.primary.source.states


def test_no_message_is_longer_than_a_page() -> None:
    """Ids and owners of the greatest length, all different; a large record travels alone."""
    world = World()
    wide = Box((0, 0), (200, 200))
    for number in range(700):
        stem = f"{number:064}"
        for holder in (world.primary, world.copy):
            box = wide if number % 2 else point(number)
            mine = record(stem + "", box, owner=f"{holder.contact.id:064}", blob=b"y" * 500)
            holder.source.put(mine)
    world.compare()
    assert world.primary.source.states == world.copy.source.states
    assert world.network.longest <= 66_000
    world.primary.source.put(record("large", point(1), blob=b"z" * 1_000_000))
    world.compare()
    assert world.primary.source.states == world.copy.source.states


def test_what_is_not_compared_stays_where_it_is() -> None:
    world = World()
    world.primary.source.put(record("a", point(10)), record("b", point(20)))
    assert world.compare(((0, 15),)) == Differences(sent=1, seen=1)
    assert list(world.copy.source.records) == [("", "a")]


def test_many_intervals_are_compared_some_at_a_time() -> None:
    world = World()
    for index in range(0, 2_000, 2):
        world.primary.source.put(record(f"s{index}", point(index)))
    some = merge((index, index) for index in range(0, 400, 4))
    assert world.compare(some).sent == 100
    assert world.compare(()) == Differences()


# -- renewals, expiry, changes under way


def test_a_renewal_that_a_copy_missed_reaches_it() -> None:
    world = World()
    first = record("x", point(5), ttl_ms=60_000)
    renewed = replace(first, ttl_ms=600_000, renewed=12)
    world.primary.source.put(renewed)
    world.copy.source.put(first)
    assert world.compare() == Differences(sent=1, seen=2)
    kept = world.copy.source.records["", "x"].carried
    assert kept.renewed == 12
    assert kept.ttl_ms == pytest.approx(600_000, abs=20)


def test_expiries_that_differ_a_little_are_no_difference() -> None:
    world = World(ahead_ms=1_000_000)
    world.primary.source.put(record("x", point(5), ttl_ms=60_000))
    world.copy.source.put(record("x", point(5), ttl_ms=59_400))
    assert world.compare() == Differences()


@pytest.mark.parametrize("ahead_ms", [0, -86_400_000, 86_400_000])
def test_what_has_expired_at_one_side_does_not_come_back(ahead_ms: int) -> None:
    """The copy's clock is slow: it keeps the record for a while after the primary swept it."""
    world = World(ahead_ms=ahead_ms)
    world.primary.source.put(record("x", point(5), ttl_ms=60_000))
    world.copy.source.put(record("x", point(5), ttl_ms=90_000))
    for at_s in (59.0, 61.0, 85.0, 89.0):
        world.run_until(at_s)
        world.primary.source.sweep()
        world.copy.source.sweep()
        found = world.compare()
        assert (found.sent, found.received) == (0, 0)
        assert "SettleStates" not in world.network.by_type, "there is nothing to talk about"
        assert bool(world.primary.source.records) is (at_s < 60)
    world.run_until(91.0)
    world.copy.source.sweep()
    assert world.compare() == Differences()


def test_what_is_about_to_expire_is_not_moved_any_more() -> None:
    world = World()
    for holder, stem in ((world.primary, "p"), (world.copy, "c")):
        holder.source.put(record(stem, point(5), ttl_ms=EXPIRING_MS - 100))
    found = world.compare()
    assert (found.sent, found.received, found.seen) == (0, 0, 2)
    assert "GiveRecords" not in world.network.by_type
    assert "FetchRecords" not in world.network.by_type


def test_what_is_being_changed_is_left_alone() -> None:
    """A write reaches both in its own way, and one side a little earlier."""
    world = World()
    new = record("x", point(5), version=2)
    world.copy.source.put(new)
    world.primary.source.begun.add(key_of(new))
    assert world.compare() == Differences(seen=1)
    assert not world.primary.source.records
    world.primary.source.begun.clear()
    assert world.compare() == Differences(received=1, seen=1)
    old = record("y", point(6), version=1)
    world.primary.source.put(old)
    world.primary.source.begun.add(key_of(old))
    assert world.compare() == Differences(seen=1)
    assert key_of(old) not in world.copy.source.records


def test_a_delete_wins_whatever_version_it_met() -> None:
    world = World()
    world.primary.source.put(record("x", point(5), version=9), record("y", point(6), kind=GONE))
    world.copy.source.put(record("x", point(5), version=1, kind=GONE), record("y", point(6)))
    world.compare()
    assert {one.carried.kind for one in world.primary.source.records.values()} == {GONE}
    assert world.primary.source.states == world.copy.source.states


@pytest.mark.parametrize("at_primary", [True, False])
def test_an_earlier_version_at_another_place_is_told_of(at_primary: bool) -> None:
    """Who has the later one has it elsewhere, so that it is no state of what is compared."""
    world, part = World(CURVE), ((0, 99),)
    mine, other = world.primary.source, world.copy.source
    if not at_primary:
        mine, other = other, mine
    old, new = record("s", point(7), version=1), record("s", point(200), version=2)
    mine.put(old)
    other.put(new)
    assert world.compare(part).seen == 1
    ((state, by),) = other.earlier
    assert (state.id, state.version, by.id) == (old.id, 1, new.id)
    assert mine.earlier == []
    other.put(replace(new, version=1))
    other.earlier.clear()
    world.compare(part)
    assert other.earlier == [], "nobody knows which is the later"


def test_two_deletes_of_one_record_are_no_difference() -> None:
    world = World()
    world.primary.source.put(record("x", point(5), version=9, kind=GONE))
    world.copy.source.put(record("x", point(5), version=8, kind=GONE))
    assert world.compare() == Differences()


# -- in the course of time


def test_targets_are_compared_soon_then_rarely() -> None:
    config, target = EntropyConfig(), Target(World().copy.contact, EVERYTHING)
    schedule = CompareSchedule(config, random.Random(1))
    assert schedule.first() is None
    schedule.follow([target], 100.0)
    (first, due_s), rest_s = schedule.first() or (None, 0.0), []
    assert first == target
    assert 100.0 <= due_s <= 100.0 + config.soon_s
    outcomes: list[Outcome] = ["equal", "healed", "fruitless", "fruitless"]
    outcomes += ["failed"] * 3
    for outcome in outcomes:
        schedule.concluded(target, outcome, 0.0)
        rest_s.append((schedule.first() or (None, 0.0))[1])
    expected = [15.0, 1.0, 30.0, 60.0, 120.0, 240.0, 240.0]
    assert rest_s == [pytest.approx(one, rel=0.21) for one in expected]
    schedule.concluded(target, "equal", 0.0)
    assert (schedule.first() or (None, 0.0))[1] < 20.0
    later = replace(target, epoch=1)
    schedule.follow([later], 1_000.0)
    (first, due_s) = schedule.first() or (None, 0.0)
    assert first == later
    assert due_s == pytest.approx(1_000.5, abs=0.5)
    schedule.concluded(target, "equal", 0.0)
    schedule.follow([], 1_000.0)
    assert schedule.first() is None


def test_a_new_copy_is_compared_at_once_and_damage_heals_by_itself() -> None:
    world = World()
    for number in range(200):
        made = record(f"s{number}", point(number * 50))
        world.primary.source.put(made)
        world.copy.source.put(made)
    world.kernel.spawn(world.primary.entropy.watch_over())
    world.run_for(30.0)
    assert world.network.sent_bytes == 0, "there is no copy yet"
    world.primary.source.copies = [Target(world.copy.contact, EVERYTHING)]
    world.primary.entropy.stir()
    world.run_for(1.5)
    assert set(world.network.by_type) == {"CompareHoldings", "Compared"}
    one = world.network.by_type["CompareHoldings"]
    world.copy.source.lose(("", "s3"))
    world.primary.source.lose(("", "s5"))
    world.run_for(22.0)
    assert world.network.by_type["CompareHoldings"] > 2.5 * one, "healed, then soon looked at again"
    assert len(world.primary.source.records) == len(world.copy.source.records) == 200
    before = world.network.sent_bytes
    world.run_for(600.0)
    at_rest = (world.network.sent_bytes - before) / 600
    print(f"{at_rest:.1f} B/s for one copy at rest")
    assert at_rest < 20


def test_a_copy_that_is_gone_is_asked_ever_more_rarely() -> None:
    world = World()
    world.primary.source.copies = [Target(world.copy.contact, EVERYTHING)]
    world.copy.runtime.close()
    world.kernel.spawn(world.primary.entropy.watch_over())
    world.run_for(600.0)
    assert world.network.by_type["CompareHoldings"] < 8 * 120


def test_a_primary_that_was_passed_over_meanwhile_goes_on_with_others() -> None:
    world = World()
    world.copy.source.put(record("x", point(5)))
    world.primary.source.superseded = True
    world.primary.source.copies = [Target(world.copy.contact, EVERYTHING)]
    world.kernel.spawn(world.primary.entropy.watch_over())
    world.run_for(10.0)
    assert not world.primary.source.records
    world.primary.source.superseded = False
    world.run_for(60.0)
    assert world.primary.source.records


# -- what it costs


def test_bytes_for_ten_thousand_records() -> None:
    world, drawn = World(), random.Random(1)
    keys = []
    for number in range(10_000):
        box = drawn_box(drawn) if number % 20 == 0 else point(drawn.randrange(CURVE.size))
        made = record(f"{drawn.getrandbits(128):032x}", box, blob=b"x" * 200)
        world.primary.source.put(made)
        world.copy.source.put(made)
        keys.append(key_of(made))
    for differing, most in ((0, 100), (1, 2_500), (100, 90_000)):
        world.copy.source.lose(*drawn.sample(keys, differing))
        world.network.reset()
        assert world.compare().sent == differing
        print(f"{differing} of 10,000 differ: {world.network.sent_bytes} B")
        assert world.network.sent_bytes <= most
