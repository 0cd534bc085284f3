"""The change log beside a list of everything that ever happened."""

from __future__ import annotations

from random import Random

import pytest

from meteor.keeping import change_log
from meteor.keeping.change_log import ChangeLog


@pytest.mark.parametrize("seed", range(12))
def test_the_log_is_what_a_plain_list_says(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_log, "_BLOCK", 8)
    random, log = Random(seed), ChangeLog()
    last: dict[tuple[str, str], int] = {}
    share = random.choice([0.1, 0.5, 0.9])
    for _ in range(600):
        key = ("", str(random.randrange(60)))
        if key in last:
            log.drop(last.pop(key))
        if random.random() >= share:
            last[key] = log.add(key)
        cursor = random.randrange(log.newest + 2)
        expected = sorted((number, key) for key, number in last.items() if number > cursor)
        assert list(log.after(cursor)) == expected
    assert len(log) == len(last)
    kept = sum(len(block.changes) for block in log._blocks)
    assert kept <= 4 * len(last) + 2 * 8


@pytest.mark.parametrize("count", [0, 1, 8, 9, 50])
def test_many_changes_at_once_are_many_one_by_one(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_log, "_BLOCK", 8)
    log, twin = ChangeLog(), ChangeLog()
    keys = [("", str(at)) for at in range(count)]
    first = log.extend(keys)
    assert [first + at for at in range(count)] == [twin.add(key) for key in keys]
    for each in (log, twin):
        for number in range(1, count, 2):
            each.drop(number)
        each.add(("", "later"))
    assert list(log.after(0)) == list(twin.after(0))
    assert (log.newest, len(log)) == (twin.newest, len(twin))
