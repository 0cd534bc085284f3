"""The reactive behaviours: the action matrix row by row, and the report's figure 2.2."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from arms import ACTIONS, DATA, INTEREST, WATCH, Profile, Record, Rendezvous, Return, Store, Tell
from arms.action_matrix import FEW, shuffled
from arms.rendezvous import Reaction
from tests.arms.posting import post


def gone(of: Record, about: Record) -> Reaction:
    return Tell(of, about, "gone")


# -- the matrix


def test_the_table_of_actions() -> None:
    rows = {
        name: (action.keeps, action.is_subject, action.meets, action.deletes)
        for name, action in ACTIONS.items()
    }
    assert rows == {
        "store": (DATA, True, (INTEREST,), ()),
        "retrieve": (INTEREST, False, (DATA, WATCH), ()),
        "notify_data": (INTEREST, False, (DATA, WATCH), ()),
        "notify_interest": (WATCH, True, (INTEREST,), ()),
        "delete_data": (None, False, (), (DATA,)),
        "delete_interest": (None, False, (), (INTEREST, WATCH)),
    }
    assert {name: action.ttl_s for name, action in ACTIONS.items() if action.ttl_s} == {
        "store": 3600.0, "notify_data": 300.0, "notify_interest": 300.0,
    }  # fmt: skip


def test_store_tells_interests(peer: Rendezvous) -> None:
    asked = post("i", "notify_data", "p1=a p2=*")
    standing = post("r", "retrieve", "p1=*")
    other = post("o", "notify_data", "p1=z")
    for record in (asked, standing, other, post("w", "notify_interest")):
        peer.arrive(record, 0.0)
    data = post("d", "store")
    told = peer.arrive(data, 0.0)
    assert sorted(told, key=lambda t: t.to.stem) == [  # type: ignore[union-attr]
        Tell(asked, data, "match"), Tell(standing, data, "match"),
    ]  # fmt: skip


def test_retrieve_once_gets_the_data_and_is_not_kept(peer: Rendezvous) -> None:
    data = post("d", "store")
    peer.arrive(data, 0.0)
    once = post("r", "retrieve", ttl=0.0)
    arrival = peer.accept(once, 0.0)
    assert (arrival.outcome, arrival.reactions) == ("passed", [Return(data)])
    assert len(peer.store) == 1


@given(st.integers(0, 2**32), st.integers(0, 30))
def test_a_question_comes_to_what_an_arrival_comes_to(seed: int, count: int) -> None:
    """In one piece what is sure, step by step the rest, against `accept` which takes all alike."""
    peer, drawn = Rendezvous(Store(), Random(seed)), Random(seed)
    texts = ["p1=a", "p1=a p2=b", "p1=b", "p1=a p1=b", "p2=b (p1=a)", "//p1=a"]
    for number in range(count):
        action = drawn.choice(["store", "notify_data", "notify_interest"])
        peer.arrive(post(f"s{number}", action, drawn.choice(texts)), 0.0)
    left = {f"s{number}" for number in range(count) if drawn.random() < 0.2}

    def belongs(_: Record, other: Record) -> bool:
        return other.stem not in left

    question = post("q", "retrieve", drawn.choice(texts), ttl=0.0)
    asked = peer.ask(question, 0.0, belongs)
    sent = [Return(one) for one in asked.sure if one.stem not in left]
    came = [*sent, *(step for step in asked.steps if step is not None)]
    expected = peer.accept(question, 0.0, belongs).reactions

    def sort_key(reaction: Reaction) -> str:
        return repr(reaction)

    assert sorted(came, key=sort_key) == sorted(expected, key=sort_key)
    assert all(one.kind == DATA for one in asked.sure)


@given(st.integers(0, 2**32), st.integers(FEW + 1, FEW + 50))
def test_many_numbers_are_shuffled_as_a_list_would_be(seed: int, count: int) -> None:
    drawn, numbers = Random(seed), list(range(count))
    for at in range(count - 1):
        other = drawn.randrange(at, count)
        numbers[at], numbers[other] = numbers[other], numbers[at]
    assert list(shuffled(count, Random(seed))) == numbers


@given(st.integers(0, 2**32), st.integers(0, FEW))
def test_few_numbers_are_shuffled_by_their_draws(seed: int, count: int) -> None:
    drawn = Random(seed)
    draws = [drawn.random() for _ in range(count)]
    numbers = list(shuffled(count, Random(seed)))
    assert sorted(numbers) == list(range(count))
    assert [draws[number] for number in numbers] == sorted(draws)


def test_retrieve_once_is_seen_to_come_and_go(peer: Rendezvous) -> None:
    watch = post("w", "notify_interest")
    peer.arrive(watch, 0.0)
    once = post("r", "retrieve", ttl=0.0)
    assert peer.arrive(once, 0.0) == [Tell(watch, once, "appeared"), gone(watch, once)]


def test_standing_retrieve_gets_what_lives_and_what_comes(peer: Rendezvous) -> None:
    first, second = post("d1", "store"), post("d2", "store")
    standing = post("r", "retrieve", "p1=a")
    peer.arrive(first, 0.0)
    assert peer.arrive(standing, 0.0) == [Return(first)]
    assert peer.arrive(second, 0.0) == [Tell(standing, second, "match")]
    assert peer.arrive(post("d3", "store"), 100.0) == []


def test_notify_data_hears_of_what_lives_first_and_watches_hear_of_it(peer: Rendezvous) -> None:
    data, watch = post("d", "store"), post("w", "notify_interest")
    peer.arrive(data, 0.0)
    peer.arrive(watch, 0.0)
    interest = post("i", "notify_data", "p1=a")
    assert peer.arrive(interest, 0.0) == [
        Tell(interest, data, "match"), Tell(watch, interest, "appeared"),
    ]  # fmt: skip


def test_notify_interest_tells_the_watch_only(peer: Rendezvous) -> None:
    interest, standing = post("i", "notify_data"), post("r", "retrieve")
    peer.arrive(interest, 0.0)
    peer.arrive(standing, 0.0)
    peer.arrive(post("d", "store"), 0.0)
    watch = post("w", "notify_interest")
    told = peer.arrive(watch, 0.0)
    assert sorted(told, key=lambda t: t.about.stem) == [  # type: ignore[union-attr]
        Tell(watch, interest, "appeared"), Tell(watch, standing, "appeared"),
    ]  # fmt: skip


def test_a_watch_is_never_data_and_never_meets_a_watch(peer: Rendezvous) -> None:
    peer.arrive(post("w", "notify_interest"), 0.0)
    assert peer.arrive(post("w2", "notify_interest"), 0.0) == []
    assert [r for r in peer.arrive(post("r", "retrieve"), 0.0) if isinstance(r, Return)] == []
    told = peer.arrive(post("i", "notify_data"), 0.0)
    assert {reaction.kind for reaction in told if isinstance(reaction, Tell)} == {"appeared"}


def test_an_interest_never_meets_an_interest(peer: Rendezvous) -> None:
    peer.arrive(post("i", "notify_data"), 0.0)
    assert peer.arrive(post("j", "notify_data"), 0.0) == []


# -- figure 2.2


def test_figure_2_2_step_by_step(peer: Rendezvous) -> None:
    watch = post("c1-watch", "notify_interest", "p1=a p2=b")
    assert peer.arrive(watch, 0.0) == []

    interest = post("c2-interest", "notify_data", "p1=a p2=*")
    assert peer.arrive(interest, 1.0) == [Tell(watch, interest, "appeared")]

    data = post("c1-data", "store", "p1=a p2=b", blob=b"21.5")
    assert peer.arrive(data, 2.0) == [Tell(interest, data, "match")]

    retrieve = post("c2-retrieve", "retrieve", "p1=a p2=*", ttl=0.0)
    to_c2, *to_c1 = peer.arrive(retrieve, 3.0)
    assert to_c2 == Return(data)
    assert to_c1 == [Tell(watch, retrieve, "appeared"), gone(watch, retrieve)]

    removed = peer.delete(Profile.parse("p1=a p2=b"), {DATA}, "", "within", False, 4.0)
    assert (removed.records, removed.reactions) == ([data], [])
    removed = peer.delete(Profile.parse("p1=a p2=*"), {INTEREST, WATCH}, "", "within", True, 5.0)
    assert removed.records == [interest, watch]
    removed = peer.delete(Profile.parse("p1=a p2=*"), {INTEREST}, "", "within", False, 5.0)
    assert (removed.records, removed.reactions) == ([interest], [gone(watch, interest)])
    assert peer.arrive(post("c1-again", "store"), 6.0) == []


# -- gone


def test_a_watch_hears_when_an_interest_expires_and_a_renewal_is_silent(peer: Rendezvous) -> None:
    watch, interest = post("w", "notify_interest"), post("i", "notify_data", ttl=10.0)
    peer.arrive(watch, 0.0)
    peer.arrive(interest, 0.0)
    assert peer.accept(replace(interest, expires_s=20.0), 5.0).outcome == "same"
    assert peer.arrive(replace(interest, expires_s=25.0), 5.0) == []
    assert peer.renew("", "i", 30.0, 6.0) == replace(interest, expires_s=30.0)
    assert peer.expire(29.0) == []
    assert peer.expire(30.0) == [gone(watch, replace(interest, expires_s=30.0))]
    assert peer.renew("", "i", 50.0, 31.0) is None
    assert peer.expire(100.0) == []


def test_a_watch_that_has_expired_hears_nothing(peer: Rendezvous) -> None:
    peer.arrive(post("w", "notify_interest", ttl=5.0), 0.0)
    peer.arrive(post("i", "notify_data", ttl=10.0), 0.0)
    assert peer.expire(10.0) == []


def test_an_interest_that_comes_back_after_its_end_is_gone_first(peer: Rendezvous) -> None:
    watch, interest = post("w", "notify_interest"), post("i", "notify_data", ttl=10.0)
    peer.arrive(watch, 0.0)
    peer.arrive(interest, 0.0)
    later = replace(interest, expires_s=40.0)
    assert peer.arrive(later, 20.0) == [gone(watch, interest), Tell(watch, later, "appeared")]
    assert peer.expire(20.0) == []


def test_cancel(peer: Rendezvous) -> None:
    watch, interest = post("w", "notify_interest"), post("i", "notify_data")
    peer.arrive(watch, 0.0)
    peer.arrive(interest, 0.0)
    cancelled = peer.cancel("", "i", 1.0)
    assert (cancelled.records, cancelled.reactions) == ([interest], [gone(watch, interest)])
    assert peer.cancel("", "i", 1.0).records == []
    assert peer.accept(replace(interest, version=9), 2.0).outcome == "deleted"


def test_forgetting_leaves_no_tombstone_and_a_sweep_says_what_went(peer: Rendezvous) -> None:
    watch, interest = post("w", "notify_interest"), post("i", "notify_data", ttl=10.0)
    peer.arrive(watch, 0.0)
    peer.arrive(interest, 0.0)
    forgotten = peer.forget("", "i", 1.0)
    assert (forgotten.records, forgotten.reactions) == ([interest], [gone(watch, interest)])
    assert not peer.forget("", "i", 1.0).records
    assert peer.accept(interest, 2.0).outcome == "stored"
    swept = peer.sweep(10.0)
    assert (swept.records, swept.reactions) == ([interest], [gone(watch, interest)])


# -- replace


def test_a_replaced_interest_is_news_only_where_it_matters(peer: Rendezvous) -> None:
    here, there = post("w1", "notify_interest", "a=1"), post("w2", "notify_interest", "a=2")
    both = post("w3", "notify_interest", "a=*")
    for watch in (here, there, both):
        peer.arrive(watch, 0.0)
    before = post("i", "notify_data", "a=1")
    peer.arrive(before, 0.0)
    after = post("i", "notify_data", "a=2", version=2)
    told = peer.arrive(after, 0.0)
    assert sorted(told, key=lambda t: t.to.stem) == [  # type: ignore[union-attr]
        gone(here, before), Tell(there, after, "appeared"),
    ]  # fmt: skip


def test_a_replaced_interest_meets_the_data_of_its_new_content(peer: Rendezvous) -> None:
    old, new = post("d1", "store", "a=1"), post("d2", "store", "a=2")
    peer.arrive(old, 0.0)
    peer.arrive(new, 0.0)
    peer.arrive(post("i", "notify_data", "a=1"), 0.0)
    after = post("i", "notify_data", "a=2", version=2)
    assert peer.arrive(after, 0.0) == [Tell(after, new, "match")]
    assert peer.arrive(post("d3", "store", "a=1"), 0.0) == []


def test_a_retried_post_is_answered_but_tells_nobody_twice(peer: Rendezvous) -> None:
    data, interest = post("d", "store"), post("i", "notify_data")
    peer.arrive(interest, 0.0)
    peer.arrive(data, 0.0)
    assert peer.arrive(data, 0.0) == []
    assert peer.arrive(interest, 0.0) == []
    standing = post("r", "retrieve")
    assert peer.arrive(standing, 0.0) == [Return(data)]
    assert peer.arrive(standing, 0.0) == [Return(data)]


def test_pairs_of_an_interval_gained(peer: Rendezvous) -> None:
    data, interest = post("d", "store"), post("i", "notify_data")
    peer.store.put(data, 0.0)
    peer.store.put(interest, 0.0)
    assert [*peer.meet(interest, 0.0)] == [Tell(interest, data, "match")]
    assert set(peer.meet(data, 0.0, lambda *_: False)) == {None}


def test_belongs_is_asked_about_every_kind_of_pair(peer: Rendezvous) -> None:
    nobody = {"belongs": lambda *_: False}
    watch = post("w", "notify_interest")
    assert peer.arrive(watch, 0.0, **nobody) == []
    assert peer.arrive(post("d", "store"), 0.0, **nobody) == []
    assert peer.arrive(post("i", "notify_data"), 0.0, **nobody) == []
    assert peer.arrive(post("w2", "notify_interest"), 0.0, **nobody) == []
    assert peer.arrive(post("r", "retrieve", ttl=0.0), 0.0, **nobody) == []
    assert peer.expire(100.0, **nobody) == []


# -- the later arrival finds the earlier, once


@given(st.permutations(["d1", "d2", "i1", "i2", "r1", "w1", "w2"]))
def test_every_pair_is_reported_once_whatever_the_order(order: list[str]) -> None:
    actions = {"d": "store", "i": "notify_data", "r": "retrieve", "w": "notify_interest"}
    peer = Rendezvous(Store(), Random(7))
    pairs: list[tuple[str, str]] = []
    for stem in order:
        record = post(stem, actions[stem[0]])
        for reaction in peer.arrive(record, 0.0):
            if isinstance(reaction, Return):
                pairs.append((stem, reaction.record.stem))
            else:
                pairs.append((reaction.to.stem, reaction.about.stem))
    expected = [(i, d) for i in ("i1", "i2", "r1") for d in ("d1", "d2")]
    expected += [(w, i) for w in ("w1", "w2") for i in ("i1", "i2", "r1")]
    assert sorted(pairs) == sorted(expected)
