"""Holdings and the outbox: bookkeeping against dumb twins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import Contact
from meteor.keeping.holdings import GIVEN_MAX, Holdings
from meteor.rendezvous import outbox as outbox_module
from meteor.rendezvous.outbox import PENDING_MAX, RETRY_S, WINDOW, Outbox
from meteor.wire.messages import Found, Notice

SIZE = 32
PEERS = [Contact(n, f"peer-{n}") for n in range(4)]

spans = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)).map(
    lambda ends: (min(ends), max(ends))
)
counts = st.integers(1, 8)
steps = st.lists(st.tuples(st.sampled_from(["gain", "gain lost", "give"]), spans), max_size=20)


def indexes(intervals: object) -> set[int]:
    return {i for first, last in intervals for i in range(first, last + 1)}  # type: ignore[attr-defined]


@given(steps)
def test_holdings_equal_sets_of_indexes(changes: list[tuple[str, tuple[int, int]]]) -> None:
    holdings, held, lost = Holdings(), set(), set()
    for change, span in changes:
        some = indexes([span])
        if change == "gain":
            new = holdings.gain((span,))
            assert indexes(new) == some - held
            held |= some
            lost -= some
        elif change == "gain lost":
            new = holdings.gain((span,), lost=(span,))
            lost |= some - held
            held |= some
            assert indexes(new) <= some
        else:
            holdings.give((span,), PEERS[0])
            held -= some
            lost -= some
        assert indexes(holdings.held) == held
        assert indexes(holdings.lost) == lost


def test_a_freeze_holds_until_it_is_thawed() -> None:
    holdings = Holdings(held=((0, 31),))
    grant, second = holdings.freeze((4, 9)), holdings.freeze((4, 9))
    assert holdings.is_granted(grant, (4, 9))
    assert not holdings.is_granted(grant, (4, 8))
    assert holdings.is_frozen(((9, 20),))
    assert not holdings.is_frozen(((10, 20),))
    holdings.thaw(grant)
    assert not holdings.is_granted(grant, (4, 9))
    assert holdings.is_frozen(((0, 31),))
    holdings.thaw(second)
    holdings.thaw(second)
    assert not holdings.is_frozen(((0, 31),))


def test_whom_something_was_given_to_is_remembered_while_it_answers() -> None:
    holdings = Holdings(held=((0, 31),))
    holdings.give(((0, 9),), PEERS[1])
    holdings.give(((5, 6),), PEERS[2])
    assert holdings.holder_of(5) == PEERS[2]
    assert holdings.holder_of(9) == PEERS[1]
    assert holdings.holder_of(20) is None
    assert holdings.elsewhere() == (PEERS[1], PEERS[2])
    holdings.forget_holder(PEERS[2])
    assert holdings.holder_of(5) == PEERS[1]
    hand_off = holdings.await_from((20, 25), PEERS[3])
    assert holdings.holder_of(20) == PEERS[3]
    holdings.awaited_no_more(hand_off)
    assert holdings.holder_of(20) is None


def test_what_comes_twice_at_once_is_awaited_until_both_have_ended() -> None:
    """Else what the second one brought would be tidied away while it goes on (storm, seed 7)."""
    holdings = Holdings()
    first, second = (holdings.await_from((20, 25), PEERS[1]) for _ in range(2))
    holdings.awaited_no_more(first)
    assert holdings.awaited == ((20, 25),)
    assert holdings.awaiting
    holdings.awaited_no_more(first)
    assert holdings.holder_of(20) == PEERS[1]
    holdings.awaited_no_more(second)
    assert not holdings.awaiting


def test_remembered_gifts_are_bounded() -> None:
    holdings = Holdings(held=((0, 10_000),))
    for index in range(2 * GIVEN_MAX):
        holdings.give(((2 * index, 2 * index),), PEERS[1])
    assert sum(holdings.holder_of(2 * i) is not None for i in range(2 * GIVEN_MAX)) == GIVEN_MAX


def notice(number: int, stem: str = "i", blob: bytes = b"") -> Notice:
    return Notice(
        f"{stem}:d{number}:1", stem, "match", Found(f"d{number}.aa", 1, "", 1, blob), PEERS[0]
    )


def test_notices_go_out_once_then_again_until_acknowledged() -> None:
    outbox = Outbox()
    for number in range(1, 4):
        outbox.add(notice(number), number)
    assert [n.id for n in outbox.due("i", 0.0)] == ["i:d1:1", "i:d2:1", "i:d3:1"]
    assert outbox.due("i", RETRY_S / 2) == []
    outbox.acknowledge("i", ("i:d2:1",))
    assert [n.id for n in outbox.due("i", RETRY_S)] == ["i:d1:1", "i:d3:1"]
    assert outbox.watermark("i") == 0
    outbox.acknowledge("i", ("i:d1:1",))
    assert outbox.watermark("i") == 2
    outbox.again("i")
    assert [n.id for n in outbox.due("i", RETRY_S)] == ["i:d3:1"]
    outbox.acknowledge("i", ("i:d3:1", "unknown"))
    assert outbox.watermark("i") == 3
    assert not outbox.waits("i")


@given(st.lists(st.tuples(st.sampled_from(["tell", "tell", "ack", "again", "wait"]), counts)))
def test_what_leaves_at_once_is_what_would_be_due(steps: list[tuple[str, int]]) -> None:
    quick, twin, now, under_way = Outbox(), Outbox(), 0.0, list[str]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outbox_module, "WINDOW", 3)
        patch.setattr(outbox_module, "PENDING_MAX", 5)
        for what, number in steps:
            left: list[Notice] = []
            if what == "tell":
                twin.add(notice(number), number)
                if quick.add(notice(number), number, now):
                    left = [notice(number)]
            elif what == "ack":
                ids = tuple(under_way[:number])
                assert quick.acknowledge("i", ids) == twin.acknowledge("i", ids)
                del under_way[:number]
            elif what == "again":
                quick.again("i")
                twin.again("i")
            else:
                now += number / 8
            left += quick.due("i", now)
            assert left == twin.due("i", now)
            under_way += [one.id for one in left if one.id not in under_way]
            assert quick.watermark("i") == twin.watermark("i")
            assert (quick.names(), quick.waits("i")) == (twin.names(), twin.waits("i"))


def test_a_window_is_under_way_at_once() -> None:
    outbox = Outbox()
    for number in range(WINDOW + 10):
        outbox.add(notice(number), number)
    first = outbox.due("i", 0.0)
    assert len(first) == WINDOW
    outbox.acknowledge("i", tuple(n.id for n in first[:4]))
    assert len(outbox.due("i", 0.0)) == 4


def test_an_overflow_is_derived_again_from_the_watermark() -> None:
    outbox = Outbox()
    for number in range(PENDING_MAX + 5):
        outbox.add(notice(number), number)
    ids = [f"i:d{number}:1" for number in range(PENDING_MAX)]
    assert not outbox.acknowledge("i", tuple(ids[:-1]))
    assert outbox.acknowledge("i", (ids[-1],)), "room again: derive what did not fit"
    assert outbox.watermark("i") == PENDING_MAX - 1


def test_payload_is_bounded_too_but_one_always_fits() -> None:
    outbox = Outbox()
    outbox.add(notice(1, blob=b"x" * 9_000_000), 1)
    outbox.add(notice(2, blob=b"x"), 2)
    assert len(outbox.due("i", 0.0)) == 1
    assert outbox.acknowledge("i", ("i:d1:1",))


def test_what_is_doubted_is_lost_until_it_is_reckoned_anew() -> None:
    holdings = Holdings(held=((0, 31),), lost=((0, 3),))
    holdings.doubt(((10, 40),))
    assert holdings.lost == ((0, 3), (10, 31))
    holdings.reckon(((2, 11), (30, 40)))
    assert holdings.lost == ((2, 11), (30, 31))
    holdings.reckon(())
    assert holdings.lost == ()
