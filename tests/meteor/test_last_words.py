"""A holder that said that it let go, and left: `meteor-sim scenario few-peers --seed 200`."""

from __future__ import annotations

import pytest

from chord import Contact, replace
from meteor.copies.rivals import LAST_WORDS_MAX, WORDS_MAX
from meteor.wire.copy_messages import Beside
from meteor.wire.view import HEARSAY, Rival, View
from tests.meteor.copies_world import assert_whole_within, build


class Left:
    """A peer that took an interval over from one that was held, was told by it that it holds it
    too, and finds it gone."""

    def __init__(self) -> None:
        self.overlay = build(3, 6)
        assert_whole_within(self.overlay)
        ring = sorted(self.overlay.peers, key=lambda one: one.contact.id)
        self.peer, self.other = ring[0], ring[3]
        (self.view,) = self.peer.core.views.own.values()
        self.epoch = self.view.epoch - 1
        self.peer.core.replication.adopted.note(self.view, self.epoch)
        self.had = View(self.other.contact, 7, self.epoch, self.view.intervals, ())
        self.other.crash()
        self.overlay.run_for(5.0)
        (self.view,) = self.peer.core.views.touching(self.view.intervals)
        self.peer.core.replication.adopted.note(self.view, self.epoch)

    def says(self, ended: View) -> None:
        rivals = self.peer.core._handoff.rivals
        rivals.handlers[Beside](ended.primary, Beside(ended), 0.0)

    def rivals(self) -> list[int]:
        """In which epochs, some seconds after the holder was heard of."""
        hearsay = Rival(self.had.intervals, HEARSAY, (self.other.contact,))
        self.peer.core._handoff.rivals.note(hearsay)
        self.overlay.run_for(5.0)
        views = self.peer.core.views.touching(self.had.intervals)
        return [one.epoch for view in views for one in view.rivals]


@pytest.fixture
def left() -> Left:
    return Left()


def test_a_holder_that_is_gone_without_a_word_is_waited_for(left: Left) -> None:
    assert left.rivals() == [HEARSAY]


def test_what_it_said_last_is_its_answer(left: Left) -> None:
    """The interval was named for half a minute, and was lost then, though nothing was."""
    left.says(left.had)
    assert left.rivals() == []
    assert left.peer.core.holdings.lost == ()


def test_what_it_had_since_is_a_rival_instead(left: Left) -> None:
    left.says(replace(left.had, epoch=left.epoch + 1))
    assert left.rivals() == [left.epoch + 1]


@pytest.mark.parametrize("doubtful", ["an earlier epoch", "a part", "another life"])
def test_nothing_else_is_an_answer(doubtful: str, left: Left) -> None:
    had = left.had
    if doubtful == "an earlier epoch":
        left.says(replace(had, epoch=had.epoch - 1))
    elif doubtful == "a part":
        *others, (first, last) = had.intervals
        left.says(replace(had, intervals=(*others, (first, last - 1))))
    else:
        left.says(replace(had, primary=replace(had.primary, incarnation=9)))
    assert HEARSAY in left.rivals(), "it is not answered, be the other a rival as well"


def test_a_word_of_long_ago_is_none(left: Left) -> None:
    """The holder may have taken the interval over, and acknowledged something there, since."""
    left.says(left.had)
    left.overlay.run_for(30.0)
    assert left.rivals() == [HEARSAY]


def test_nor_is_one_that_not_all_was_noted_of(left: Left, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("meteor.copies.rivals.HEARD_MAX", 0)
    left.says(replace(left.had, epoch=left.epoch + 1))
    monkeypatch.undo()
    assert left.rivals() == [HEARSAY]


def test_words_are_bounded_whoever_sends_them(left: Left) -> None:
    """One peer keeps no other one's from being remembered."""
    noisy = Contact(5, "10.9.9.9:1")
    left.says(left.had)
    for number in range(100):
        left.says(replace(left.had, primary=noisy, number=number))
    words = left.peer.core._handoff.rivals._last_words
    assert len(words[noisy]) == WORDS_MAX
    assert left.rivals() == []
    for at in range(2 * LAST_WORDS_MAX):
        left.says(replace(left.had, primary=Contact(at, f"10.9.9.{at}:1")))
    assert len(words) == LAST_WORDS_MAX
