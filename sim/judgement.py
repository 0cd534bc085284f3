"""The verdict over a history: every checker of what clients were promised.

Law of this file: nothing is left out; a scenario cannot choose what it is judged by.
"""

from __future__ import annotations

from collections.abc import Mapping

from sim.checkers import deletion, durability, lifetimes, moves, notification, recall, watching
from sim.checkers.copies import Loss
from sim.history import History

CHECKERS = {
    "recall": recall.violations,
    "deletion": deletion.violations,
    "lifetimes": lifetimes.violations,
    "moves": moves.violations,
    "notification": notification.violations,
    "watching": watching.violations,
}


def judge(history: History, losses: Mapping[str, Loss]) -> list[str]:
    """What is not true, each with the name of its checker; `losses` are the records that had all
    their copies down at once, and have not got them all back."""
    found = [f"{name}: {text}" for name, check in CHECKERS.items() for text in check(history)]
    return found + [f"durability: {text}" for text in durability.violations(history, losses)]
