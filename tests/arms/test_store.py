"""The store: versions, time to live and tombstones, against a dumb twin."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from arms import DATA, INTEREST, WATCH, Profile, Record, Store
from arms.store import KINDS

PROFILES = tuple(Profile.parse(text) for text in ("a=1", "a=1..9 b=x", "a=5 | b=y", "b=*"))
EVERYTHING = Profile.parse("a | b")


def record(stem: str = "d", version: int = 1, expires_s: float = 10.0, **fields: object) -> Record:
    made = Record(DATA, stem, "", version, stem, "store", PROFILES[0], b"", expires_s)
    return replace(made, **fields)  # type: ignore[arg-type]


def test_versions() -> None:
    store = Store()
    assert store.put(record(version=2), 0.0) == "stored"
    assert store.put(record(version=2), 0.0) == "same"
    assert store.put(record(version=1), 0.0) == "older"
    assert store.put(record(version=3, profile=PROFILES[3]), 0.0) == "stored"
    assert len(store) == 1
    assert store.selected(DATA, PROFILES[0], 0.0) == []
    assert store.get("", "d") == record(version=3, profile=PROFILES[3])


def test_the_same_version_with_more_life_extends_it() -> None:
    store = Store()
    store.put(record(expires_s=10.0), 0.0)
    assert store.put(record(expires_s=20.0), 5.0) == "same"
    assert store.put(record(expires_s=1.0), 5.0) == "same"
    assert store.expire(15.0) == []
    kept = store.get("", "d")
    assert kept is not None
    assert kept.expires_s == 20.0
    assert store.expire(20.0) == [kept]


def test_what_was_found_stays_the_version_that_was_found() -> None:
    """Who looks at it later, in slices, sees what matched, with its expiry as it is by then."""
    store, texts = Store(), [f"a={number} b=x" for number in range(40)]
    for number, text in enumerate(texts):
        store.put(record(f"d{number}", profile=Profile.parse(text)), 0.0)
    found = store.sift_selected(DATA, Profile.parse("a=0..39")).sure
    store.put(record("d0", version=2, profile=Profile.parse("a=77")), 0.0)
    store.remove("", "d1")
    store.put(record("new", profile=Profile.parse("a=1")), 0.0)
    store.put(record("d2", expires_s=99.0, profile=Profile.parse(texts[2])), 0.0)
    assert sorted(one.stem for one in found) == sorted(f"d{number}" for number in range(40))
    assert {one.version for one in found} == {1}
    assert {one.expires_s for one in found if one.stem == "d2"} == {99.0}
    assert [one.stem for one in found[:7]] == [one.stem for one in found][:7]


WIDEST = 1 << 200
INDEXES = st.none() | st.integers(0, WIDEST - 1) | st.integers(WIDEST - 20, WIDEST - 1)


@given(st.lists(INDEXES, min_size=20, max_size=60), st.lists(INDEXES, max_size=20),
       INDEXES, INDEXES)  # fmt: skip
def test_a_span_leaves_out_nothing_that_lives_in_it(
    lived: list[int | None], moved: list[int | None], one: int | None, other: int | None
) -> None:
    store, span = Store(), (min(one or 0, other or 0), max(one or 0, other or 0))
    for number, index in enumerate(lived * 2):  # enough for tables, and for a span to be worth it
        store.put(record(f"d{number}", index=index), 0.0)
    for number, index in enumerate(moved):
        store.update(record(f"d{number}", index=index))
    found = store.sift_selected(DATA, PROFILES[0], span).sure
    expected = {
        each.stem for each in store.records()
        if each.index is None or span[0] <= each.index <= span[1]
    }  # fmt: skip
    stems = [each.stem for each in found]
    assert expected <= set(stems)
    assert len(stems) == len(set(stems))


def test_a_span_leaves_out_most_of_what_lives_elsewhere() -> None:
    store = Store()
    for number in range(100):
        store.put(record(f"d{number}", index=number << 150), 0.0)
    found = store.sift_selected(DATA, PROFILES[0], (10 << 150, 19 << 150)).sure
    assert {one.index for one in found} == {number << 150 for number in range(10, 20)}


def test_owners_have_their_own_stems() -> None:
    store = Store()
    store.put(record(owner="me"), 0.0)
    store.put(record(owner="you", version=7), 0.0)
    assert len(store) == 2
    store.tombstone("me", "d", 100.0)
    assert store.put(record(owner="you", version=8), 0.0) == "stored"


def test_a_delete_wins_over_every_version_while_it_is_remembered() -> None:
    store = Store()
    store.put(record(), 0.0)
    assert store.tombstone("", "d", 50.0) == record()
    assert ("", "d") not in store
    assert store.put(record(version=99, expires_s=100.0), 0.0) == "deleted"
    assert store.is_deleted("", "d", 49.9)
    assert store.put(record(expires_s=100.0), 50.0) == "stored"
    assert store.tombstone("", "gone", 60.0) is None
    store.tombstone("", "gone", 40.0)
    assert store.is_deleted("", "gone", 59.0)
    assert store.expire(60.0) == []
    assert not store._tombstones


def test_the_expired_are_as_if_gone_before_they_are_swept() -> None:
    store = Store()
    store.put(record(version=5), 0.0)
    assert store.selected(DATA, EVERYTHING, 9.9) == [record(version=5)]
    assert store.selected(DATA, EVERYTHING, 10.0) == []
    assert store.put(record(version=1, expires_s=30.0), 10.0) == "stored"
    assert store.expire(11.0) == []
    assert len(store) == 1


def test_a_sweep_is_bounded() -> None:
    store = Store()
    for i in range(100):
        store.put(record(f"d{i}", expires_s=1.0 + i / 1000), 0.0)
    swept = store.expire(2.0, limit=30)
    assert [each.stem for each in swept] == [f"d{i}" for i in range(30)]
    assert len(store.expire(2.0)) == 70
    assert not store._deadlines


def test_renewals_leave_no_pile_of_deadlines() -> None:
    store = Store()
    store.put(record(), 0.0)
    for i in range(10_000):
        store.put(record(expires_s=10.0 + i), 0.0)
    assert len(store._deadlines) < 100
    assert store.expire(9_000.0) == []
    assert len(store.expire(10_009.0)) == 1


def test_a_record_can_change_its_kind_and_its_route() -> None:
    store = Store()
    store.put(record(), 0.0)
    interest = record(kind=INTEREST, action="notify_data", version=2)
    store.put(interest, 0.0)
    assert store.selected(DATA, EVERYTHING, 0.0) == []
    assert store.selecting(INTEREST, PROFILES[0], 0.0) == [interest]
    store.update(replace(interest, route="elsewhere", expires_s=99.0))
    assert store.selecting(INTEREST, PROFILES[0], 50.0)[0].route == "elsewhere"
    with pytest.raises(KeyError):
        store.update(record("unknown"))
    assert (store.count(DATA), store.count(INTEREST), store.count(WATCH)) == (0, 1, 0)


stems = st.sampled_from(("x", "y", "z"))
times = st.floats(0.0, 5.0)


class StoreMachine(RuleBasedStateMachine):
    """Any history of puts, deletes, removals and sweeps, beside plain dictionaries."""

    keys = Bundle("keys")

    def __init__(self) -> None:
        super().__init__()
        self.store = Store()
        self.now = 0.0
        self.kept: dict[tuple[str, str], Record] = {}
        self.dead: dict[tuple[str, str], float] = {}

    @rule(stem=stems, version=st.integers(1, 3), life=times, kind=st.sampled_from(KINDS),
          profile=st.sampled_from(PROFILES))  # fmt: skip
    def put(self, stem: str, version: int, life: float, kind: str, profile: Profile) -> None:
        new = record(stem, version, self.now + life, kind=kind, profile=profile)
        known = self.kept.get(new.key)
        if known is not None and known.expires_s <= self.now:
            known = None
        if self.dead.get(new.key, -1.0) > self.now:
            expected = "deleted"
        elif known is not None and version < known.version:
            expected = "older"
        elif known is not None and version == known.version:
            expected = "same"
            self.kept[new.key] = replace(known, expires_s=max(known.expires_s, new.expires_s))
        else:
            expected = "stored"
            self.kept[new.key] = new
        assert self.store.put(new, self.now) == expected

    @rule(stem=stems, life=times)
    def delete(self, stem: str, life: float) -> None:
        key = ("", stem)
        self.store.tombstone("", stem, self.now + life)
        self.dead[key] = max(self.now + life, self.dead.get(key, 0.0))
        self.kept.pop(key, None)

    @rule(stem=stems)
    def remove(self, stem: str) -> None:
        assert self.store.remove("", stem) == self.kept.pop(("", stem), None)

    @rule(wait=times)
    def pass_time(self, wait: float) -> None:
        self.now += wait

    @rule()
    def sweep(self) -> None:
        expired = {each.key for each in self.store.expire(self.now)}
        gone = {key for key, each in self.kept.items() if each.expires_s <= self.now}
        assert expired == gone
        for key in gone:
            del self.kept[key]

    @invariant()
    def the_same_records_are_found(self) -> None:
        assert {each.key: each for each in self.store.records()} == self.kept
        living = [each for each in self.kept.values() if each.expires_s > self.now]
        for kind in KINDS:
            of_kind = [each for each in living if each.kind == kind]
            for profile in (*PROFILES, EVERYTHING):
                selected = {each.key for each in self.store.selected(kind, profile, self.now)}
                assert selected == {e.key for e in of_kind if profile.matches(e.profile)}
                selecting = {each.key for each in self.store.selecting(kind, profile, self.now)}
                assert selecting == {e.key for e in of_kind if e.profile.matches(profile)}


TestStoreMachine = StoreMachine.TestCase


@given(st.lists(st.tuples(stems, st.integers(1, 3)), max_size=8), st.randoms(use_true_random=False))
def test_the_newest_version_is_kept_in_whatever_order_they_come(
    posts: list[tuple[str, int]], random: object
) -> None:
    shuffled = list(posts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for order in (posts, shuffled):
        store = Store()
        for stem, version in order:
            store.put(record(stem, version), 0.0)
        newest = {stem: max(v for s, v in posts if s == stem) for stem, _ in posts}
        assert {each.stem: each.version for each in store.records()} == newest
