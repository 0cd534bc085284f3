"""A profile lives as long as it was given, within what clocks and ways may add.

Law of this file: nobody sees a profile later than its receipt and its ttl by the slowest clock
(`Write.drift`); that it lives until its ttl is over by the fastest is what `sim.checkers.recall`
checks; a renewal finds what lives, or fails: who is told that there was nothing to renew lets it
end.  What only the other side of a partition may know is excused as in `sim.checkers.recall`.
"""

from __future__ import annotations

from sim.checkers import recall
from sim.history import History, Write

SLACK_S = 1.0
"""What the ways of a profile may add to its life."""


def violations(history: History) -> list[str]:
    """Every profile that was seen when its time was over, or was not found by its renewal."""
    found = [
        f"{write.stem}, renewed at {write.renew_began_s:.3f} s, was not found, though it lived"
        for write in history.writes.values()
        if _was_passed_over(write, history)
    ]
    for question in history.questions:
        for stem in question.found:
            write = history.writes.get(stem)
            if write is not None and write.expired_by(question.began_s, SLACK_S):
                found.append(
                    f"{stem}, stored at {write.began_s:.3f} s for {write.ttl_s:g} s, is in the "
                    f"answer to the question asked at {question.began_s:.3f} s"
                )
    for subscription in history.subscriptions:
        for at_s, stem in subscription.told:
            write = history.writes.get(stem)
            if write is not None and write.expired_by(subscription.fresh_s, SLACK_S):
                found.append(
                    f"{subscription.name}, posted at {subscription.began_s:.3f} s, was told at "
                    f"{at_s:.3f} s of {stem}, whose time was over"
                )
    return found


def _was_passed_over(write: Write, history: History) -> bool:
    """Whether a receipt says that there was nothing to renew while the write surely lived."""
    began_s, ended_s = write.renew_began_s, write.not_renewed_s
    if began_s is None or ended_s is None or write.acknowledged_s is None:
        return False
    if history.may_be_apart(write.began_s, write.acknowledged_s, began_s):
        return False
    return write.surely_lives(began_s, ended_s, recall.SLACK_S)
