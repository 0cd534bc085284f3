"""Index, dense scan and tree agree on what a store answers: through posts, replacements, renewals,
deletes, expiries before and after their sweep, and loads as after a restart."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from arms import DATA, INTEREST, Kind, Profile, ProfileIndex, Record, Store
from arms.profile_index import Role
from tests.arms.dense_scan import DenseScan
from tests.arms.strategies import SPACE, typed_roots

selectors = typed_roots().map(lambda root: Profile.from_element(root, SPACE))
subjects = typed_roots(selector=False).map(lambda root: Profile.from_element(root, SPACE))
STEMS = 9
ROLES: dict[Kind, Role] = {DATA: "subjects", INTEREST: "selectors"}

steps = st.lists(
    st.one_of(
        st.tuples(st.just("post"), st.integers(0, STEMS - 1), subjects, st.integers(1, 6)),
        st.tuples(st.just("ask"), st.integers(0, STEMS - 1), selectors, st.integers(1, 6)),
        st.tuples(st.just("delete"), st.integers(0, STEMS - 1)),
        st.tuples(st.just("later"), st.integers(1, 3)),
        st.tuples(st.just("sweep"), st.integers(1, 4)),
        st.just(("restart",)),
    ),
    max_size=25,
)


def new_store() -> Store:
    """A store whose index has tables from the first profile on."""
    store = Store()
    for kind, role in ROLES.items():
        store._indexes[kind] = ProfileIndex(role, scan_above=0)
    return store


class Twin:
    """What is kept, in dictionaries; the oracles are made anew for every question."""

    def __init__(self) -> None:
        self.store = new_store()
        self.kept: dict[int, Record] = {}
        self.now = 0.0
        self.version = 0

    def put(self, number: int, kind: Kind, profile: Profile, ttl: float) -> None:
        self.version += 1
        record = Record(
            kind, str(number), "", self.version, str(number), "store", profile, b"", self.now + ttl
        )
        assert self.store.put(record, self.now) == "stored"
        self.kept[number] = record

    def step(self, step: tuple[object, ...]) -> None:
        match step:
            case ("post", int(number), Profile() as profile, int(ttl)):
                self.put(number, DATA, profile, ttl)
            case ("ask", int(number), Profile() as profile, int(ttl)):
                self.put(number, INTEREST, profile, ttl)
            case ("delete", int(number)):
                self.store.remove("", str(number))
                self.kept.pop(number, None)
            case ("later", int(seconds)):
                self.now += seconds
            case ("sweep", int(limit)):
                for gone in self.store.expire(self.now, limit):
                    assert not gone.lives(self.now)
            case _:
                living = [record for record in self.kept.values() if record.lives(self.now)]
                self.kept = {int(record.stem): record for record in living}
                self.store = new_store()
                self.store.load(living)

    def check(self, asked: Profile) -> None:
        for kind, role in ((DATA, "subjects"), (INTEREST, "selectors")):
            living = {
                number: record.profile
                for number, record in self.kept.items()
                if record.kind == kind and record.lives(self.now)
            }
            dense = DenseScan(role)
            for number, profile in living.items():
                dense.add(number, profile)
            if role == "subjects":
                found = self.store.selected(kind, asked, self.now)
                tree = {n for n, profile in living.items() if asked.matches(profile)}
                scan = set(dense.match(asked))
            else:
                found = self.store.selecting(kind, asked, self.now)
                tree = {n for n, profile in living.items() if profile.matches(asked)}
                scan = set(dense.match_subject(asked))
            assert sorted(int(record.stem) for record in found) == sorted(tree)
            assert scan == tree


@given(steps, st.lists(st.one_of(selectors, subjects), min_size=1, max_size=3))
@settings(max_examples=80)
def test_a_store_says_what_both_oracles_say(
    history: list[tuple[object, ...]], asked: list[Profile]
) -> None:
    twin = Twin()
    for at, step in enumerate(history):
        twin.step(step)
        if at % 5 == 0:
            twin.check(asked[0])
    for profile in asked:
        twin.check(profile)
