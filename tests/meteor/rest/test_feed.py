"""A feed is a bounded queue that says what it dropped, and can be resumed: against a dumb twin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from meteor.rest.feed import Event, Feed, Room

LENGTH = 5


def event(number: int) -> Event:
    return Event(f"f:{number}", "match", str(number))


def feed_of(*numbers: int, bytes_max: int = 10_000) -> Feed:
    feed = Feed("f", "a=1", LENGTH, lambda: None, bytes_max=bytes_max)
    feed.put(Event("f", "open", ""))
    for number in numbers:
        feed.put(event(number))
    feed.opened()
    return feed


def ids(events: list[Event]) -> list[str]:
    return [one.id for one in events]


def test_what_lived_already_is_never_too_much() -> None:
    feed = feed_of(*range(100))
    for number in range(100, 100 + LENGTH):
        feed.put(event(number))
    assert not feed.ended
    feed.put(event(999))
    assert feed.dropped == 1
    assert "open it anew" in feed.ended
    feed.put(event(1000))
    assert ids(feed.take(1000))[-1] == "f:104", "what was queued before is still written"


def test_what_lived_already_is_bounded_in_bytes_all_the_same() -> None:
    feed = feed_of(*range(100), bytes_max=20)
    assert "select less" in feed.ended
    taken = feed.take(1000)
    assert ids(taken) == ["f", *(f"f:{number}" for number in range(15))]
    assert sum(len(one.data) for one in taken) == 20


def test_what_is_kept_for_a_return_is_bounded_in_bytes() -> None:
    feed = feed_of(1, 2, 3, bytes_max=3)
    feed.take(2)
    feed.take(2)
    feed.put(Event("f:4", "match", "xxx"))
    feed.take(1)
    assert not feed.resume("f:3")
    assert feed.resume("f:4")


def test_who_comes_back_gets_what_came_after() -> None:
    feed = feed_of(1, 2, 3)
    assert ids(feed.take(10)) == ["f", "f:1", "f:2", "f:3"]
    assert feed.resume("f:1")
    feed.put(event(4))
    assert ids(feed.take(10)) == ["f:2", "f:3", "f:4"]
    assert feed.resume("f"), "from the beginning"
    assert ids(feed.take(10)) == ["f:1", "f:2", "f:3", "f:4"]


def test_what_is_no_longer_known_cannot_be_resumed() -> None:
    feed = feed_of(*range(20))
    feed.take(100)
    assert not feed.resume("f:3")
    assert not feed.resume("f")
    assert not feed.resume("g:1")
    assert feed.resume("f:19")
    assert feed.take(10) == []


def test_an_event_is_written_line_by_line() -> None:
    assert Event("a:1", "match", "x\ny").encode() == b"event: match\nid: a:1\ndata: x\ndata: y\n\n"
    assert Event("", "end", "").encode() == b"event: end\ndata: \n\n"


@given(
    st.lists(
        st.one_of(
            st.just(("put", 0)),
            st.tuples(st.just("take"), st.integers(1, 4)),
            st.tuples(st.just("break"), st.integers(0, 6)),
        ),
        max_size=60,
    )
)
def test_across_breaks_a_client_sees_everything_in_order_or_is_told(
    steps: list[tuple[str, int]],
) -> None:
    """The twin is the plain list of all that was put; the client keeps what it has read, and a
    break loses the last few events that were written to it."""
    feed, put, read = feed_of(), [0], ["f"]
    feed.take(1)
    number = 0
    for step, amount in steps:
        if step == "put" and not feed.ended:
            number += 1
            feed.put(event(number))
            put.append(number)
        elif step == "take":
            read += ids(feed.take(amount))
        elif step == "break":
            del read[max(1, len(read) - amount) :]
            if not feed.resume(read[-1]):
                return  # it is told so, and begins anew
    read += ids(feed.take(1000))
    kept = put[: len(put) - feed.dropped]
    assert read == ["f"] + [f"f:{one}" for one in kept[1:]]


def test_all_feeds_together_are_bounded_and_who_keeps_most_gives_up() -> None:
    """Forty streams that read nothing kept 1.9 GB: each was bounded, and nothing all of them."""
    each = Event("f", "match", "x" * 1000).size
    room = Room(10 * each)

    def entered(address: str) -> Feed:
        feed = Feed("f", "a=1", 1000, lambda: None, bytes_max=1_000_000, room=room)
        room.enter(feed, address)
        return feed

    def put(feed: Feed, number: int) -> None:
        feed.put(Event(f"f:{number}", "match", "x" * 1000))

    quick, *hoarders = entered("there"), *(entered("here") for _ in range(3))
    for number in range(20):
        for feed in (quick, *hoarders):
            put(feed, number)
            assert room.size <= 10 * each
        assert len(quick.take(10)) == 1, "the one of its address that reads misses nothing"
    assert not quick.ended
    assert any("read faster" in feed.ended and feed.dropped for feed in hoarders)
    for feed in (quick, *hoarders):
        room.leave(feed)
    assert room.size == 0


def test_what_is_kept_for_a_return_goes_before_what_waits() -> None:
    room = Room(4 * Event("f", "match", "x" * 100).size)
    feed = Feed("f", "a=1", 100, lambda: None, bytes_max=10_000, room=room)
    room.enter(feed, "here")
    for number in range(6):
        feed.put(Event(f"f:{number}", "match", "x" * 100))
        if number == 2:
            feed.take(3)
    assert not feed.ended
    assert not feed.resume("f:1"), "it is told so, and begins anew"
    assert ids(feed.take(10)) == ["f:3", "f:4", "f:5"]


def test_large_events_are_written_one_by_one() -> None:
    feed = feed_of(*range(10, 20))
    assert len(feed.take(64, 1)) == 2, "the first is empty"
    assert ids(feed.take(64, 5)) == ["f:11", "f:12", "f:13"]
    assert ids(feed.take(64, 1)) == ["f:14"]


def test_a_room_too_small_for_a_word_is_no_endless_search() -> None:
    """What keeps too much is a feed that has not entered yet: the others have nothing to give."""
    room = Room(1)
    first = Feed("a", "x=1", 4, lambda: None, bytes_max=100, room=room)
    room.enter(first, "1.2.3.4")
    second = Feed("b", "x=1", 4, lambda: None, bytes_max=100, room=room)
    second.put(Event("b", "open", "{}"))
    assert (first.size, second.size) == (0, room.size)
