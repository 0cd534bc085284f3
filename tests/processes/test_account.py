"""The account of a fault run: what is wrong is told, whatever it is, and what is right is not."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import cast

import pytest

from meteor import KeywordSpace, Match, Word
from meteor.wire.record_id import make_id, stem_of
from squid import Box
from tests.processes.account import Account

SPACE = KeywordSpace("account", [Word("type")])
WATCHER = "watcher-0"


def account_of(*stems: str) -> Account:
    """One whose posts were acknowledged, and are hot."""
    account = Account(SPACE)
    for number, stem in enumerate(stems):
        account.posted[stem] = make_id(stem, Box((number,), (number,)), SPACE.curve)
    account.hot = set(stems)
    account.notices[WATCHER] = Counter(stems)
    return account


def test_what_was_heard_of_once_and_found_is_right() -> None:
    account = account_of("a", "b")
    account.close([WATCHER], not_found=())
    assert not account.violations


def test_a_lost_notification_is_wrong() -> None:
    account = account_of("a", "b")
    del account.notices[WATCHER]["b"]
    account.close([WATCHER])
    assert account.violations == ["watcher-0 did not hear of 1: ['b']"]


def test_so_is_a_watcher_that_heard_of_nothing() -> None:
    account = account_of("a")
    account.close(["watcher-1"])
    assert account.violations == ["watcher-1 did not hear of 1: ['a']"]


def test_a_notification_that_came_twice_is_wrong() -> None:
    account = account_of("a", "b")
    account.notices[WATCHER]["a"] += 1
    account.close([WATCHER])
    assert account.violations == ["watcher-0 heard twice of 1: ['a']"]


def test_what_is_left_is_wrong_by_its_name() -> None:
    account = account_of("a")
    account.close([WATCHER], not_found_at_the_end={"a"}, unheard_after_attaching=())
    assert account.violations == ["not found at the end 1: ['a']"]


def asked(account: Account, *found: str, complete: bool, missing: tuple[int, ...] = ()) -> str:
    """What is wrong with an answer that has the posts of these names."""
    matches = [cast(Match, SimpleNamespace(id=account.posted[stem])) for stem in found]
    intervals = tuple((at, at) for at in missing)
    question = account.question()
    lacking, wrong = question.check(matches, complete=complete, missing=intervals)
    assert lacking == set(account.posted) - set(found) - account.deleting
    account.judged(question, wrong)
    assert bool(account.violations) is (bool(wrong) and not account.apart)
    return wrong


def index_of(account: Account, stem: str) -> int:
    (index,) = [at for at in range(4) if account.lies_in(stem, ((at, at),))]
    return index


def test_an_answer_that_has_everything_or_names_it_is_right() -> None:
    account = account_of("a", "b")
    assert not asked(account, "a", "b", complete=True)
    assert not asked(account, "a", complete=False, missing=(index_of(account, "b"),))


@pytest.mark.parametrize("complete", [True, False])
def test_what_is_silently_absent_is_wrong(complete: bool) -> None:
    account = account_of("a", "b")
    missing = () if complete else (index_of(account, "a"),)
    assert asked(account, "a", complete=complete, missing=missing).startswith("1 acknowledged")


def test_what_is_complete_names_nothing() -> None:
    account = account_of("a")
    wrong = asked(account, "a", complete=True, missing=(index_of(account, "a"),))
    assert wrong.startswith("complete, but")


def test_what_was_deleted_is_not_back() -> None:
    account = account_of("a", "b")
    account.deleting, account.deleted = {"a"}, {stem_of(account.posted["a"])}
    assert asked(account, "a", "b", complete=True).startswith("1 deleted are back: ['a']")


def test_apart_an_answer_is_of_one_part() -> None:
    account = account_of("a", "b")
    account.apart = True
    assert asked(account, "a", complete=True)
    assert account.relative == 1
