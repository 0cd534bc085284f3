"""What is left of a life that was late: one rule, wherever something may have lain on its way."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chord import Contact, Fault, replace
from meteor.copies.lain import having_lain
from meteor.keeping.expiry_clock import is_over, left_ms, overlives
from meteor.rendezvous.task import Task, read_task
from meteor.wire import codec
from meteor.wire.copy_messages import Keep
from meteor.wire.document import encode_document
from meteor.wire.messages import Document, PostReply
from meteor.wire.operations import Carried, Operation
from meteor.wire.record_id import make_id, stem_of
from squid import Box, HandOn
from tests.meteor.building import SPACE
from tests.meteor.copies_world import primary_of
from tests.meteor.test_held_requests import built, post
from tests.meteor.test_overlay_hostile import DOCUMENT, PROFILE, Stranger

POINT = Box((0, 0, 0), (0, 0, 0))
ID = make_id("stem", POINT, SPACE.curve)
DAY_MS = 86_400_000
LATE = [(2000, 1.9996, 1), (2000, 2.0, None), (2000, 2.0004, None), (0, 4.0, 0)]
"""Lives in ms, how late they came, and what is left: at the borders of a millisecond."""


def waited_for(ttl_ms: int, late_s: float) -> int | None:
    """The same, one millisecond after the other: each that is over takes one of its life."""
    lain_ms = 0
    while lain_ms + 1 <= late_s * 1000:
        lain_ms += 1
    if ttl_ms == 0 or late_s <= 1 or lain_ms <= ttl_ms / 100:
        return ttl_ms
    for _ in range(lain_ms):
        ttl_ms -= 1
        if ttl_ms == 0:
            return None
    return ttl_ms


@given(
    st.one_of(st.integers(0, 6000), st.integers(90_000, 600_000), st.integers(0, 30 * DAY_MS)),
    st.one_of(st.floats(0, 6), st.integers(0, 6000).map(lambda late_ms: late_ms / 1000)),
)
@example(ttl_ms=1000, late_s=1.0)
@example(ttl_ms=1001, late_s=1.001)
@example(ttl_ms=150_000, late_s=1.5)
@example(ttl_ms=149_999, late_s=1.5)
@example(ttl_ms=1, late_s=0.0)
def test_it_is_what_whoever_waits_for_it_finds(ttl_ms: int, late_s: float) -> None:
    left = left_ms(ttl_ms, late_s)
    assert left == waited_for(ttl_ms, late_s)
    assert (left == 0) == (ttl_ms == 0), "none at all means another thing"
    assert overlives(ttl_ms, late_s) == (left != ttl_ms)
    assert (left is None) == (late_s > 1 and is_over(ttl_ms, late_s))
    assert is_over(ttl_ms, late_s) == (0 < ttl_ms <= late_s * 1000)


# -- at a copy


@pytest.mark.parametrize(("ttl_ms", "late_s", "left"), LATE)
def test_a_copy_keeps_what_is_left(ttl_ms: int, late_s: float, left: int | None) -> None:
    one = Carried("data", ID, "", 1, "store", ttl_ms, b"", 1, 0, None)
    beside = replace(one, version=2, ttl_ms=DAY_MS)
    kept = having_lain(Keep(((0, 1),), (one, beside)), late_s).carried
    assert kept == (*(() if left is None else (replace(one, ttl_ms=left),)), beside)


def test_a_copy_keeps_what_comes_no_later_than_usual_as_it_is() -> None:
    one = Carried("data", ID, "", 1, "store", 300, b"", 1, 0, None)
    keep = Keep(((0, 1),), (one,))
    assert having_lain(keep, 0.9) is keep


# -- of a share


def share_of(ttl_ms: int, verb: str = "store") -> tuple[Task, HandOn]:
    document = DOCUMENT if verb == "store" else encode_document(Document(verb, PROFILE))
    operation = Operation(verb, ID, 1, "", ttl_ms, document)
    share = HandOn(
        bytes(16), 0, Contact(5, "10.9.9.9:1"), SPACE.digest, POINT.low, POINT.high, ((0, 0),), 0,
        1000, codec.encode(operation),
    )  # fmt: skip
    task = read_task(share, SPACE.curve)
    assert task is not None
    return task, share


@pytest.mark.parametrize(("ttl_ms", "late_s", "left"), [*LATE, (300, 0.3, None), (301, 0.3, 301)])
def test_a_share_is_done_with_what_is_left(ttl_ms: int, late_s: float, left: int | None) -> None:
    """Its sender gave it up before a second is over: what had less than that to live is over."""
    task, share = share_of(ttl_ms)
    if left is None:
        with pytest.raises(Fault, match="its time was over"):
            task.having_lain(share, late_s)
    else:
        done = read_task(task.having_lain(share, late_s), SPACE.curve)
        assert done is not None
        assert done.operation == replace(task.operation, ttl_ms=left)


def test_a_share_of_what_is_not_kept_has_no_life() -> None:
    task, share = share_of(2000, "delete_data")
    assert task.having_lain(share, 4.0) is share


# -- at the entry peer


@pytest.mark.parametrize("left_s", [0.0, 0.001, 1.0])
def test_a_store_lives_for_what_is_left(left_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    overlay, late_s = built(), 4.0
    monkeypatch.setattr(overlay.peers[4].runtime, "request_late_s", lambda: late_s)
    reply = Stranger(overlay).ask(replace(post(), ttl_s=late_s + left_s), peer=4)
    assert isinstance(reply, PostReply) == bool(left_s)
    if isinstance(reply, PostReply) and left_s > 0.5:
        overlay.run_for(0.3)
        shelf = primary_of(overlay, reply.id).core.shelf
        placed = shelf.find(("", stem_of(reply.id)))
        assert placed is not None
        assert 0 < placed.carried.ttl_ms - shelf.wall_ms() <= left_s * 1000


def test_a_question_that_came_late_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    overlay = built()
    monkeypatch.setattr(overlay.peers[4].runtime, "request_late_s", lambda: 4.0)
    assert isinstance(Stranger(overlay).ask(replace(post(), ttl_s=0.0), peer=4), PostReply)


@pytest.mark.parametrize("ttl_s", [-1.0, float("nan"), float("inf"), 31 * 86_400.0])
def test_no_life_at_all_is_refused_as_if_it_were_not_late(
    ttl_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = built()
    monkeypatch.setattr(overlay.peers[4].runtime, "request_late_s", lambda: 4.0)
    refused = Stranger(overlay).ask(replace(post(), ttl_s=ttl_s), peer=4)
    assert "ttl" in str(refused)
