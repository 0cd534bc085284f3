"""No deleted profile comes back, on whatever copy it may have survived.

Law of this file: what a receipt called deleted before a question began is in no answer, and
nobody who became interested later is told of it; a delete finds what lives, wherever it may have
been handed on to, or fails; while the network is partitioned the other side
may not know yet, as in `sim.checkers.recall`.
"""

from __future__ import annotations

from sim.checkers.recall import SLACK_S
from sim.history import History, Write


def violations(history: History) -> list[str]:
    """Every profile that was seen after its deletion was acknowledged, or was not found by it."""
    found = [
        f"{write.stem}, deleted at {write.delete_began_s:.3f} s, was not found, though it lived"
        for write in history.writes.values()
        if _was_passed_over(write, history)
    ]
    for question in history.questions:
        for stem in question.found:
            write = history.writes.get(stem)
            if write is None or write.deleted_s is None or write.deleted_s >= question.began_s:
                continue
            began_s = write.delete_began_s or write.deleted_s
            if history.may_be_hidden(began_s, write.deleted_s, question):
                continue
            found.append(
                f"{stem}, deleted by {write.deleted_s:.3f} s, is in the answer to the question "
                f"asked at {question.began_s:.3f} s"
            )
    for subscription in history.subscriptions:
        for at_s, stem in subscription.told:
            write = history.writes.get(stem)
            if write is None or write.deleted_s is None:
                continue
            began_s = write.delete_began_s or write.deleted_s
            if history.may_be_apart(began_s, write.deleted_s, subscription.began_s):
                continue
            if write.deleted_s < subscription.fresh_s:
                found.append(
                    f"{subscription.name}, posted at {subscription.began_s:.3f} s, was told at "
                    f"{at_s:.3f} s of {stem}, deleted by {write.deleted_s:.3f} s"
                )
    return found


def _was_passed_over(write: Write, history: History) -> bool:
    """Whether a receipt says that there was nothing to delete while the write surely lived."""
    began_s, ended_s, acknowledged_s = write.delete_began_s, write.not_found_s, write.acknowledged_s
    if began_s is None or ended_s is None or acknowledged_s is None:
        return False
    if history.may_be_apart(write.began_s, acknowledged_s, began_s):
        return False
    if any(began_s <= one <= ended_s for one in write.cleared_s):
        return False  # a delete of a whole range came first, in the same moment
    return write.has_time(began_s, ended_s, SLACK_S)
