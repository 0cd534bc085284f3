"""What a loss excuses ends when all of its copies are up again, and begins anew with the next."""

from __future__ import annotations

from sim.checkers.copies import CopyLedger


def test_a_loss_that_was_made_good_excuses_nothing_later() -> None:
    ledger = CopyLedger()
    ledger.went_down({"p": ["a"], "q": ["a"]}, {"b"}, 1.0)
    for peer in ("p", "q"):
        ledger.came_back(peer)
    assert ledger.open_losses() == {}
    assert ledger.went_down({"p": ["a"]}, {"a"}, 50.0) == [], "q has it, and is up"
    assert ledger.open_losses() == {}
    assert set(ledger.losses) == {"a"}, "it is still counted as lost once"


def test_what_is_lost_a_second_time_is_a_loss_with_its_own_copies() -> None:
    ledger = CopyLedger()
    ledger.went_down({"p": ["a"], "q": ["a"]}, (), 1.0)
    for peer in ("p", "q"):
        ledger.came_back(peer)
    (again,) = ledger.went_down({"r": ["a"], "s": ["a"]}, (), 9.0)
    assert ledger.open_losses() == {"a": again}
    assert ledger.losses["a"].at_s == 1.0
    ledger.came_back("r")
    assert ledger.open_losses() == {"a": again}
    ledger.came_back("s")
    assert ledger.open_losses() == {}


def test_a_loss_stays_open_while_a_copy_of_it_is_down_whatever_else_is_lost() -> None:
    ledger = CopyLedger()
    ledger.went_down({"p": ["a"], "q": ["a"]}, (), 1.0)
    ledger.came_back("p")
    ledger.went_down({"r": ["a"]}, {"a"}, 2.0)
    (again,) = ledger.went_down({"p": ["a"]}, (), 3.0)
    assert [peer for peer, _ in again.copies] == ["q", "r", "p"]
    for peer in ("p", "r"):
        ledger.came_back(peer)
    assert set(ledger.open_losses()) == {"a"}
    ledger.went_down({"p": ["a"]}, {"a"}, 4.0)
    ledger.came_back("q")
    assert set(ledger.open_losses()) == {"a"}, "all of them have to be up at once"
    ledger.came_back("p")
    assert ledger.open_losses() == {}


def test_who_is_back_with_a_damaged_journal_makes_nothing_good() -> None:
    """What is left is named as missing for ever: nobody can tell what it did last
    (`meteor-sim scenario few-peers --seed 20`)."""
    ledger = CopyLedger()
    (loss,) = ledger.went_down({"p": ["a"], "q": ["a"]}, (), 1.0)
    ledger.was_damaged("p")
    ledger.came_back("p")
    ledger.came_back("q")
    assert ledger.open_losses() == {"a": loss}
    ledger.went_down({"p": ["a"]}, {"a"}, 2.0)
    ledger.came_back("p")
    assert ledger.open_losses() == {"a": loss}


def test_nor_does_one_that_was_damaged_later_before_the_others_were_back() -> None:
    """`meteor-sim scenario disks --seed 43`."""
    ledger = CopyLedger()
    (loss,) = ledger.went_down({"p": ["a"], "q": ["a"]}, (), 1.0)
    ledger.came_back("p")
    ledger.went_down({"p": ["a"]}, {"a"}, 2.0)
    ledger.was_damaged("p")
    ledger.came_back("p")
    ledger.came_back("q")
    assert ledger.open_losses() == {"a": loss}
    ledger.went_down({"r": ["b"]}, (), 3.0)
    ledger.was_damaged("r")
    ledger.came_back("r")
    assert set(ledger.open_losses()) == {"a", "b"}


def test_what_is_lost_once_more_is_so_by_its_own_copies() -> None:
    ledger = CopyLedger()
    ledger.went_down({"p": ["a"], "q": ["a"]}, (), 1.0)
    ledger.was_damaged("p")
    ledger.went_down({"r": ["a"], "s": ["a"]}, (), 9.0)
    for peer in ("p", "q", "r", "s"):
        ledger.came_back(peer)
    assert ledger.open_losses() == {}
