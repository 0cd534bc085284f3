"""The verdict over a history: every checker of what clients were promised.

Law of this file: nothing is left out; a scenario cannot choose what it is judged by.
"""

from __future__ import annotations

from sim.checkers import deletion, durability, lifetimes, notification, recall
from sim.history import History

CHECKERS = {
    "recall": recall.violations,
    "durability": durability.violations,
    "deletion": deletion.violations,
    "lifetimes": lifetimes.violations,
    "notification": notification.violations,
}


def judge(history: History) -> list[str]:
    """What is not true, each with the name of its checker."""
    return [f"{name}: {text}" for name, check in CHECKERS.items() for text in check(history)]
