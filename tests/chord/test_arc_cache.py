"""The arc cache against a dumb twin: a list of disjoint arcs, newest first."""

from hypothesis import given
from hypothesis import strategies as st

from chord import Arc, ArcCache, Contact, KnownArc

ids = st.integers(0, 15)
arcs = st.builds(Arc, ids, ids)


def owner(arc: Arc) -> Contact:
    return Contact(arc.last, f"peer-{arc.last}:1")


@given(st.lists(arcs, max_size=20), st.lists(ids, max_size=3))
def test_the_cache_knows_the_newest_arc_that_nothing_newer_contradicts(
    learnt: list[Arc], forgotten: list[int]
) -> None:
    cache, twin = ArcCache(100), []
    for arc in learnt:
        cache.learn(owner(arc), arc)
        twin = [kept for kept in twin if not kept.overlaps(arc)] + [arc]
    for node_id in forgotten:
        cache.forget(Contact(node_id, "anywhere:1"))
        twin = [kept for kept in twin if kept.last != node_id]
    for key in range(16):
        expected = next((owner(kept) for kept in twin if key in kept), None)
        assert cache.find(key) == expected
    assert len(cache) == len(twin)


def test_the_longest_unused_arc_goes_first() -> None:
    cache = ArcCache(2)
    for last in (1, 3):
        cache.learn(Contact(last, "x:1"), Arc(last - 1, last))
    assert cache.find(1) is not None
    cache.learn(Contact(5, "x:1"), Arc(4, 5))
    assert [cache.find(key) is not None for key in (1, 3, 5)] == [True, False, True]
    assert len(cache) == 2


def test_a_cache_of_no_arcs_is_off() -> None:
    cache = ArcCache(0)
    cache.learn(Contact(1, "x:1"), Arc(0, 1))
    assert cache.find(1) is None


HEIRS = (Contact(6, "six:1"), Contact(7, "seven:1"))


def test_heirs_stand_as_long_as_the_arc_that_they_were_named_with() -> None:
    cache, contact = ArcCache(4), Contact(5, "five:1")
    cache.learn(contact, Arc(1, 5), HEIRS)
    cache.learn(contact, Arc(1, 5))
    assert cache.recall(3) == KnownArc(contact, Arc(1, 5), HEIRS)
    cache.learn(contact, Arc(1, 5), HEIRS[1:])
    assert cache.recall(3) == KnownArc(contact, Arc(1, 5), HEIRS[1:])
    cache.learn(contact, Arc(2, 5))
    assert cache.recall(3) == KnownArc(contact, Arc(2, 5))
    assert cache.recall(2) is None
