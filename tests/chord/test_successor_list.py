"""Successor lists: always clockwise, never past their owner, changed in whole steps."""

from hypothesis import given
from hypothesis import strategies as st

from chord import Contact
from chord.successor_list import SuccessorList, clockwise_prefix, passed_over

ids = st.integers(0, 31)


def contact(node_id: int) -> Contact:
    return Contact(node_id, f"peer-{node_id}:1")


def contacts(node_ids: list[int]) -> list[Contact]:
    return [contact(node_id) for node_id in node_ids]


@given(ids, st.lists(ids, max_size=12), st.integers(1, 8))
def test_a_list_runs_clockwise_and_ends_before_its_owner(
    own: int, node_ids: list[int], limit: int
) -> None:
    chosen = clockwise_prefix(own, contacts(node_ids), limit)
    steps = [(entry.id - own) % 32 for entry in chosen]
    assert steps == sorted(set(steps))
    assert 0 not in steps
    assert len(chosen) <= limit
    assert list(chosen) == contacts(node_ids)[: len(chosen)]


def test_adopting_takes_the_head_and_its_list_in_one_step() -> None:
    mine = SuccessorList(10, limit=3)
    assert mine.adopt(contact(12), contacts([14, 20, 30]), version=7)
    assert mine.contacts == tuple(contacts([12, 14, 20]))
    assert mine.version_seen(contact(12)) == 7
    assert mine.version_seen(contact(14)) == -1


def test_an_unchanged_list_keeps_its_version_and_learns_the_heads() -> None:
    mine = SuccessorList(10, limit=3)
    mine.adopt(contact(12), contacts([14, 20]), version=7)
    before = mine.version
    assert not mine.adopt(contact(12), contacts([14, 20]), version=8)
    assert (mine.version, mine.version_seen(contact(12))) == (before, 8)


def test_a_list_that_wraps_round_a_small_ring_is_cut_at_its_owner() -> None:
    mine = SuccessorList(10, limit=8)
    mine.adopt(contact(12), contacts([14, 10, 12, 14]), version=1)
    assert mine.contacts == tuple(contacts([12, 14]))


def test_dropping_forgets_what_version_was_seen() -> None:
    mine = SuccessorList(10, limit=3)
    mine.adopt(contact(12), contacts([14, 20]), version=7)
    assert mine.drop(contact(14))
    assert not mine.drop(contact(14))
    assert mine.contacts == tuple(contacts([12, 20]))
    assert mine.version_seen(contact(12)) == -1
    assert contact(14) not in mine
    assert len(mine) == 2


@given(
    st.integers(0, 63),
    st.lists(st.integers(0, 63)),
    st.lists(st.integers(0, 63)),
    st.integers(1, 8),
)
def test_passed_over_is_whoever_stood_within_the_span_of_the_new_list(
    own_id: int, before_ids: list[int], now_ids: list[int], limit: int
) -> None:
    before = clockwise_prefix(own_id, by_distance(own_id, before_ids), limit)
    now = clockwise_prefix(own_id, by_distance(own_id, now_ids), limit)
    span = range(1, 65 if len(now) < limit else (now[-1].id - own_id) % 64 + 1)
    expected = {
        contact.id
        for contact in before
        if (contact.id - own_id) % 64 in span and contact.id not in {c.id for c in now}
    }
    missing = passed_over(own_id, before, now, limit)
    assert {contact.id for contact in missing} == expected
    assert passed_over(own_id, now, now, limit) == ()


def by_distance(own_id: int, ids: list[int]) -> list[Contact]:
    around = sorted({(i - own_id) % 64 for i in ids} - {0})
    return [Contact((own_id + away) % 64, f"peer-{away}:1") for away in around]
