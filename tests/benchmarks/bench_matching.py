"""What a profile costs to read, carry and match, and the index beside asking every tree in the same
run.  One JSON line each; nothing is asserted about time."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from time import perf_counter

import pytest

from arms import Profile, ProfileIndex, between, profile
from squid import KeywordSpace, Number, Word

pytestmark = pytest.mark.benchmark
SEED = 1
SPACE = KeywordSpace(
    "building", [Word("type"), Number("temperature", -40, 125), Number("humidity", 0, 100)]
)
TEXT = "type=temperature temperature=21.5 humidity=40 room=832 wind(speed=3 direction=north)"


def report(**figures: object) -> None:
    print(json.dumps({"benchmark": "matching", **figures}), flush=True)


def microseconds(work: Callable[[], object], runs: int, repeats: int = 7) -> float:
    """One run's time in the quickest of a few series: a shared machine only ever adds."""
    taken = []
    for _ in range(repeats):
        start = perf_counter()
        for _ in range(runs):
            work()
        taken.append(perf_counter() - start)
    return round(min(taken) / runs * 1e6, 2)


def test_one_profile():
    subject = Profile.parse(TEXT, SPACE)
    packed, document = subject.pack(), subject.to_xml()
    selector = Profile.parse("type=temp* temperature=20..30", SPACE)
    report(
        what="one profile of 7 elements, in us",
        parse=microseconds(lambda: Profile.parse(TEXT, SPACE), 500),
        pack=microseconds(subject.pack, 2000),
        unpack=microseconds(lambda: Profile.unpack(packed), 2000),
        from_xml=microseconds(lambda: Profile.from_xml(document, SPACE), 300),
        to_xml=microseconds(subject.to_xml, 300),
        terms=microseconds(lambda: subject.subject_terms(SPACE), 2000),
        match_by_tree=microseconds(lambda: selector.matches(subject), 5000),
    )


def reading(random: Random) -> Profile:
    return profile(
        {
            "type": f"kind{random.randrange(50)}",
            "temperature": round(random.uniform(-40, 125), 2),
            "humidity": round(random.uniform(0, 100), 2),
            "room": f"r{random.randrange(300)}",
        }
    ).typed(SPACE)


def interest(random: Random) -> Profile:
    low = random.uniform(-40, 115)
    wanted = {"type": f"kind{random.randrange(50)}", "temperature": between(low, low + 10)}
    return profile(wanted).typed(SPACE)


@pytest.mark.parametrize("stored", [100, 10_000, 100_000])
def test_the_index(stored):
    random = Random(SEED)
    readings = [reading(random) for _ in range(stored)]
    interests = [interest(random) for _ in range(stored)]
    subjects, selectors = ProfileIndex[int](), ProfileIndex[int]()
    for at in range(stored):
        subjects.add(at, readings[at])
        selectors.add(at, interests[at])
    asked, arriving = [interest(random) for _ in range(50)], [reading(random) for _ in range(50)]
    found = sum(len(subjects.match(each)) for each in asked)
    hit = sum(len(selectors.match_subject(each)) for each in arriving)
    trees = readings[:10_000]
    by_tree = microseconds(lambda: [each for each in trees if asked[0].matches(each)], 1, 3)
    report(
        what="match", stored=stored, share=round(found / 50 / stored, 5),
        interest_arrives_us=microseconds(lambda: [subjects.match(each) for each in asked], 1) / 50,
        data_arrives_us=microseconds(
            lambda: [selectors.match_subject(each) for each in arriving], 1
        ) / 50,
        matched=[found / 50, hit / 50],
        by_tree_us=round(by_tree * stored / len(trees)),
        add_us=microseconds(lambda: subjects.add(-1, readings[0]), 200),
    )  # fmt: skip
