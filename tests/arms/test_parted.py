"""A dictionary in parts beside Python's own, and deadlines beside a sorted list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import DATA, Profile, Record, Store
from arms.deadlines import Deadlines
from arms.index_places import Places
from arms.parted import Parted

steps = st.lists(st.tuples(st.sampled_from("spgd"), st.integers(0, 200), st.integers()))


@given(steps)
def test_it_is_a_dictionary(history: list[tuple[str, int, int]]) -> None:
    ours: Parted[int, int] = Parted()
    twin: dict[int, int] = {}
    for what, key, value in history:
        if what == "s":
            ours[key] = twin[key] = value
        elif what == "p":
            assert ours.pop(key, None) == twin.pop(key, None)
        elif what == "g":
            assert (ours.get(key), ours.get(key, 5)) == (twin.get(key), twin.get(key, 5))
            assert (key in ours) == (key in twin)
        elif key in twin:
            del ours[key], twin[key]
        assert len(ours) == len(twin)
    assert ours == twin
    assert sorted(ours) == sorted(twin)


@given(
    st.lists(st.floats(0, 9), max_size=20),
    st.lists(st.tuples(st.booleans(), st.floats(0, 12)), max_size=40),
)
def test_deadlines_come_in_order_however_they_came(
    at_once: list[float], history: list[tuple[bool, float]]
) -> None:
    subject = Deadlines()
    waiting = [(at + 2.0, ("", str(number))) for number, at in enumerate(at_once)]
    subject.load(np.array(at_once), [key for _, key in waiting])
    subject.put_off(2.0)
    counts = {key: at for at, key in waiting}
    now, number = 0.0, 0
    for noting, time in history:
        if noting:
            key = ("me", str(number % 5))  # the later ones renew the former
            number += 1
            counts[key] = time
            waiting.append((time, key))
            subject.note(time, key, counts.get)
            subject.thin_out(0 if number % 3 else 10)
            continue
        now = max(now, time)
        popped = []
        while (due := subject.pop_until(now)) is not None:
            popped.append(due)
        came = sorted(key for at, key in waiting if at <= now and counts.get(key) == at)
        assert set(came) <= set(popped)
        assert set(popped) <= {key for at, key in waiting if at <= now}
        waiting = [(at, key) for at, key in waiting if at > now]
        assert len(subject) <= len(waiting)


@given(
    st.sets(st.integers(0, 40), max_size=30),
    st.lists(st.tuples(st.sampled_from("pag"), st.integers(0, 60)), max_size=60),
)
def test_places_of_those_that_came_at_once_are_as_any(
    at_once: set[int], history: list[tuple[str, int]]
) -> None:
    numbers = sorted(at_once)
    ours = Places[int](lambda id: id if id <= 40 else -1 - (id > 50))
    assert ours.load(np.array(numbers, np.intp), 30, 3)
    twin: dict[int, int] = {number: 30 + 3 * at for at, number in enumerate(numbers)}
    for what, id in history:
        if what == "p":
            assert ours.pop(id) == twin.pop(id, None)
        elif what == "a" and id > 40:
            ours[id] = twin[id] = id * 1000
        assert ours.get(id) == twin.get(id)
        assert (id in ours, len(ours)) == (id in twin, len(twin))
    left = [numbers[at] for at in ours.there().tolist()]
    assert left == [id for id in twin if id <= 40]
    for lot in (range(41, 51), range(51, 61)):
        assert [id for id in ours.single() if id in lot] == [id for id in twin if id in lot]
    assert sorted(ours.single()) == sorted(id for id in twin if id > 40)


def test_the_places_of_what_a_store_keeps_are_never_made_anew_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arms.store._LOT", 100)
    store = Store()
    profile = Profile.parse("type=lamp")
    stems = [f"{at:026x}" for at in range(1000)]
    for stem in stems:
        store.put(Record(DATA, stem, "", 1, f"{stem}.a", "store", profile, b"", 9.0), 0.0)
    found = store.all_of(DATA)
    assert [record.stem for record in found[:]] == stems, "in the order in which they came"
    assert store._indexes[DATA]._subjects is not None
    lots = store._indexes[DATA]._subjects._places._lots
    assert max(map(len, lots.values())) == 100
    for stem in stems[:150]:
        store.remove("", stem)
    assert [len(lot) for lot in lots.values()] == [50, *[100] * 8]
