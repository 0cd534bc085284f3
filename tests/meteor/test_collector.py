"""What comes back of an asking: told once in its newest version, passed on as it is, bounded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chord import Contact
from meteor.wire.collector import FIRST_BYTES, KEPT_BYTES, Attempt, Collector, Newest, Relay
from meteor.wire.found_pages import PAGE_BYTES, pack
from meteor.wire.messages import Found
from meteor.wire.operations import Summary
from meteor.wire.went import Went, telling

PEER = Contact(1, "a:1")

founds = st.builds(
    Found,
    id=st.sampled_from(["a.x", "a.y", "b.x", "c.x"]),
    version=st.integers(1, 3),
    owner=st.sampled_from(["", "o"]),
    ttl_ms=st.just(1),
    blob=st.just(b""),
)


def page_of(*found: Found) -> bytes:
    return pack([(one.id, one.version, one.owner, one.ttl_ms, one.blob) for one in found])


def one(id: str, blob: bytes = b"", version: int = 1) -> Found:
    return Found(id, version, "", 1, blob)


@given(st.lists(st.lists(founds, max_size=4)))
def test_each_comes_once_in_its_newest_version(pages: list[list[Found]]) -> None:
    """Against a twin that looks at one after the other."""
    newest = Newest()
    known: dict[tuple[str, str], int] = {}
    replaced = False
    for page in pages:
        expected = []
        for found in page:
            key = (found.owner, found.id.partition(".")[0])
            if known.get(key, 0) < found.version:
                replaced = replaced or key in known
                known[key] = found.version
                expected.append(found)
        assert list(newest.news(page)) == expected
    assert (len(newest), newest.is_superseded) == (len(known), replaced)


def test_a_collector_reads_what_can_be_read() -> None:
    collector = Collector()
    for frame in (b"", page_of(one("a.x"), one("b.x")), b"\x01rubbish", page_of(one("a.y"))):
        collector.keep(PEER, frame)
    assert [found.id for found in collector.found] == ["a.x", "b.x"]
    collector.count(PEER, page_of(one("c.x"), one("a.x")))
    assert len(collector) == 3
    assert len(collector.found) == 2


def test_of_a_point_the_page_waits_for_the_reply() -> None:
    relay, page = Relay(waits_for_reply=True), page_of(one("a.x", bytes(FIRST_BYTES)))
    assert not relay.take(page)
    assert not relay.begins_to_wait
    assert relay.leave() == (page,)
    assert relay.leave() == ()
    assert relay.take(page_of(one("b.x", bytes(PAGE_BYTES)))), "too much to wait"


def test_the_first_page_goes_at_once_and_later_ones_in_company() -> None:
    relay = Relay(waits_for_reply=False)
    small, large = page_of(one("a.x")), page_of(one("b.x", bytes(FIRST_BYTES)))
    assert not relay.take(small)
    assert relay.begins_to_wait
    assert relay.take(large)
    assert relay.leave() == (small, large)
    assert not relay.take(large)
    assert relay.begins_to_wait
    taken = 1
    while not relay.take(large):
        assert not relay.begins_to_wait, "somebody sees to it already"
        taken += 1
    assert taken == PAGE_BYTES // len(large)


def test_what_moved_and_was_met_is_not_asked_for_again() -> None:
    relay = Relay(waits_for_reply=False)
    relay.take(page_of(one("a.new"), one("b.x")))
    a, c = Went(2, "a.new"), Went(3, "c.new")
    summaries = [telling(Summary(1), [a]), telling(Summary(1), [c, a])]
    assert relay.unseen([Summary(1)]) == {}
    assert relay.unseen(summaries) == {("", "c"): c}
    relay.take(page_of(one("c.new", bytes(KEPT_BYTES))))
    relay.take(page_of(one("d.x")))
    assert relay.unseen(summaries) == {("", "a"): a, ("", "c"): c}, "so much is not kept"


def test_what_another_owner_calls_alike_is_not_what_was_met() -> None:
    """An answer lacked what moved as it was asked for, and said that it was complete, when somebody
    else had posted under the same name."""
    relay, theirs = Relay(waits_for_reply=False), Went(2, "a.new", "them")
    relay.take(page_of(one("a.x")))
    assert relay.unseen([telling(Summary(1), [theirs])]) == {("them", "a"): theirs}


def test_of_what_moved_on_the_last_place_counts() -> None:
    relay, ways = Relay(waits_for_reply=False), [Went(3, "a.back"), Went(2, "a.there")]
    told = [telling(Summary(1), [way]) for way in ways]
    assert relay.unseen(told) == relay.unseen(told[::-1]) == {("", "a"): ways[0]}


def test_a_page_that_cannot_be_read_is_a_gap() -> None:
    came: list[str] = []
    attempt = Attempt(lambda found: came.extend(one.id for one in found))
    attempt.take((one("a.x"),), [page_of(one("b.x"))])
    assert (came, attempt.is_damaged) == (["a.x", "b.x"], False)
    attempt.take((), [page_of(one("c.x"))[:-1]])
    assert (came, attempt.is_damaged) == (["a.x", "b.x"], True)
    Attempt(None).take((one("a.x"),), [b"x"])
